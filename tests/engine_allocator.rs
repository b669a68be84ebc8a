//! The caching allocator by PyTorch's rules: the given cases of area F by id, streams, settings.

#[path = "engine/fake_device.rs"]
mod fake_device;
#[path = "engine/refused.rs"]
mod refused;
#[path = "engine/script.rs"]
mod script;

use engine_room::driver::{DevicePtr, Driver, HostMemory};
use engine_room::memory::{
    CachingAllocator, Label, Metric, Settings, allocator_settings, empty_cache, memory_allocated,
    memory_reserved, set_allocator_settings,
};
use engine_room::{Device, Error, Tensor, catch, sim};
use fake_device::Fake;
use refused::refused;
use script::Do::{Alloc, EmptyCache, Free};
use script::Script;

const MIB: u64 = 1 << 20;

#[test]
fn f01_allocated_follows_the_blocks_and_reserved_the_segments() {
    Script::new(u64::MAX).run(&[
        (Alloc("x", 1), 512, 2097152),
        (Alloc("y", 513), 1536, 2097152),
        (Free("x"), 1024, 2097152),
        (Free("y"), 0, 2097152),
        (EmptyCache, 0, 0),
    ]);
}

#[test]
fn f03_one_byte_more_than_1_mib_moves_to_the_large_pool() {
    let mut script = Script::new(u64::MAX);
    script.run(&[(Alloc("x", 1048576), 1048576, 2097152)]);
    assert_eq!(script.of(Metric::Segment), 1);
    script.run(&[(Alloc("y", 1048577), 2097664, 23068672)]);
    assert_eq!(script.of(Metric::Segment), 2);
}

#[test]
fn f05_allocated_can_exceed_requested() {
    let mut script = Script::new(u64::MAX);
    for (step, requested) in [
        ((Alloc("x", 4194304), 4194304, 20971520), 4194304),
        ((Alloc("y", 15728640), 20971520, 20971520), 19922944),
        ((Free("x"), 16777216, 20971520), 15728640),
        ((Alloc("w", 2097152), 18874368, 20971520), 17825792),
    ] {
        script.run(&[step]);
        assert_eq!(script.of(Metric::RequestedBytes), requested);
    }
}

#[test]
fn f07_free_segments_are_released_before_giving_up() {
    let mut script = Script::new(67108864);
    script.run(&[
        (Alloc("A", 31457280), 31457280, 31457280),
        (Alloc("B", 31457280), 62914560, 62914560),
        (Free("A"), 31457280, 62914560),
        (Alloc("D", 33554432), 65011712, 65011712),
    ]);
    assert_eq!(script.allocator.stats().num_alloc_retries, 1);
}

#[test]
fn f09_free_neighbours_merge_in_either_order() {
    for order in [["a", "c", "b"], ["b", "c", "a"]] {
        let mut script = Script::new(u64::MAX);
        script.run(&[
            (Alloc("a", 4194304), 4194304, 20971520),
            (Alloc("b", 4194304), 8388608, 20971520),
            (Alloc("c", 4194304), 12582912, 20971520),
            (Free(order[0]), 8388608, 20971520),
            (Free(order[1]), 4194304, 20971520),
            (Free(order[2]), 0, 20971520),
            (Alloc("d", 18874368), 18874368, 20971520),
        ]);
        assert_eq!(script.of(Metric::Segment), 1);
    }
}

#[test]
fn f11_the_pools_do_not_lend_to_each_other() {
    Script::new(u64::MAX).run(&[
        (Alloc("a", 512), 512, 2097152),
        (Free("a"), 0, 2097152),
        (Alloc("b", 1572864), 1572864, 23068672),
    ]);
}

#[test]
fn f13_zero_bytes_take_no_block_and_absurd_sizes_are_errors() {
    let mut script = Script::new(64 * MIB);
    script.run(&[(Alloc("none", 0), 0, 0), (Alloc("x", 512), 512, 2097152)]);
    assert_eq!(script.at["none"], 0);
    for bytes in [18446744073709551608, 18446744073709551615, u64::MAX - 511, 1 << 63] {
        let refused = script.alloc("huge", bytes);
        assert!(matches!(refused, Err(Error::OutOfMemory { requested, .. }) if requested == bytes));
    }
    script.free("none");
    script.run(&[(Alloc("y", 512), 1024, 2097152)]);
    assert_ne!(script.at["x"], script.at["y"]);
    for shape in [&[2305843009213693951][..], &[4294967296, 4294967296]] {
        let outcome = std::panic::catch_unwind(|| Tensor::zeros(shape));
        assert!(outcome.is_err(), "{shape:?}");
    }
}

#[test]
fn f17_a_small_view_keeps_the_whole_storage() {
    let gpu = Device::Sim(50);
    let bytes = || (memory_allocated(gpu), memory_reserved(gpu));
    let x = Tensor::zeros(&[5 << 20]).to(gpu);
    let view = x.slice(0, 0, 10, 1);
    drop(x);
    assert_eq!(bytes().0, 20971520);
    let copy = view.copy();
    drop(view);
    assert_eq!(bytes().0, 512);
    drop(copy);
    assert_eq!(bytes(), (0, 23068672));
    empty_cache(gpu);
    assert_eq!(bytes(), (0, 0));
}

#[test]
fn the_best_fit_is_the_smallest_and_then_the_lowest() {
    let mut script = Script::new(u64::MAX);
    for (name, bytes) in [("a", 4), ("-", 1), ("b", 2), ("--", 1), ("c", 2), ("---", 1)] {
        script.alloc(name, bytes * 512).unwrap();
    }
    let (a, b) = (script.at["a"], script.at["b"]);
    for name in ["c", "a", "b"] {
        script.free(name);
    }
    assert_eq!(script.alloc("x", 513), Ok(b), "not the larger hole before it, nor the same later");
    assert_eq!(script.alloc("y", 3 * 512), Ok(a));
    assert_eq!(script.alloc("z", 1), Ok(a + 3 * 512), "what was left of it is the smallest now");
}

#[test]
fn a_stream_gets_no_block_of_another() {
    let mut allocator = CachingAllocator::new(Fake::new(u64::MAX));
    let first = allocator.alloc(512, 0, Label::NONE).unwrap();
    allocator.free(first).unwrap();
    let second = allocator.alloc(512, 1, Label::NONE).unwrap();
    assert_ne!(first, second);
    assert_eq!(allocator.stats().of(Metric::Segment).current, 2);
    assert_eq!(allocator.alloc(512, 0, Label::NONE), Ok(first));
}

#[test]
fn a_block_that_another_stream_uses_waits_for_it() {
    let mut allocator = CachingAllocator::new(Fake::new(u64::MAX));
    let at = allocator.alloc(512, 0, Label::NONE).unwrap();
    allocator.record_stream(at, 0);
    for stream in [1, 2, 1] {
        allocator.record_stream(at, stream);
    }
    allocator.free(at).unwrap();
    let current = |allocator: &CachingAllocator<Fake>| {
        let metrics = [Metric::AllocatedBytes, Metric::ActiveBytes, Metric::RequestedBytes];
        metrics.map(|metric| allocator.stats().of(metric).current)
    };
    assert_eq!(current(&allocator), [0, 512, 512], "no tensor has it, and it is in use");
    allocator.source().finish(1);
    let other = allocator.alloc(512, 0, Label::NONE).unwrap();
    assert_ne!(other, at, "stream 2 has not come past it");
    allocator.source().finish(2);
    assert_eq!(allocator.alloc(512, 0, Label::NONE), Ok(at));
    let state = allocator.source().state.borrow();
    assert_eq!((state.recorded, state.released), (2, 2));
}

#[test]
fn the_cache_is_emptied_after_waiting_for_every_stream() {
    let mut script = Script::new(32 * MIB);
    let at = script.alloc("x", 20 * MIB).unwrap();
    script.allocator.record_stream(at, 7);
    script.free("x");
    assert!(script.alloc("y", 30 * MIB).is_ok(), "it waits rather than fail");
    assert_eq!(script.allocator.stats().num_sync_all_streams, 1);
}

#[test]
fn blocks_above_max_split_size_are_not_cut() {
    let mut script = Script::new(u64::MAX);
    script.allocator.set(Settings { max_split_size: 32 * MIB, ..Settings::default() });
    script.run(&[
        (Alloc("large", 40 * MIB), 40 * MIB, 40 * MIB),
        (Free("large"), 0, 40 * MIB),
        (Alloc("small", 12 * MIB), 12 * MIB, 52 * MIB),
        (Alloc("near", 34 * MIB), 52 * MIB, 52 * MIB),
        (Free("near"), 12 * MIB, 52 * MIB),
    ]);
    assert_eq!(script.allocator.stats().oversize_segments.current, 1);
    assert_eq!(script.allocator.stats().oversize_allocations.allocated, 2);
    let refusal = refused(|| {
        let mut allocator = CachingAllocator::new(Fake::new(0));
        allocator.set(Settings { max_split_size: 20 * MIB, ..Settings::default() });
    });
    assert_eq!(refusal.op, "max_split_size");
}

/// With a limit, a few large blocks that suffice are released, and not the whole cache.
#[test]
fn only_as_much_as_is_needed_is_released() {
    let mut script = Script::new(100 * MIB);
    script.allocator.set(Settings { max_split_size: 21 * MIB, ..Settings::default() });
    for (name, size) in [("a", 22), ("b", 24), ("c", 26), ("d", 12)] {
        script.alloc(name, size * MIB).unwrap();
    }
    for name in ["a", "b", "c", "d"] {
        script.free(name);
    }
    script.run(&[(Alloc("e", 50 * MIB), 50 * MIB, 84 * MIB)]);
    assert_eq!(script.allocator.stats().num_alloc_retries, 0);
    assert_eq!(script.allocator.stats().num_device_free, 2, "c and b; a and d are still there");
}

#[test]
fn old_segments_go_first_when_much_is_reserved() {
    let mut script = Script::new(100 * MIB);
    let part = Some(0.5);
    script.allocator.set(Settings { garbage_collection_threshold: part, ..Settings::default() });
    for (name, size) in [("a", 12), ("b", 20), ("c", 30)] {
        script.alloc(name, size * MIB).unwrap();
    }
    for name in ["a", "b", "c"] {
        script.free(name);
    }
    // One search is a's and b's age above c's; 62 MiB are reserved, 12 above the threshold.
    script.alloc("x", 30 * MIB).unwrap();
    script.free("x");
    script.run(&[(Alloc("y", 40 * MIB), 40 * MIB, 70 * MIB)]);
    assert_eq!(script.allocator.stats().num_device_free, 2);
}

#[test]
fn without_caching_each_tensor_is_an_allocation_of_the_driver() {
    let mut script = Script::new(u64::MAX);
    script.allocator.set(Settings { caching: false, ..Settings::default() });
    script.run(&[
        (Alloc("x", 1), 512, 512),
        (Alloc("y", 3 * MIB), 3 * MIB + 512, 3 * MIB + 512),
        (Free("x"), 3 * MIB, 3 * MIB),
        (Free("y"), 0, 0),
    ]);
}

/// What a simulated GPU still finds when tensors lie side by side, and what it finds without.
#[test]
fn a_simulated_gpu_knows_which_bytes_each_tensor_has() {
    let (gpu, driver) = (Device::Sim(51), sim::sim(51));
    let read = |at: u64, bytes: usize| {
        let (stream, host) = (driver.default_stream(), HostMemory::Pageable);
        driver.copy_to_host(&mut vec![0; bytes], DevicePtr(at), host, stream)
    };
    for caching in [true, false] {
        set_allocator_settings(gpu, Settings { caching, ..Settings::default() });
        let [x, y, z] = [100, 128, 128].map(|n| Tensor::zeros(&[n]).to(gpu));
        let at = |x: &Tensor| x.data_ptr();
        assert!(read(at(&x), 400).is_ok());
        assert!(read(at(&x) + 1, 400).is_err(), "into what its block has in addition");
        assert!(read(at(&y) + 508, 8).is_err(), "across the end of a tensor");
        assert!(read(at(&z) + 512, 1).is_err(), "into a free block");
        assert_eq!(at(&y) + 512 == at(&z), caching);
        assert_eq!(read(at(&y) + 512, 1).is_ok(), caching, "a neighbour, or nobody");
        let freed = at(&y);
        drop(y);
        assert!(read(freed, 1).is_err(), "after it was freed");
        let again = Tensor::zeros(&[128]).to(gpu);
        assert_eq!(read(freed, 1).is_ok(), caching, "somebody else has it, or nobody");
        drop((x, z, again));
        empty_cache(gpu);
        assert_eq!(allocator_settings(gpu).caching, caching);
    }
}

#[test]
fn a_tensor_waits_for_the_streams_that_use_it() {
    let (gpu, driver) = (Device::Sim(55), sim::sim(55));
    let other = driver.create_stream().unwrap();
    let x = Tensor::zeros(&[1 << 20]).to(gpu);
    let (at, mut host) = (x.data_ptr(), vec![0; 4 << 20]);
    let copy = driver.copy_to_host(&mut host, DevicePtr(at), HostMemory::Pinned, other).unwrap();
    x.record_stream(other);
    drop(x);
    let y = Tensor::zeros(&[1 << 20]).to(gpu);
    assert_ne!(y.data_ptr(), at, "the copy from it may still be under way");
    driver.release(copy.expect("an event"));
    gpu.synchronize().unwrap();
    assert_eq!(Tensor::zeros(&[1 << 20]).to(gpu).data_ptr(), at);
    let refusal = refused(|| y.to(Device::Cpu).record_stream(other));
    assert_eq!(refusal.op, "record_stream");
}

#[test]
fn a_full_device_says_who_holds_the_memory_and_what_to_try() {
    let gpu = Device::Sim(52);
    // A little more than four tensors: loading kernels takes some too.
    sim::set_capacity(52, 65 * MIB);
    let x = Tensor::ones(&[4 << 20]).to(gpu);
    let w = Tensor::ones(&[4 << 20]).to(gpu).requires_grad_(true);
    let held = (w.exp(), w.tanh());
    let error = catch(|| x.exp()).unwrap_err();
    let text = error.to_string();
    for part in [
        "out of memory on sim:52: 16.00 MiB (16777216 bytes) were asked for and ",
        "of 65.00 MiB (68157440 bytes) are free",
        "tensors hold 64.00 MiB",
        "16.00 MiB (16777216 bytes) by exp (activation)",
        "16.00 MiB (16777216 bytes) by to (parameter)",
        "try: a smaller batch, or recompute()",
    ] {
        assert!(text.contains(part), "{text}");
    }
    drop((held, w));
    assert!(catch(|| x.exp()).is_ok());
}
