//! More of PyTorch's rules for the caching allocator: what is given back, to whom, and when. Each
//! number follows from the rules in `c10/cuda/CUDACachingAllocator.cpp`.

#[path = "engine/fake_device.rs"]
mod fake_device;
#[path = "engine/script.rs"]
mod script;

use engine_room::memory::{
    CachingAllocator, Label, Metric, Settings, max_memory_allocated, max_memory_reserved,
    memory_allocated, memory_reserved, memory_stats, reset_peak_memory_stats,
};
use engine_room::rng::Generator;
use engine_room::{Device, Error, Tensor};
use fake_device::Fake;
use script::Do::{Alloc, EmptyCache, Free};
use script::Script;

const MIB: u64 = 1 << 20;

/// An allocator that collects garbage above this part of its capacity.
fn collecting(capacity: u64, part: f64) -> Script {
    let mut script = Script::new(capacity);
    let garbage_collection_threshold = Some(part);
    script.allocator.set(Settings { garbage_collection_threshold, ..Settings::default() });
    script
}

#[test]
fn below_the_threshold_nothing_is_garbage() {
    let mut script = collecting(100 * MIB, 0.5);
    script.run(&[
        (Alloc("a", 20 * MIB), 20 * MIB, 20 * MIB),
        (Free("a"), 0, 20 * MIB),
        (Alloc("b", 30 * MIB), 30 * MIB, 50 * MIB),
        (Free("b"), 0, 50 * MIB),
        // 50 MiB are reserved, which is not more than half: the next one may take it over that.
        (Alloc("c", 40 * MIB), 40 * MIB, 90 * MIB),
    ]);
    assert_eq!(script.allocator.stats().num_device_free, 0);
}

#[test]
fn garbage_is_neither_small_nor_in_use_nor_a_part() {
    let mut script = collecting(100 * MIB, 0.1);
    script.run(&[
        (Alloc("small", 512), 512, 2 * MIB),
        (Free("small"), 0, 2 * MIB),
        (Alloc("part", 2 * MIB), 2 * MIB, 22 * MIB),
        (Alloc("used", 12 * MIB), 14 * MIB, 22 * MIB),
        (Alloc("old", 14 * MIB), 28 * MIB, 36 * MIB),
        (Free("old"), 14 * MIB, 36 * MIB),
        (Free("used"), 2 * MIB, 36 * MIB),
        // "old" alone is a whole free segment of the large pool.
        (Alloc("new", 30 * MIB), 32 * MIB, 52 * MIB),
    ]);
    assert_eq!(script.allocator.stats().num_device_free, 1);
    assert_eq!(script.allocator.stats().num_alloc_retries, 0);
}

#[test]
fn a_segment_ages_only_while_there_is_a_threshold() {
    let mut script = Script::new(200 * MIB);
    // Ten searches of the large pool that make nothing older.
    for (name, size) in [("a", 12), ("b", 14)] {
        script.alloc(name, size * MIB).unwrap();
        script.free(name);
    }
    for _ in 0..10 {
        script.alloc("again", 14 * MIB).unwrap();
        script.free("again");
    }
    let garbage_collection_threshold = Some(0.1);
    script.allocator.set(Settings { garbage_collection_threshold, ..Settings::default() });
    // Both have the same age, one search: both are at the average and go.
    script.run(&[(Alloc("c", 30 * MIB), 30 * MIB, 30 * MIB)]);
    assert_eq!(script.allocator.stats().num_device_free, 2);
}

#[test]
fn an_oversize_block_serves_requests_within_20_mib_of_its_size() {
    let with_cached = |cached: u64, asked: u64| {
        let mut script = Script::new(u64::MAX);
        script.allocator.set(Settings { max_split_size: 32 * MIB, ..Settings::default() });
        script.alloc("cached", cached).unwrap();
        script.free("cached");
        script.alloc("asked", asked).unwrap();
        (script.of(Metric::Segment), script.of(Metric::AllocatedBytes))
    };
    assert_eq!(with_cached(60 * MIB, 40 * MIB + 512), (1, 60 * MIB), "whole, and not cut");
    assert_eq!(with_cached(60 * MIB, 40 * MIB), (2, 40 * MIB), "20 MiB too large");
    assert_eq!(with_cached(32 * MIB, 30 * MIB), (2, 30 * MIB), "kept for oversize requests");
    assert_eq!(with_cached(30 * MIB, 22 * MIB), (1, 22 * MIB), "below the limit it is cut");
}

#[test]
fn a_retry_that_fails_has_emptied_the_cache_all_the_same() {
    let mut script = Script::new(64 * MIB);
    script.run(&[
        (Alloc("kept", 20 * MIB), 20 * MIB, 20 * MIB),
        (Alloc("freed", 30 * MIB), 50 * MIB, 50 * MIB),
        (Free("freed"), 20 * MIB, 50 * MIB),
    ]);
    let error = script.alloc("huge", 60 * MIB).unwrap_err();
    let Error::OutOfMemory { requested, allocated, capacity, .. } = error else {
        panic!("{error}")
    };
    assert_eq!((requested, allocated, capacity), (60 * MIB, 20 * MIB, Some(64 * MIB)));
    let stats = script.allocator.stats();
    assert_eq!((stats.num_alloc_retries, stats.num_ooms, stats.num_device_free), (1, 1, 1));
    script
        .run(&[(Alloc("fits", 44 * MIB), 64 * MIB, 64 * MIB), (Free("kept"), 44 * MIB, 64 * MIB)]);
    assert_eq!(script.allocator.stats().num_ooms, 1);
}

#[test]
fn a_segment_with_a_part_in_use_stays_when_the_cache_is_emptied() {
    let mut script = Script::new(u64::MAX);
    script.run(&[
        (Alloc("part", 4 * MIB), 4 * MIB, 20 * MIB),
        (Alloc("rest", 6 * MIB), 10 * MIB, 20 * MIB),
        (Alloc("small", 1), 10 * MIB + 512, 22 * MIB),
        (Alloc("own", 12 * MIB), 22 * MIB + 512, 34 * MIB),
        (Free("rest"), 16 * MIB + 512, 34 * MIB),
        (Free("own"), 4 * MIB + 512, 34 * MIB),
        (EmptyCache, 4 * MIB + 512, 22 * MIB),
    ]);
    let stats = script.allocator.stats();
    let split = [Metric::InactiveSplit, Metric::InactiveSplitBytes].map(|it| stats.of(it).current);
    assert_eq!(
        split,
        [2, 16 * MIB + (2 * MIB - 512)],
        "what no tensor has and nobody else can get"
    );
    script.run(&[(Free("part"), 512, 22 * MIB), (Free("small"), 0, 22 * MIB), (EmptyCache, 0, 0)]);
}

#[test]
fn peaks_begin_anew_from_what_is_now() {
    let mut script = Script::new(u64::MAX);
    script.run(&[
        (Alloc("a", 12 * MIB), 12 * MIB, 12 * MIB),
        (Alloc("b", 14 * MIB), 26 * MIB, 26 * MIB),
        (Free("b"), 12 * MIB, 26 * MIB),
    ]);
    let peak = |script: &Script, it| script.allocator.stats().of(it).peak;
    assert_eq!(peak(&script, Metric::AllocatedBytes), 26 * MIB);
    script.allocator.reset_peaks();
    assert_eq!(peak(&script, Metric::AllocatedBytes), 12 * MIB);
    assert_eq!(peak(&script, Metric::ReservedBytes), 26 * MIB, "the cache is still held");
    assert_eq!(peak(&script, Metric::Allocation), 1);
    let bytes = script.allocator.stats().of(Metric::AllocatedBytes);
    assert_eq!((bytes.allocated, bytes.freed), (26 * MIB, 14 * MIB), "sums are no peaks");
}

#[test]
fn a_block_used_by_others_is_free_when_the_last_of_them_is_done() {
    let mut allocator = CachingAllocator::new(Fake::new(u64::MAX));
    let [a, b] = [12 * MIB, 12 * MIB].map(|size| allocator.alloc(size, 0, Label::NONE).unwrap());
    allocator.record_stream(a, 1);
    allocator.record_stream(b, 1);
    allocator.record_stream(b, 2);
    allocator.free(a).unwrap();
    allocator.free(b).unwrap();
    allocator.source().finish(1);
    // Stream 3 has no block of its own: it gets a segment, and a is free for stream 0 by now.
    assert!(![a, b].contains(&allocator.alloc(12 * MIB, 3, Label::NONE).unwrap()));
    assert_eq!(allocator.stats().of(Metric::Active).current, 2, "b and the new one");
    assert_eq!(allocator.alloc(12 * MIB, 0, Label::NONE), Ok(a));
    allocator.empty_cache().unwrap();
    assert_eq!(allocator.stats().of(Metric::Segment).current, 2, "it waited for stream 2");
    // The uses of a block are over when it is handed out again.
    allocator.free(a).unwrap();
    assert_eq!(allocator.alloc(12 * MIB, 0, Label::NONE), Ok(a));
}

/// What a tensor of a device takes, and what takes nothing.
#[test]
fn views_and_changes_in_place_take_no_memory() {
    let gpu = Device::Sim(57);
    let held = || (memory_allocated(gpu), memory_reserved(gpu));
    let x = Tensor::randn(&[300, 100], &mut Generator::new(1)).to(gpu);
    let one = 120_320;
    assert_eq!(held(), (one, 2 * MIB));
    let views = [x.transpose(0, 1), x.slice(0, 10, 20, 1), x.reshape(&[100, 300]), x.detach()];
    x.add_(&x, 1.0);
    x.mul_scalar(0.0).zero_();
    views[1].zero_();
    assert_eq!(held(), (one, 2 * MIB));
    // The product, and a number that went into it or into the sum.
    let peak = max_memory_allocated(gpu);
    assert!((2 * one..=2 * one + 512).contains(&peak), "{peak}");
    drop(x);
    assert_eq!(held().0, one, "a view holds all of it");
    drop(views);
    reset_peak_memory_stats(gpu);
    assert_eq!((max_memory_allocated(gpu), max_memory_reserved(gpu)), (0, 2 * MIB));
    let stats = memory_stats(gpu);
    assert_eq!(stats["allocated_bytes.all.allocated"], stats["allocated_bytes.all.freed"]);
    assert_eq!((stats["segment.small_pool.current"], stats["num_ooms"]), (1, 0));
}
