//! Kernels with all kinds of control flow, at several levels of optimisation, against what the host
//! computes; and what is printed and claimed.

use engine_room_sim::exec::Kind;

use crate::rig::{Arg, Rig, int, ints, only, words, zeros};

const LEVELS: [(&str, &str); 4] = [
    ("-O3", include_str!("control_o3.ptx")),
    ("-O0", include_str!("control_o0.ptx")),
    ("-G", include_str!("control_debug.ptx")),
    ("NVRTC", include_str!("control_nvrtc.ptx")),
];

/// Runs a kernel at every level and with several orders of warps; all must give `want` in the
/// first buffer, with no finding.
fn expect(kernel: &str, shape: (u32, u32), args: &[Arg], want: &[i32]) {
    for (level, text) in LEVELS {
        for seed in [0, 1, 2] {
            let mut rig = Rig::new(level, text);
            rig.options.seed = seed;
            let (buffers, report) = rig.run(kernel, shape, args);
            assert_eq!(report.findings, [], "{kernel} at {level}");
            assert_eq!(words(&buffers[0]), want, "{kernel} at {level}, seed {seed}");
        }
    }
}

fn fib(n: i32) -> i32 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}

#[test]
fn lanes_recurse_to_different_depths() {
    let want: Vec<i32> = (0..64).map(|i| fib(i % 12)).collect();
    expect("recursion", (1, 64), &[zeros(256)], &want);
    let want: Vec<i32> = (0..64).map(|i| i32::from(i % 2 == 0)).collect();
    expect("mutual", (1, 64), &[zeros(256)], &want);
}

#[test]
fn a_jump_table_sends_each_lane_its_way() {
    let input = (0..64).map(|i| i * 37 - 300);
    let one = |x: i32| match x & 15 {
        0 => Some(x * 3),
        1 => Some(x + 100),
        2 => Some((x - 7) ^ 0x55),
        3 => Some(x ^ 0x55),
        4 => Some(x << 2),
        5 => Some(-x),
        6 => Some(x / 3),
        7 => Some(x % 5),
        9 => Some(x | 64),
        10 => None,
        _ => Some(1000 + x),
    };
    let want: Vec<i32> = input.clone().map(|x| one(x).unwrap_or(0)).collect();
    expect("table", (1, 64), &[zeros(256), ints(input)], &want);
}

#[test]
fn lanes_call_different_functions_by_pointer() {
    let one = |i: i32| [2 * i, i * i, -i][i as usize % 3];
    let want: Vec<i32> = (0..64).map(one).collect();
    expect("pointers", (1, 64), &[zeros(256)], &want);
}

#[test]
fn lanes_leave_loops_at_different_places() {
    let one = |i: i32| {
        let mut sum = 0;
        for k in 0..20 {
            if k % 3 == i % 3 {
                continue;
            }
            if k > i {
                break;
            }
            for j in 0..k {
                if j * k > 200 {
                    return -sum;
                }
                sum += j ^ k;
            }
        }
        sum
    };
    let want: Vec<i32> = (0..64).map(one).collect();
    expect("loops", (1, 64), &[zeros(256), int(20)], &want);
}

#[test]
fn structures_are_passed_by_value() {
    let mut bytes = Vec::new();
    bytes.extend(1.5f64.to_le_bytes());
    bytes.extend(*b"abcdefgh\0\0");
    bytes.extend([3i16, -4, 5, 600, 7].iter().flat_map(|count| count.to_le_bytes()));
    bytes.resize(32, 0);
    bytes.extend((1i64 << 33).to_le_bytes());
    let one = |i: i16| {
        let (mut weight, mut counts, mut total) = (1.5, [3i16, -4, 5, 600, 7], 1i64 << 33);
        for k in 0..3 {
            let by = i + k;
            weight *= f64::from(by);
            counts[by as usize % 5] += by;
            total += i64::from(counts[2]);
        }
        weight + total as f64 + f64::from(counts[i as usize % 5]) + f64::from(b'd')
    };
    let want: Vec<u8> = (0..32).flat_map(|i| f64::to_le_bytes(one(i))).collect();
    for (level, text) in LEVELS {
        let args = [zeros(256), Arg::Value(bytes.clone(), 8)];
        let (buffers, report) = Rig::new(level, text).run("structures", (1, 32), &args);
        assert_eq!(report.findings, [], "{level}");
        assert_eq!(buffers[0], want, "{level}");
    }
}

#[test]
fn lanes_exchange_values() {
    let x = |lane: i32| lane * lane + 1;
    let all = || 0..32;
    let ballot = |of: &dyn Fn(i32) -> bool| {
        all().filter(|&i| of(i)).fold(0u32, |mask, i| mask | 1 << i) as i32
    };
    let mut want = Vec::new();
    for i in all() {
        let low = |i: i32| if i + 2 < 32 { x(i + 2) } else { x(i) };
        let segment = |from: i32| if from / 8 == i / 8 { x(from) } else { x(i) };
        let group = (i / 8) * 8;
        want.extend([
            x((i * 7) & 31),
            if i >= 3 { x(i - 3) } else { x(i) },
            segment(i + 5),
            x(i ^ 9),
            ballot(&|lane| lane % 3 == 0),
            2,
            ballot(&|lane| lane / 5 == i / 5),
            -1 + 1,
            x(group + ((i + 3) & 7)),
            match i {
                // Lanes 10 and 11 ask lanes 12 and 13, which take no part: undefined, here own.
                10 | 11 => x(i) + 0xaaa,
                0..10 => low(i) + 0xaaa,
                12 | 13 => x(i),
                _ => x(i - 2),
            },
            if i < 12 { 0xfff } else { !0xfff },
            x(i ^ 1) * if i & 1 != 0 { 3 } else { 5 },
            all().map(x).sum(),
            x(31) - 500,
            (group..group + 8).map(x).fold(0, |a, b| a ^ b),
            x(i ^ 2) & 0x7fff_ffff,
        ]);
    }
    expect("warps", (1, 32), &[zeros(32 * 64)], &want);
}

#[test]
fn blocks_meet_at_barriers() {
    let input: Vec<i32> = (0..512).map(|i| i * i % 1000).collect();
    let sum = |block: usize| input[block * 256..][..256].iter().sum::<i32>();
    let want = [0, 1].map(|block| sum(block) + 10 * 86 + 1 + 2);
    expect("barriers", (2, 256), &[zeros(8), ints(input.clone())], &want);
    let want: Vec<i32> = (0..128).map(|i| i % 32 * 10 + i / 32).collect();
    expect("pipeline", (1, 64), &[zeros(512)], &want);
    let want = (0..30).map(|block| [1, 10, 100, 1000][block % 4]).sum();
    expect("last_block", (30, 64), &[zeros(4), zeros(120)], &[want]);
}

#[test]
fn atomics_are_exact() {
    let n = 20u32 * 96;
    let start: Vec<i32> = vec![0, -1, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0];
    let sum = (0..n).sum::<u32>() as i32;
    let xor = (0..n).fold(0, |x, i| x ^ 1 << (i % 7));
    // dec: from 0 to 99, then down, round every 100; inc: up, round every 100.
    let want = [sum, i32::MIN, (1 << 29) - 1, xor, n as i32 - 1, 0, (n % 100) as i32];
    let each = n as i32 / 4;
    let mut want = want.to_vec();
    want.extend([(100 - n as i32 % 100) % 100, each, each, each, each, 7]);
    let args = || {
        let mut wide = vec![0; 24];
        wide[16] = 5;
        let signed = ints([i32::MIN, i32::MAX]);
        [ints(start.clone()), signed, Arg::Buffer(wide), zeros(4), zeros(8)]
    };
    expect("atomics", (20, 96), &args(), &want);
    for (level, text) in LEVELS {
        let (buffers, _) = Rig::new(level, text).run("atomics", (20, 96), &args());
        assert_eq!(words(&buffers[1]), [n as i32 - 901, -900], "{level}");
        let wide: Vec<u64> =
            buffers[2].chunks(8).map(|w| u64::from_le_bytes(w.try_into().unwrap())).collect();
        let sum = (0..u64::from(n)).sum::<u64>() << 32;
        assert_eq!(wide, [sum, u64::from(n - 1) << 20, 5 + 3 * u64::from(n)], "{level}");
        assert_eq!(buffers[3], (n as f32 / 2.0).to_le_bytes(), "{level}");
        assert_eq!(buffers[4], (f64::from(n) / 4.0).to_le_bytes(), "{level}");
    }
}

#[test]
fn generic_pointers_go_anywhere() {
    let input = || (0..8).map(|i| i * 11 + 1);
    let own: i32 = (0..8).sum();
    let one = |i: i32| match i % 3 {
        0 => own * i + 2000,
        1 => input().sum::<i32>() + 1000,
        _ => input().sum::<i32>() + 3000,
    };
    let want: Vec<i32> = (0..64).map(one).collect();
    expect("generic", (1, 64), &[zeros(256), ints(input())], &want);
}

#[test]
fn kernels_print() {
    let levels =
        [include_str!("say_o3.ptx"), include_str!("say_o0.ptx"), include_str!("say_debug.ptx")];
    for text in levels {
        let args = [Arg::Buffer(b"name\0".to_vec()), Arg::Value(2.5f32.to_le_bytes().to_vec(), 4)];
        let (_, report) = Rig::new("say", text).run("say", (2, 40), &args);
        assert_eq!(report.findings, []);
        // What glibc's printf prints for the same arguments, compiled with gcc.
        let want = include_str!("say.txt");
        assert_eq!(report.stdout, want);
    }
}

#[test]
fn a_failed_assertion_is_reported_with_its_text() {
    let text = include_str!("say_o3.ptx");
    let input = ints((0..64).map(|i| 40 - i));
    let finding = only(Rig::new("say", text).run("claim", (1, 64), &[input]).1);
    assert_eq!(finding.kind, Kind::Assert);
    assert_eq!((finding.thread, finding.threads), ([40, 0, 0], 24));
    assert!(finding.message.contains("`x[threadIdx.x] > 0` failed"), "{}", finding.message);
    assert_eq!((finding.places[0].file.as_str(), finding.places[0].line), ("say.cu", 15));
}

/// Without optimisation, what a header of the toolkit has is called like any other function.
#[test]
fn a_fault_in_a_header_is_told_at_the_users_line_at_every_level() {
    let source = include_str!("control.cu");
    let line = 1 + source.lines().position(|line| line.contains("atomicAnd(&u[1]")).unwrap() as u32;
    for (level, text) in LEVELS {
        let args = [zeros(4), zeros(8), zeros(24), zeros(4), zeros(8)];
        let finding = only(Rig::new(level, text).run("atomics", (1, 64), &args).1);
        assert_eq!((finding.kind, finding.threads), (Kind::OutOfBounds, 64), "{level}: {finding}");
        assert!(finding.message.starts_with("an atomic operation"), "{finding}");
        // NVRTC was asked for no lines.
        if level != "NVRTC" {
            let [user, header] = &finding.places[..] else { panic!("{level}: {finding}") };
            assert_eq!((user.file.as_str(), user.line), ("control.cu", line), "{level}");
            assert_eq!(header.file, "device_atomic_functions.hpp", "{level}");
        }
    }
}
