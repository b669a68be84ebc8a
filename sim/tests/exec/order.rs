//! What depends on the order of warps is the same for equal seeds, and what does not depend on it
//! is the same for all, on any number of host threads.

use crate::rig::{Arg, Rig, by_hand, int, ints, words, zeros};

const CONTROL: &str = include_str!("control_o3.ptx");
const WAITS: &str = include_str!("waits_o3.ptx");

/// In which order the 16 warps of a block draw their 4 numbers each.
fn order(seed: u64, threads: usize) -> Vec<i32> {
    let mut rig = Rig::new("waits.ptx", WAITS);
    (rig.options.seed, rig.options.threads) = (seed, threads);
    let (buffers, report) = rig.run("order", (1, 512), &[zeros(256), zeros(4)]);
    assert_eq!(report.findings, []);
    words(&buffers[0])
}

#[test]
fn a_seed_chooses_the_order_of_warps() {
    let plain: Vec<i32> = (0..64).map(|i| i / 4).collect();
    assert_eq!(order(0, 1), plain, "without a seed they come in order, each with a long turn");
    let mut orders: Vec<Vec<i32>> = (0..20).map(|seed| order(seed, 1)).collect();
    for (seed, first) in (0..).zip(&orders) {
        for threads in [1, 2, 4] {
            assert_eq!(*first, order(seed, threads), "seed {seed}, {threads} host threads");
        }
        let mut drawn = first.clone();
        drawn.sort();
        assert_eq!(drawn, plain, "each warp draws four");
    }
    orders.sort();
    orders.dedup();
    assert_eq!(orders.len(), 20, "twenty seeds, twenty orders");
    let mixed = |order: &&Vec<i32>| order.chunks(4).any(|turn| turn[0] != turn[3]);
    assert!(orders.iter().filter(mixed).count() > 10, "turns are short, too");
}

/// A kernel, its module, blocks and threads, arguments.
type Steady = (&'static str, &'static str, (u32, u32), Vec<Arg>);

/// Kernels whose results do not depend on the order of blocks and warps.
fn steady() -> Vec<Steady> {
    let signed = ints([i32::MIN, i32::MAX]);
    let atomics = vec![zeros(52), signed, zeros(24), zeros(4), zeros(8)];
    vec![
        ("loops", CONTROL, (1, 64), vec![zeros(256), int(20)]),
        ("barriers", CONTROL, (2, 256), vec![zeros(8), ints(0..512)]),
        ("last_block", CONTROL, (30, 64), vec![zeros(4), zeros(120)]),
        ("recursion", CONTROL, (9, 64), vec![zeros(256)]),
        ("atomics", CONTROL, (20, 96), atomics),
        ("dances", WAITS, (7, 96), vec![zeros(384)]),
    ]
}

#[test]
fn results_and_counters_do_not_depend_on_host_threads() {
    for seed in [0, 7] {
        for (kernel, text, shape, args) in steady() {
            let run = |threads: usize| {
                let mut rig = Rig::new("any.ptx", text);
                (rig.options.seed, rig.options.threads) = (seed, threads);
                let (buffers, report) = rig.run(kernel, shape, &args);
                assert_eq!(report.findings, [], "{kernel}");
                (buffers, report.counters)
            };
            let (buffers, counters) = run(1);
            for threads in [2, 4] {
                let (others, counted) = run(threads);
                assert_eq!(buffers, others, "{kernel}, {threads} host threads");
                assert_eq!(counters, counted, "{kernel}, {threads} host threads");
            }
        }
    }
}

/// Blocks may come in any order, but what they print and what is found comes in theirs.
#[test]
fn findings_and_counters_of_many_blocks_do_not_depend_on_host_threads() {
    // Blocks take long enough for each host thread to have some.
    let body = "ld.param.u64 %d0, [a];
        mov.u32 %r3, 0;
        again:
        add.u32 %r3, %r3, 1;
        setp.lt.u32 %p0, %r3, 3000;
        @%p0 bra again;
        mov.u32 %r0, %ctaid.x;
        mov.u32 %r1, %tid.x;
        mad.lo.u32 %r0, %r0, 32, %r1;
        mad.wide.u32 %d1, %r0, 4, %d0;
        st.global.u32 [%d1], %r0;
        mul.wide.u32 %d1, %r0, 3;
        add.u64 %d1, %d0, %d1;
        ld.global.u8 %r2, [%d1+1];
        ret;";
    let run = |threads: usize| {
        let mut rig = Rig::new("hand.ptx", &by_hand(body));
        rig.options.threads = threads;
        rig.run("k", (50, 32), &[zeros(4000), zeros(4)])
    };
    let (buffers, report) = run(1);
    assert_eq!(words(&buffers[0]), Vec::from_iter(0..1000));
    // 1,600 threads of which 600 store beyond the end and end there.
    let [finding] = &report.findings[..] else { panic!("{:#?}", report.findings) };
    assert_eq!((finding.block, finding.thread, finding.threads), ([31, 0, 0], [8, 0, 0], 600));
    for threads in [2, 4] {
        assert_eq!(run(threads), (buffers.clone(), report.clone()), "{threads} host threads");
    }
}

/// Adds 1 / (i + 1) for each thread i to one float, after `wait` turns of a loop that differ from
/// block to block, and draws a ticket.
fn sum_and_ticket() -> String {
    by_hand(
        "ld.param.u64 %d0, [a];
        ld.param.u64 %d1, [b];
        mov.u32 %r0, %ctaid.x;
        mov.u32 %r1, %tid.x;
        mad.lo.u32 %r0, %r0, 32, %r1;
        mov.u32 %r3, %ctaid.x;
        and.b32 %r3, %r3, 7;
        mul.lo.u32 %r3, %r3, 500;
        again:
        setp.eq.u32 %p0, %r3, 0;
        @%p0 bra done;
        sub.u32 %r3, %r3, 1;
        bra again;
        done:
        cvt.rn.f32.u32 %f0, %r0;
        add.f32 %f0, %f0, 0f3F800000;
        rcp.rn.f32 %f0, %f0;
        red.global.add.f32 [%d0], %f0;
        atom.global.add.u32 %r2, [%d0+4], 1;
        mad.wide.u32 %d1, %r2, 4, %d1;
        st.global.u32 [%d1], %r0;
        ret;",
    )
}

#[test]
fn sums_of_floats_and_tickets_come_in_the_order_of_blocks() {
    let threads = 64 * 32;
    let run = |host_threads: usize| {
        let mut rig = Rig::new("hand.ptx", &sum_and_ticket());
        rig.options.threads = host_threads;
        let (buffers, report) = rig.run("k", (64, 32), &[zeros(8), zeros(4 * threads)]);
        assert_eq!(report.findings, []);
        (words(&buffers[0]), words(&buffers[1]))
    };
    let in_order = (0..threads).fold(0.0_f32, |sum, i| sum + 1.0 / (i as f32 + 1.0));
    let want = (vec![in_order.to_bits() as i32, threads as i32], Vec::from_iter(0..threads as i32));
    for host_threads in [0, 1, 2, 4] {
        (0..20).for_each(|_| assert_eq!(run(host_threads), want, "{host_threads} host threads"));
    }
}
