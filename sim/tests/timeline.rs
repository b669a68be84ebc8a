//! The modelled time line of a T4 against sums made by hand and against a slow model of it.

use engine_room_sim::gpu::{Figures, Gpu, LAUNCH, LAUNCH_LATENCY};
use engine_room_sim::timeline::{Route, Timeline};

/// 12 MiB at the T4's 12 GB/s, and the latency of 4,000 ns.
const COPY: u64 = 1_048_576 + 4_000;
const TO: Route = Route::ToDevice { pinned: true };
const BACK: Route = Route::ToHost { pinned: true };

fn t4() -> &'static Figures {
    Gpu::T4.figures()
}

fn times(line: &Timeline) -> (u64, u64) {
    (line.host(), line.device())
}

/// A time line with streams 0 to `last`.
fn with_streams(last: usize) -> Timeline {
    let mut line = Timeline::new();
    let streams: Vec<usize> = (0..last).map(|_| line.add_stream()).collect();
    assert!(streams.into_iter().eq(1..=last));
    assert!(line.has_stream(last) && !line.has_stream(last + 1));
    line
}

#[test]
fn a_launch_returns_at_once_and_the_kernel_begins_later() {
    assert_eq!((LAUNCH, LAUNCH_LATENCY), (3_000, 4_400));
    let mut line = Timeline::new();
    assert_eq!(line.launch(t4(), 40, 50_000, 0), (7_400, 57_400));
    assert_eq!(times(&line), (3_000, 57_400));
    line.synchronize();
    assert_eq!(times(&line), (57_400, 57_400));
    line.reset();
    assert_eq!(line.launch(t4(), 1, 1, 0), (7_400, 7_401), "counted from the reset");
}

#[test]
fn short_kernels_wait_for_the_host_and_long_ones_for_each_other() {
    let mut line = Timeline::new();
    for _ in 0..1000 {
        line.launch(t4(), 40, 1_000, 0);
    }
    // The last of 1,000 calls, the latency, one kernel.
    assert_eq!(times(&line), (3_000_000, 3_000_000 + 4_400 + 1_000));
    let mut line = Timeline::new();
    for _ in 0..1000 {
        line.launch(t4(), 40, 10_000, 0);
    }
    // The first call, the latency, 1,000 kernels.
    assert_eq!(times(&line), (3_000_000, 3_000 + 4_400 + 10_000_000));
}

#[test]
fn a_copy_overlaps_a_kernel_of_another_stream() {
    for (stream, end) in [(1, 6_000 + COPY), (0, 6_000 + COPY + 1_000_000)] {
        let mut line = with_streams(1);
        let (from, to) = line.copy(t4(), TO, 12 << 20, 0);
        assert_eq!(to - from, COPY);
        line.launch(t4(), 1000, 1_000_000, stream);
        assert_eq!(times(&line), (9_000, end), "stream {stream}");
    }
}

#[test]
fn two_streams_hide_half_of_the_work_of_two_batches() {
    // There, half a millisecond of kernel, and back: twice.
    let batches = |streams: [usize; 2]| {
        let mut line = with_streams(1);
        for stream in streams {
            line.copy(t4(), TO, 12 << 20, stream);
            line.launch(t4(), 40, 500_000, stream);
            line.copy(t4(), BACK, 12 << 20, stream);
        }
        times(&line)
    };
    let calls = 2 * (6_000 + 3_000 + 6_000);
    assert_eq!(batches([0, 0]), (calls, 6_000 + 2 * (COPY + 500_000 + COPY)));
    // In the second stream the copy there follows the first one; when its kernel is over the way
    // back has just become free.
    assert_eq!(batches([0, 1]), (calls, 6_000 + 2 * COPY + 500_000 + COPY));
}

#[test]
fn kernels_share_the_gpu_while_multiprocessors_are_left() {
    let mut line = with_streams(3);
    let us = 1_000_000;
    assert_eq!(line.launch(t4(), 20, us, 0), (7_400, 7_400 + us));
    assert_eq!(line.launch(t4(), 20, us, 1), (10_400, 10_400 + us), "20 + 20 of 40");
    assert_eq!(line.launch(t4(), 1, us, 2).0, 7_400 + us, "none is left until the first ends");
    assert_eq!(line.launch(t4(), 1000, us, 3).0, 7_400 + 2 * us, "it needs all 40");
}

#[test]
fn a_kernel_that_waits_for_its_stream_lets_others_go_first() {
    let mut line = with_streams(2);
    line.wait(1, 2_000_000);
    assert_eq!(line.launch(t4(), 40, 100, 1).0, 2_000_000);
    assert_eq!(line.launch(t4(), 40, 500_000, 2), (10_400, 510_400), "it fits before");
    assert_eq!(line.launch(t4(), 40, 3_000_000, 0).0, 2_000_100, "it does not");
}

#[test]
fn events_around_a_kernel_measure_it_if_the_stream_is_busy() {
    let mut line = Timeline::new();
    let idle = line.record(0);
    line.launch(t4(), 40, 50_000, 0);
    let busy = line.record(0);
    line.launch(t4(), 40, 70_000, 0);
    let end = line.record(0);
    assert_eq!(busy - idle, 3_000 + 4_400 + 50_000, "from nothing the launch counts too");
    assert_eq!(end - busy, 70_000);
    assert!(!line.has_passed(end));
    line.synchronize_stream(0);
    assert!(line.is_done(end));
}

/// A generator of numbers that look random (xorshift).
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// Every kernel that ran: from when, to when, on how many multiprocessors.
type Ran = Vec<(u64, u64, u64)>;

/// The first moment from which `wanted` of 40 are free for `ns`, by trying every one.
fn first_fit(ran: &Ran, ready: u64, ns: u64, wanted: u64) -> u64 {
    let used = |at: u64| -> u64 {
        ran.iter().filter(|(start, end, _)| (*start..*end).contains(&at)).map(|ran| ran.2).sum()
    };
    (ready..).find(|start| (*start..start + ns).all(|at| used(at) + wanted <= 40)).unwrap()
}

#[test]
fn kernels_find_the_place_that_the_slow_model_finds() {
    for seed in 1..20 {
        let mut random = seed * 0x9E37_79B9;
        let (mut line, mut ran, mut streams, mut host) = (with_streams(3), Ran::new(), [0; 4], 0);
        for _ in 0..25 {
            let stream = next(&mut random) as usize % 4;
            let (blocks, ns) = (1 + next(&mut random) % 60, 1 + next(&mut random) % 9_000);
            host += LAUNCH;
            let ready = streams[stream].max(host + LAUNCH_LATENCY);
            let start = first_fit(&ran, ready, ns, blocks.min(40));
            let seen = line.launch(t4(), blocks, ns, stream);
            assert_eq!(seen, (start, start + ns), "seed {seed}: {blocks} blocks, {ns} ns");
            ran.push((start, start + ns, blocks.min(40)));
            streams[stream] = start + ns;
        }
    }
}
