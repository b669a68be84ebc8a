//! Faults of a warp or a block as a whole: masks, barriers, traps, endless loops.

use engine_room_sim::exec::Kind;

use crate::faults::{WRONG, is, line};
use crate::rig::{Rig, by_hand, ints, only, words, zeros};

#[test]
fn a_mask_that_names_lanes_that_never_come() {
    let mut rig = Rig::new("wrong.ptx", WRONG);
    let (buffers, report) = rig.run("half", (1, 32), &[ints(0..32)]);
    let finding = only(report);
    is(&finding, Kind::InvalidWarpMask, "if (threadIdx.x < 16) x[", 0, 16);
    let say = "waits for lanes that its mask names and that will never come here";
    assert_eq!(finding.message, say);
    assert_eq!(words(&buffers[0]), Vec::from_iter(0..32), "nothing was exchanged");
}

/// Lanes that have exited are not waited for: with 16 threads the same kernel is right.
#[test]
fn a_mask_that_names_lanes_that_are_not_there() {
    let mut rig = Rig::new("wrong.ptx", WRONG);
    let (_, report) = rig.run("half", (1, 16), &[ints(0..16)]);
    assert_eq!(report.findings, []);
}

#[test]
fn a_mask_that_does_not_name_its_own_lane() {
    let mut rig = Rig::new("wrong.ptx", WRONG);
    let (buffers, report) = rig.run("unnamed", (1, 32), &[ints(0..32)]);
    let finding = only(report);
    is(&finding, Kind::InvalidWarpMask, "= __shfl_sync(0xffff, ", 16, 16);
    assert_eq!(finding.message, "the mask does not name the lane that executes this");
    let want: Vec<i32> = [3; 16].into_iter().chain(16..32).collect();
    assert_eq!(words(&buffers[0]), want, "the lower half has its value, the upper one has ended");
}

#[test]
fn a_barrier_that_some_threads_never_reach() {
    let mut rig = Rig::new("wrong.ptx", WRONG);
    let (buffers, report) = rig.run("apart", (1, 64), &[zeros(256)]);
    let [one, other] = &report.findings[..] else { panic!("{:#?}", report.findings) };
    let (first, last) = if one.thread[0] == 0 { (one, other) } else { (other, one) };
    is(first, Kind::DivergentBarrier, "if (threadIdx.x < 40) __syncthreads", 0, 40);
    is(last, Kind::DivergentBarrier, "bar.sync 1;", 40, 24);
    assert_eq!(words(&buffers[0]), [0; 64]);
}

#[test]
fn a_trap() {
    let mut rig = Rig::new("wrong.ptx", WRONG);
    let finding = only(rig.run("trapped", (1, 32), &[zeros(128)]).1);
    is(&finding, Kind::Trap, "== 7) __trap();", 7, 1);
    assert_eq!(finding.message, "trap was executed");
}

#[test]
fn an_endless_loop() {
    for threads in [1, 2] {
        let mut rig = Rig::new("wrong.ptx", WRONG);
        rig.options.threads = threads;
        rig.options.max_instructions = Some(5_000);
        let (_, report) = rig.run("forever", (1, 64), &[zeros(4)]);
        assert!(report.counters.warp_instructions > 5_000, "{:?}", report.counters);
        assert!(report.counters.warp_instructions < 6_000, "{:?}", report.counters);
        let finding = only(report);
        is(&finding, Kind::Timeout, "while (x[0] == 0) {}", 0, 32);
        let say = "ended after 5000 instructions of its warps: an endless loop?";
        assert_eq!(finding.message, say);
    }
}

/// As many as it takes are enough, one less is not: 5 instructions by each of 2 warps.
#[test]
fn the_instructions_of_a_launch() {
    let body = "mov.u32 %r0, 1;
        mov.u32 %r0, 2;
        mov.u32 %r0, 3;
        mov.u32 %r0, 4;
        ret;";
    for (most, enough) in [(1, false), (9, false), (10, true), (11, true)] {
        let mut rig = Rig::new("hand.ptx", &by_hand(body));
        rig.options.max_instructions = Some(most);
        let (_, report) = rig.run("k", (1, 64), &[zeros(4), zeros(4)]);
        assert_eq!(report.findings.is_empty(), enough, "{most}: {:?}", report.findings);
    }
}

#[test]
fn what_is_not_supported_is_refused_by_name_before_anything_runs() {
    let mut rig = Rig::new("wrong.ptx", WRONG);
    let (buffers, report) = rig.run("matrices", (1, 32), &[ints([7])]);
    assert_eq!(report.counters.warp_instructions, 0);
    let finding = only(report);
    assert_eq!(finding.kind, Kind::Unsupported);
    let name = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32";
    assert_eq!(finding.message, format!("`{name}` is not supported"));
    let place = (finding.places[0].file.as_str(), finding.places[0].line);
    assert_eq!(place, ("wrong.cu", line("asm volatile(\"mma.sync")));
    assert_eq!(words(&buffers[0]), [7]);
    // Without lines of the source, it is the line of the PTX.
    for (name, operands) in [
        ("cp.async.ca.shared.global", "[%r0], [%d0], 16"),
        ("wgmma.fence.sync.aligned", ""),
        ("tex.1d.v4.f32.f32", "{%f0, %f1, %f2, %f3}, [%d0, {%f0}]"),
    ] {
        let body = format!("mov.u32 %r0, 0;\n{name} {operands};\nret;");
        let finding = only(Rig::new("hand.ptx", &by_hand(&body)).run("k", (1, 1), &[]).1);
        assert_eq!(finding.kind, Kind::Unsupported, "{finding}");
        assert_eq!(finding.message, format!("`{name}` is not supported"));
        assert_eq!((finding.places[0].file.as_str(), finding.places[0].line), ("hand.ptx", 14));
    }
}
