//! The simulated GPU: transfers that are counted, and a modelled clock that agrees with sums made
//! by hand and with a slow model of it.
//!
//! Devices belong to the process, so each test has one of its own.

#[path = "engine/failed.rs"]
mod failed;
#[path = "engine/refused.rs"]
mod refused;
#[path = "engine/sim_clock.rs"]
mod slow;

use engine_room::driver::{DevicePtr, Driver, Event, HostMemory, Route, Stream};
use engine_room::rng::Generator;
use engine_room::sim;
use failed::fails;
use refused::refused;
use sim::Gpu;
use slow::SlowClock;

const PAGEABLE: HostMemory = HostMemory::Pageable;
const PINNED: HostMemory = HostMemory::Pinned;
const MIB: usize = 1 << 20;

/// A device with nothing on its clock.
fn device(n: usize) -> &'static dyn Driver {
    sim::reset(n);
    sim::sim(n)
}

fn times(n: usize) -> (u64, u64) {
    (sim::clock(n).host_ns, sim::clock(n).device_ns)
}

/// Copies so many bytes there, or back, over the first bytes of `at`.
fn copy(
    gpu: &dyn Driver,
    route: Route,
    at: DevicePtr,
    bytes: usize,
    stream: Stream,
) -> Option<Event> {
    let mut host = vec![1; bytes];
    match route {
        Route::ToDevice(kind) => gpu.copy_to_device(at, &host, kind, stream).unwrap(),
        Route::ToHost(kind) => gpu.copy_to_host(&mut host, at, kind, stream).unwrap(),
        Route::OnDevice => {
            gpu.copy_on_device(at.offset(bytes as u64), at, bytes as u64, stream).unwrap();
            None
        }
    }
}

// The figures

#[test]
fn the_table_holds_what_was_published() {
    let gb = |figure: u64| figure as f64 / 1e9;
    let rows = [
        (Gpu::T4, "T4", 16, 3, 12.0, 320.0),
        (Gpu::A100, "A100", 80, 4, 26.2, 2039.0),
        (Gpu::H100, "H100", 80, 5, 51.0, 3350.0),
        (Gpu::H200, "H200", 141, 5, 52.0, 4800.0),
    ];
    assert_eq!(rows.map(|row| row.0), Gpu::ALL);
    for (gpu, name, gib, pcie, pinned, memory) in rows {
        let figures = gpu.figures();
        assert_eq!((figures.name, figures.capacity >> 30, figures.pcie), (name, gib, pcie));
        assert_eq!((gb(figures.pinned), gb(figures.memory)), (pinned, memory));
        // A lane carries 1, 2, 4 GB/s one way in generation 3, 4, 5, before any overhead.
        assert!(pinned < 16.0 * f64::from(1 << (pcie - 3)), "{name} is faster than its bus");
    }
    let pageable = 1.0 / (1.0 / gb(sim::STAGING) + 1.0 / 25.7);
    assert!((pageable - 10.0).abs() < 0.05, "the DGX A100 had 10.0 GB/s, not {pageable}");
    assert!((5_000..=7_000).contains(&sim::COPY_CALL));
    assert_eq!(sim::COPY_CALL + sim::COPY_LATENCY, 10_000);
    assert_eq!((sim::LAUNCH, sim::QUERY, sim::STAGING_BUFFER), (3_000, 1_000, 65_536));
}

// The clock, by hand

#[test]
fn a_pinned_copy_returns_at_once_and_arrives_later() {
    let gpu = device(0);
    let (at, stream) = (gpu.alloc(64 * MIB as u64).unwrap(), gpu.default_stream());
    let event = copy(gpu, Route::ToDevice(PINNED), at, 64 * MIB, stream).unwrap();
    // 64 MiB at 12 GB/s are 5,592,406 ns; 6,000 for the call and 4,000 until the first byte.
    assert_eq!(times(0), (6_000, 6_000 + 4_000 + 5_592_406));
    assert!(!gpu.is_done(&event).unwrap(), "it is pending");
    gpu.synchronize_stream(stream).unwrap();
    assert_eq!(times(0), (5_602_406, 5_602_406));
    assert!(gpu.is_done(&event).unwrap());
    gpu.release(event);
    assert_eq!(sim::transfers(0).on(Route::ToDevice(PINNED)).modelled_ns, 5_596_406);
    copy(gpu, Route::ToHost(PINNED), at, 12, stream);
    gpu.free(at).unwrap();
    // One question (1,000), one call (6,000), the latency and 12 bytes.
    assert_eq!(times(0), (5_613_407, 5_613_407), "freeing waits for who may use it");
}

#[test]
fn a_pageable_copy_keeps_the_host_until_it_is_staged() {
    let gpu = device(1);
    let (at, stream) = (gpu.alloc(64 * MIB as u64).unwrap(), gpu.default_stream());
    assert!(copy(gpu, Route::ToDevice(PAGEABLE), at, 64 * MIB, stream).is_none());
    // Staged at 16.4 GB/s (4,092,004 ns) and moved at 12 (5,592,406); the last 64 KiB of it
    // (5,462) and the latency (4,000) are still to come when the host is let go.
    assert_eq!(times(1), (6_000 + 4_092_004 + 5_592_406 - 5_462, 9_694_410));
    gpu.synchronize().unwrap();
    sim::reset(1);
    assert_eq!(times(1), (0, 0));
    copy(gpu, Route::ToHost(PAGEABLE), at, 64 * MIB, stream);
    assert_eq!(times(1), (9_694_410, 9_694_410), "back, it returns when the bytes are there");
    sim::reset(1);
    copy(gpu, Route::ToDevice(PAGEABLE), at, 4096, stream);
    assert_eq!(times(1), (6_000 + 250, 6_000 + 4_000 + 250 + 342), "one piece is only staged");
}

#[test]
fn many_small_copies_take_longer_than_one_large_one() {
    let gpu = device(2);
    let (at, stream) = (gpu.alloc(64 * MIB as u64).unwrap(), gpu.default_stream());
    copy(gpu, Route::ToDevice(PINNED), at, 64 * MIB, stream);
    let (_, one) = times(2);
    sim::reset(2);
    for i in 0..1024 {
        copy(gpu, Route::ToDevice(PINNED), at.offset(i * 65_536), 65_536, stream);
    }
    // Each takes 4,000 + 5,462 ns of the engine, which has the first after one call of 6,000.
    assert_eq!(times(2), (1024 * 6_000, 6_000 + 1024 * 9_462));
    assert_eq!(one, 5_602_406);
    let pinned = sim::transfers(2).on(Route::ToDevice(PINNED));
    assert_eq!((pinned.count, pinned.bytes), (1024, 64 << 20));
}

#[test]
fn only_different_directions_on_different_streams_overlap() {
    let gpu = device(3);
    let at = gpu.alloc(24 * MIB as u64).unwrap();
    let streams = [gpu.default_stream(), gpu.create_stream().unwrap()];
    let (to, from) = (Route::ToDevice(PINNED), Route::ToHost(PINNED));
    // 12 MiB at 12 GB/s, and the latency.
    let each = 1_048_576 + 4_000;
    for (second, stream, end) in [
        (from, streams[1], 12_000 + each),
        (to, streams[1], 6_000 + 2 * each),
        (from, streams[0], 6_000 + 2 * each),
    ] {
        sim::reset(3);
        copy(gpu, to, at, 12 * MIB, streams[0]);
        copy(gpu, second, at, 12 * MIB, stream);
        assert_eq!(times(3), (12_000, end), "{second:?} in {stream:?}");
    }
}

#[test]
fn a_faster_gpu_copies_faster() {
    let gpu = device(4);
    let at = gpu.alloc(2 * 52_000_000).unwrap();
    for (model, ns) in [(Gpu::T4, 4_333_334), (Gpu::H200, 1_000_000)] {
        sim::select_gpu(4, model);
        sim::reset(4);
        assert_eq!(gpu.capacity(), model.figures().capacity);
        copy(gpu, Route::ToHost(PINNED), at, 52_000_000, gpu.default_stream());
        assert_eq!(times(4), (6_000, 10_000 + ns), "{model}");
    }
    sim::reset(4);
    copy(gpu, Route::OnDevice, at, 52_000_000, gpu.default_stream());
    // Read and written at 4.8 TB/s.
    assert_eq!(times(4), (6_000, 10_000 + 21_667));
    let shown = sim::clock(4).to_string();
    assert_eq!(shown, "host 6.000 us, device 31.667 us (modelled, H200)");
}

#[test]
fn events_mark_streams_and_order_them() {
    let gpu = device(5);
    let at = gpu.alloc(12 * MIB as u64).unwrap();
    let (a, b) = (gpu.default_stream(), gpu.create_stream().unwrap());
    let before = gpu.record(a).unwrap();
    copy(gpu, Route::ToDevice(PINNED), at, 12 * MIB, a);
    let after = gpu.record(a).unwrap();
    fails(gpu.elapsed(&before, &after), &["sim:5", "not done", "synchronize"]);
    gpu.wait(b, &after).unwrap();
    copy(gpu, Route::ToHost(PINNED), at, 12 * MIB, b);
    let each = 1_048_576 + 4_000;
    assert_eq!(times(5), (12_000, 6_000 + 2 * each), "b begins when a is through");
    gpu.synchronize_stream(a).unwrap();
    assert_eq!(times(5).0, 6_000 + each, "only a was waited for");
    // Before anything was asked for, so the call counts too.
    assert_eq!(gpu.elapsed(&before, &after).unwrap(), 6_000 + each);
    fails(gpu.elapsed(&after, &before), &["the first event came after the second"]);
    sim::reset(5);
    let idle = gpu.record(b).unwrap();
    assert!(gpu.is_done(&after).unwrap(), "what was done stays done");
    let later = gpu.record(b).unwrap();
    assert_eq!(gpu.elapsed(&idle, &later).unwrap(), 1_000, "an idle stream keeps the host's time");
}

#[test]
fn asking_until_it_is_done_comes_to_an_end() {
    let gpu = device(6);
    let at = gpu.alloc(MIB as u64).unwrap();
    let event = copy(gpu, Route::ToDevice(PINNED), at, MIB, gpu.default_stream()).unwrap();
    let asked = (1..).find(|_| gpu.is_done(&event).unwrap()).unwrap();
    // 1 MiB at 12 GB/s and the latency, in questions of 1,000 ns.
    assert_eq!(asked, (87_382u32 + 4_000).div_ceil(1_000));
}

#[test]
fn any_order_of_copies_takes_what_the_slow_model_says() {
    let gpu = device(7);
    let at = gpu.alloc(2 << 20).unwrap();
    let streams: Vec<Stream> = (0..3).map(|_| gpu.create_stream().unwrap()).collect();
    for seed in 0..200 {
        println!("seed {seed}");
        let mut random = Generator::new(seed);
        let mut slow = SlowClock::default();
        sim::reset(7);
        for _ in 0..30 {
            step(gpu, at, &streams, &mut slow, &mut random);
            assert_eq!(times(7), (slow.host, slow.all_idle()));
        }
    }
}

/// One random call, on the device and on the model.
fn step(
    gpu: &dyn Driver,
    at: DevicePtr,
    streams: &[Stream],
    slow: &mut SlowClock,
    random: &mut Generator,
) {
    let stream = random.below(streams.len());
    match random.below(12) {
        0 => {
            gpu.synchronize_stream(streams[stream]).unwrap();
            slow.host = slow.host.max(slow.idle(stream));
        }
        1 => {
            gpu.synchronize().unwrap();
            slow.host = slow.host.max(slow.all_idle());
        }
        2 => {
            let other = random.below(streams.len());
            let event = gpu.record(streams[other]).unwrap();
            gpu.wait(streams[stream], &event).unwrap();
            slow.waits.push((stream, slow.host.max(slow.idle(other))));
        }
        _ => {
            let (route, bytes) = (Route::ALL[random.below(5)], 1 + random.below(1 << 20));
            let earlier = sim::transfers(7).on(route).modelled_ns;
            copy(gpu, route, at, bytes, streams[stream]);
            let took = slow.copy(route, bytes as u64, stream);
            assert_eq!(sim::transfers(7).on(route).modelled_ns - earlier, took);
        }
    }
}

// Devices among each other

#[test]
fn what_belongs_to_another_device_is_refused() {
    let (gpu, other) = (device(12), device(13));
    let (at, theirs) = (gpu.alloc(8).unwrap(), other.alloc(8).unwrap());
    let (stream, foreign) = (gpu.default_stream(), other.create_stream().unwrap());
    let event = other.record(foreign).unwrap();
    fails(gpu.copy_on_device(at, theirs, 8, stream), &["sim:12", "not lie within"]);
    fails(gpu.copy_to_device(at, &[0; 8], PINNED, foreign), &["stream 1 of sim:13"]);
    fails(gpu.record(other.default_stream()), &["record", "stream 0 of sim:13"]);
    fails(gpu.wait(stream, &event), &["wait", "the event is one of sim:13"]);
    assert_eq!((times(12), times(13)), ((0, 0), (0, 0)), "and nothing has happened");
    let refusal = refused(|| sim::capacity(64)).to_string();
    assert_eq!(refusal, "sim(64): there are 64 simulated GPUs, numbered from 0");
}

#[test]
fn threads_share_a_device() {
    let gpu = device(14);
    std::thread::scope(|scope| {
        for byte in 0..8u8 {
            scope.spawn(move || {
                let (at, stream) = (gpu.alloc(1000).unwrap(), gpu.create_stream().unwrap());
                for _ in 0..50 {
                    gpu.copy_to_device(at, &[byte; 1000], PAGEABLE, stream).unwrap();
                    let mut back = [0xff; 1000];
                    gpu.copy_to_host(&mut back, at, PAGEABLE, stream).unwrap();
                    assert_eq!(back, [byte; 1000]);
                }
                gpu.free(at).unwrap();
            });
        }
    });
    let transfers = sim::transfers(14);
    assert_eq!(transfers.on(Route::ToHost(PAGEABLE)).bytes, 8 * 50 * 1000);
    let shown = transfers.to_string();
    let row = shown.lines().find(|row| row.starts_with("to device, pageable")).unwrap();
    assert!(row.contains(" 400 ") && row.contains(" 400000 "), "{shown}");
    assert!(shown.starts_with("copies") && shown.contains("modelled us"), "{shown}");
    sim::reset(14);
    assert_eq!(sim::transfers(14), sim::Transfers::default());
}
