//! Threads that wait for each other, at barriers and for locks, and threads that leave instead, at
//! three levels of optimisation and in several orders of warps.

use engine_room_sim::exec::Kind;

use crate::rig::{Arg, Rig, ints, only, words, zeros};

const LEVELS: [(&str, &str); 3] = [
    ("-O3", include_str!("waits_o3.ptx")),
    ("-O0", include_str!("waits_o0.ptx")),
    ("-G", include_str!("waits_debug.ptx")),
];

/// Runs a kernel in all these ways; what it leaves in the first buffer must be `want`.
#[track_caller]
fn expect(kernel: &str, threads: u32, args: &[Arg], want: &[i32]) {
    for (level, text) in LEVELS {
        for seed in 0..5 {
            let mut rig = Rig::new(level, text);
            rig.options.seed = seed;
            let (buffers, report) = rig.run(kernel, (1, threads), args);
            assert_eq!(report.findings, [], "{kernel} at {level}, seed {seed}");
            assert_eq!(words(&buffers[0]), want, "{kernel} at {level}, seed {seed}");
        }
    }
}

#[test]
fn threads_that_have_left_are_not_waited_for_at_a_barrier() {
    let input = || (0..96).map(|i| i * i);
    let sum: i32 = input().enumerate().filter(|(i, _)| i % 3 != 0).map(|(_, x)| x).sum();
    let want: Vec<i32> = (0..96).map(|i| if i % 3 == 0 { 0 } else { sum }).collect();
    expect("early", 96, &[zeros(384), ints(input())], &want);
}

#[test]
fn barriers_with_numbers_and_counts_do_not_disturb_each_other() {
    let mut rings: Vec<i32> = (0..128).collect();
    for (ring, rounds) in rings.chunks_mut(64).zip([3, 5]) {
        for k in 0..rounds {
            ring.rotate_left(1);
            ring.iter_mut().for_each(|x| *x += k);
        }
    }
    expect("rings", 128, &[zeros(512)], &rings);
}

#[test]
fn warps_take_a_lock_in_turn() {
    // 8 warps, each 0 + 1 + .. + 9.
    expect("warps_lock", 256, &[zeros(4), zeros(4)], &[8 * 45]);
}

#[test]
fn lanes_of_a_warp_take_a_lock_in_turn() {
    expect("lanes_lock", 64, &[zeros(4), zeros(4)], &[(0..64).sum()]);
}

/// Lanes meet behind a loop before they go on, so one of them that has left it with what the others
/// need cannot give it back. (GPUs from 7.0 on may let it: there it works by luck.)
#[test]
fn a_lane_that_waits_for_one_of_its_own_warp_is_told_so() {
    let source = include_str!("waits.cu");
    let line = 2 + source.split_once("GLOBAL stuck").unwrap().0.lines().count() as u32;
    for (level, text) in LEVELS {
        let mut rig = Rig::new(level, text);
        rig.options.max_instructions = Some(10_000);
        let (buffers, report) = rig.run("stuck", (1, 32), &[zeros(4), zeros(4)]);
        let finding = only(report);
        assert_eq!(finding.kind, Kind::Timeout, "{level}: {finding}");
        let place = (finding.places[0].file.as_str(), finding.places[0].line);
        assert_eq!(place, ("waits.cu", line), "{level}: {finding}");
        // Lane 0 has the lock.
        assert_eq!((finding.thread, finding.threads), ([1, 0, 0], 31), "{level}: {finding}");
        let say = "ended after 10000 instructions of its warps: an endless loop? Threads of the \
                   same warp left it and wait for these (1): if these wait for one of them, \
                   neither ever goes on";
        assert_eq!(finding.message, say);
        assert_eq!(words(&buffers[0]), [0], "{level}");
    }
}

fn up(n: i32, by: i32) -> i32 {
    if n <= 0 { by } else { 2 * down(n - by, by + 1) - 1 }
}

fn down(n: i32, by: i32) -> i32 {
    if n <= 0 { -by } else { up(n - by, by) + n }
}

#[test]
fn lanes_recurse_through_pointers_in_loops_of_different_lengths() {
    let dance = |i: i32| {
        let mut sum = 0;
        for k in 0..i % 5 {
            if (i + k) % 7 == 6 {
                continue;
            }
            if sum > 60 {
                break;
            }
            sum += [up, down][((i ^ k) & 1) as usize](i % 11 + k, 1 + i % 3);
        }
        sum
    };
    let want: Vec<i32> = (0..96).map(dance).collect();
    expect("dances", 96, &[zeros(384)], &want);
}
