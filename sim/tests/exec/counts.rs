//! Instructions, divergent branches and floating-point operations, against counts by hand and
//! against the lines of the text.

use engine_room_sim::counters::Counters;

use crate::rig::{Rig, by_hand, counted, zeros};

/// The instructions of a text, each of which has a line of its own: labels have a colon.
fn instructions(text: &str) -> u64 {
    text.lines().filter(|line| line.trim_end().ends_with(';')).count() as u64
}

/// Instructions of warps and of lanes.
fn executed(counters: Counters) -> (u64, u64) {
    (counters.warp_instructions, counters.lane_instructions)
}

const STRAIGHT: &str = "ld.param.u64 %d0, [a];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mad.lo.u32 %r0, %r1, %r2, %r0;
    mul.wide.u32 %d1, %r0, 4;
    add.u64 %d1, %d0, %d1;
    ld.global.f32 %f0, [%d1];
    fma.rn.f32 %f0, %f0, %f0, %f0;
    st.global.f32 [%d1], %f0;
    bar.sync 0;
    ret;";

#[test]
fn every_instruction_of_a_straight_line_counts_once() {
    let lines = instructions(STRAIGHT);
    assert_eq!(lines, 12);
    for (threads, warps) in [(1, 1), (31, 1), (32, 1), (33, 2), (96, 3), (1000, 32)] {
        let counters = counted(STRAIGHT, threads);
        assert_eq!(executed(counters), (lines * warps, lines * u64::from(threads)), "{threads}");
        assert_eq!(counters.divergent_branches, 0);
    }
}

/// The executor takes several steps for some instructions; the text has one.
#[test]
fn instructions_of_several_steps_count_once() {
    let text = "ld.param.u64 %d0, [a];
        mov.u32 %r0, 300;
        cvt.u16.u8 %h0, %r0;
        cvt.s64.s8 %d1, %r0;
        mov.b64 {%r1, %r2}, %d0;
        mov.b64 %d2, {%r1, %r2};
        cvta.to.global.u64 %d3, %d2;
        ld.acquire.gpu.global.u32 %r3, [%d3];
        st.release.gpu.global.u32 [%d3], %r3;
        atom.acq_rel.gpu.global.add.u32 %r3, [%d3], 1;
        add.cc.u32 %r1, %r1, 1;
        addc.u32 %r2, %r2, 0;
        shfl.sync.bfly.b32 %r4|%p0, %r0, 1, 31, -1;
        vote.sync.ballot.b32 %r4, %p0, -1;
        bar.warp.sync -1;
        membar.gl;
        div.rn.f32 %f0, %f0, %f1;
        ret;";
    let lines = instructions(text);
    assert_eq!(executed(counted(text, 32)), (lines, 32 * lines));
}

#[test]
fn a_predicate_switches_lanes_off_but_the_warp_executes() {
    let text = "mov.u32 %r0, %tid.x;
        setp.lt.u32 %p0, %r0, 5;
        setp.lt.u32 %p1, %r0, 0;
        @%p0 add.u32 %r1, %r1, 1;
        @!%p0 add.u32 %r1, %r1, 2;
        @%p1 add.u32 %r1, %r1, 3;
        ret;";
    // Four of the lines by all 32 lanes, one by 5, one by 27, one by none.
    assert_eq!(executed(counted(text, 32)), (7, 4 * 32 + 5 + 27));
}

#[test]
fn a_loop_counts_its_rounds() {
    let text = "mov.u32 %r0, 0;
        again:
        add.u32 %r0, %r0, 1;
        setp.lt.u32 %p0, %r0, 10;
        @%p0 bra again;
        ret;";
    // One line before, three lines ten times, one line after; the last branch is not taken.
    let lines = 1 + 3 * 10 + 1;
    let counters = counted(text, 64);
    // A branch that is not taken is executed by no lane of its predicate.
    assert_eq!(executed(counters), (2 * lines, 64 * (lines - 1)));
    assert_eq!(counters.divergent_branches, 0);
}

#[test]
fn lanes_that_leave_a_loop_early_do_not_execute_the_rest() {
    // Lane i goes round i % 4 + 1 times.
    let text = "mov.u32 %r0, %tid.x;
        and.b32 %r1, %r0, 3;
        again:
        sub.u32 %r1, %r1, 1;
        setp.ge.s32 %p0, %r1, 0;
        @%p0 bra again;
        mov.u32 %r2, 1;
        ret;";
    let counters = counted(text, 32);
    // The warp goes round four times. 32, 24, 16 and 8 lanes begin a round; 24, 16, 8 and 0 take
    // the branch at its end.
    let rounds = 2 * (32 + 24 + 16 + 8) + 24 + 16 + 8;
    assert_eq!(executed(counters), (2 + 3 * 4 + 2, (2 + 2) * 32 + rounds));
    // In three of the rounds some lanes leave and some stay.
    assert_eq!(counters.divergent_branches, 3);
}

/// An `if` with an `else` of 2 and 3 lines for the lanes below a number.
fn halves(bound: u32, threads: u32) -> Counters {
    let text = format!(
        "mov.u32 %r0, %tid.x;
        setp.ge.u32 %p0, %r0, {bound};
        @%p0 bra other;
        add.u32 %r1, %r0, 1;
        bra both;
        other:
        add.u32 %r1, %r0, 2;
        add.u32 %r1, %r1, 2;
        add.u32 %r1, %r1, 2;
        both:
        mov.u32 %r2, %r1;
        ret;"
    );
    counted(&text, threads)
}

#[test]
fn both_sides_of_a_branch_count_if_lanes_go_both_ways() {
    // 10 lanes go on: 2 lines; 22 lanes jump, which is a line for them: 1 + 3.
    let some = halves(10, 32);
    assert_eq!(executed(some), (3 + 2 + 3 + 2, 4 * 32 + 10 * 2 + 22 * 4));
    assert_eq!(some.divergent_branches, 1);
    // All go on, or all jump: one side, and no divergence.
    let all = halves(32, 32);
    assert_eq!(executed(all), (3 + 2 + 2, 4 * 32 + 32 * 2));
    assert_eq!(all.divergent_branches, 0);
    let none = halves(0, 32);
    assert_eq!(executed(none), (3 + 3 + 2, 4 * 32 + 32 * 4));
    assert_eq!(none.divergent_branches, 0);
    // Three warps of which the second one has lanes on both sides.
    assert_eq!(halves(40, 96).divergent_branches, 1);
    // By whole warps: nobody diverges.
    assert_eq!(halves(64, 96).divergent_branches, 0);
}

#[test]
fn a_jump_table_diverges_once_however_many_ways_there_are() {
    // Lane i takes entry i % ways; all fall through to the end.
    let by = |ways: u32| {
        let text = format!(
            "mov.u32 %r0, %tid.x;
            rem.u32 %r1, %r0, {ways};
            table: .branchtargets one, two, three, four;
            brx.idx %r1, table;
            four:
            mov.u32 %r2, 4;
            three:
            mov.u32 %r2, 3;
            two:
            mov.u32 %r2, 2;
            one:
            mov.u32 %r2, 1;
            ret;"
        );
        let counters = counted(&text, 32);
        (counters.divergent_branches, executed(counters))
    };
    assert_eq!(by(1), (0, (5, 5 * 32)));
    // Lanes meet where all ways come together, at `one`: before it there are three ways of 3, 2 and
    // 1 lines, for 8 lanes each.
    assert_eq!(by(4), (1, (3 + (3 + 2 + 1) + 2, 3 * 32 + 8 * (3 + 2 + 1) + 2 * 32)));
}

#[test]
fn calls_count_what_they_execute() {
    let text = "mov.u32 %r0, %tid.x;
        call (%r1), twice, (%r0);
        call (%r1), twice, (%r1);
        ret;";
    let function = ".func (.reg .b32 %back) twice(.reg .b32 %x)
        {
        add.u32 %back, %x, %x;
        ret;
        }
        .visible .entry";
    let module = by_hand(text).replacen(".visible .entry", function, 1);
    let args = [zeros(4), zeros(4)];
    let (_, report) = Rig::new("hand.ptx", &module).run("k", (1, 32), &args);
    assert_eq!(report.findings, []);
    // Four lines, and twice the two of the function.
    assert_eq!(executed(report.counters), (8, 8 * 32));
}

#[test]
fn floating_point_operations() {
    for (instruction, flops) in [
        ("add.f32 %f0, %f0, %f1;", 1),
        ("sub.rn.ftz.f32 %f0, %f0, %f1;", 1),
        ("mul.f32 %f0, %f0, %f1;", 1),
        ("fma.rn.f32 %f0, %f0, %f1, %f2;", 2),
        ("mad.rn.f32 %f0, %f0, %f1, %f2;", 2),
        ("div.rn.f32 %f0, %f0, %f1;", 1),
        ("div.approx.f32 %f0, %f0, %f1;", 1),
        ("rcp.rn.f32 %f0, %f0;", 1),
        ("sqrt.rn.f32 %f0, %f0;", 1),
        ("ex2.approx.f32 %f0, %f0;", 1),
        ("add.f64 %g0, %g0, %g1;", 1),
        ("mul.f64 %g0, %g0, %g1;", 1),
        ("fma.rn.f64 %g0, %g0, %g1, %g2;", 2),
        ("add.f16 %h0, %h0, %h1;", 1),
        ("fma.rn.f16 %h0, %h0, %h1, %h2;", 2),
        ("add.f16x2 %r0, %r0, %r1;", 2),
        ("fma.rn.f16x2 %r0, %r0, %r1, %r2;", 4),
        ("fma.rn.bf16 %h0, %h0, %h1, %h2;", 2),
        ("fma.rn.bf16x2 %r0, %r0, %r1, %r2;", 4),
        // No arithmetic on floating-point numbers:
        ("add.u32 %r0, %r0, %r1;", 0),
        ("mad.lo.s32 %r0, %r0, %r1, %r2;", 0),
        ("mad.wide.u32 %d0, %r0, %r1, %d1;", 0),
        ("neg.f32 %f0, %f0;", 0),
        ("abs.f64 %g0, %g0;", 0),
        ("max.f32 %f0, %f0, %f1;", 0),
        ("setp.lt.f32 %p0, %f0, %f1;", 0),
        ("selp.f32 %f0, %f0, %f1, %p0;", 0),
        ("cvt.f64.f32 %g0, %f0;", 0),
        ("cvt.rn.f32.u32 %f0, %r0;", 0),
        ("mov.f32 %f0, %f1;", 0),
    ] {
        let counters = counted(&format!("{instruction}\nret;"), 40);
        assert_eq!(counters.flops, 40 * flops, "{instruction}");
    }
    // Of the lanes that a predicate leaves on.
    let text = "mov.u32 %r0, %tid.x;
        setp.lt.u32 %p0, %r0, 7;
        @%p0 fma.rn.f32 %f0, %f0, %f1, %f2;
        ret;";
    assert_eq!(counted(text, 32).flops, 14);
}
