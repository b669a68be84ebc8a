//! The memory of devices, with exact bounds, against a plain model; tensors on devices; and errors
//! that a program can catch.
//!
//! Devices belong to the process, so each test has one of its own.

#[path = "engine/failed.rs"]
mod failed;
#[path = "engine/refused.rs"]
mod refused;
#[path = "engine/sim_memory.rs"]
mod slow;

use engine_room::driver::{DevicePtr, Driver, HostMemory, Route};
use engine_room::rng::Generator;
use engine_room::{Error, sim};
use failed::fails;
use slow::SlowMemory;

const PAGEABLE: HostMemory = HostMemory::Pageable;
const PINNED: HostMemory = HostMemory::Pinned;

fn device(n: usize) -> &'static dyn Driver {
    sim::sim(n)
}

// The memory

#[test]
fn memory_has_exact_bounds_and_says_what_is_near() {
    let gpu = device(8);
    let stream = gpu.default_stream();
    fails(gpu.free(DevicePtr(4)), &["sim:8", "free(0x4)", "nothing is allocated"]);
    let at = gpu.alloc(100).unwrap();
    assert_eq!(at.0 % 512, 0);
    let read = |offset: i64, bytes| {
        let from = DevicePtr(at.0.wrapping_add_signed(offset));
        gpu.copy_to_host(&mut vec![0; bytes], from, PAGEABLE, stream)
    };
    assert!(read(0, 100).is_ok() && read(99, 1).is_ok() && read(100, 0).is_ok());
    let base = format!("100 bytes at {at}");
    fails(read(1, 100), &["copy_to_host: 100 bytes", &base, "ends after the first 99"]);
    fails(read(100, 1), &["1 bytes", &base, "ends 0 bytes before"]);
    fails(read(-8, 4), &["4 bytes", &base, "begins 8 bytes later"]);
    fails(read(-1 - at.0 as i64, 9), &["9 bytes at 0xffffffffffffffff", &base]);
    fails(gpu.free(at.offset(8)), &["no live allocation begins there", "8 bytes into it"]);
    let copied = sim::transfers(8).on(Route::ToHost(PAGEABLE));
    assert_eq!((copied.count, copied.bytes), (2, 101), "no bytes and refused ones do not count");
    fails(gpu.copy_on_device(at.offset(8), at, 9, stream), &["copy_on_device", "overlap"]);
    gpu.free(at).unwrap();
    fails(gpu.free(at), &["freed before or never allocated"]);
    fails(read(0, 1), &["do not lie within a live allocation", "nothing is allocated"]);
    assert_eq!(gpu.alloc(0), Ok(DevicePtr::NULL));
    assert_eq!(gpu.free(DevicePtr::NULL), Ok(()));
}

#[test]
fn fresh_memory_is_not_zero() {
    let gpu = device(9);
    let at = gpu.alloc(8).unwrap();
    let mut read = [0; 8];
    gpu.copy_to_host(&mut read, at, PAGEABLE, gpu.default_stream()).unwrap();
    assert_eq!(read, [0xCB; 8]);
}

#[test]
fn a_full_device_refuses_and_stays_usable() {
    let gpu = device(10);
    sim::set_capacity(10, 2048);
    let (first, second) = (gpu.alloc(1024).unwrap(), gpu.alloc(513).unwrap());
    let full = |requested, allocated, capacity| {
        Err(Error::OutOfMemory {
            device: "sim:10".to_string(),
            requested,
            allocated,
            capacity: Some(capacity),
        })
    };
    assert_eq!(gpu.alloc(1), full(1, 2048, 2048), "513 bytes take up two units of 512");
    let says = ["out of memory on sim:10", "1 bytes were asked for", "0 bytes of 2.00 KiB", "drop"];
    fails(gpu.alloc(1), &says);
    gpu.copy_on_device(second, first, 513, gpu.default_stream()).unwrap();
    gpu.free(first).unwrap();
    assert_eq!(gpu.alloc(1025), full(1025, 1024, 2048));
    gpu.alloc(1024).unwrap();
    sim::set_capacity(10, 100);
    assert_eq!((sim::capacity(10), gpu.alloc(1)), (100, full(1, 2048, 100)), "what is live stays");
    sim::set_capacity(10, u64::MAX);
    assert_eq!(gpu.alloc(u64::MAX), full(u64::MAX, 2048, u64::MAX), "no multiple of 512 is above");
    fails(gpu.alloc(u64::MAX - 8191), &["no run of addresses is left"]);
    assert!(gpu.alloc(4096).is_ok());
}

#[test]
fn any_order_of_calls_leaves_what_the_slow_model_holds() {
    let gpu = device(11);
    for seed in 0..100 {
        println!("seed {seed}");
        let mut random = Generator::new(seed);
        let mut slow = SlowMemory::default();
        sim::set_capacity(11, 16_384);
        for _ in 0..100 {
            memory_step(gpu, &mut slow, &mut random);
        }
        for (at, block) in slow.blocks {
            let mut read = vec![0; block.len()];
            gpu.copy_to_host(&mut read, DevicePtr(at), PINNED, gpu.default_stream()).unwrap();
            assert_eq!(read, block);
            gpu.free(DevicePtr(at)).unwrap();
        }
    }
}

/// One random call, on the device and on the model; ranges often leave their block.
fn memory_step(gpu: &dyn Driver, slow: &mut SlowMemory, random: &mut Generator) {
    let mut place = || match slow.blocks.len() {
        0 => 512,
        n => slow.blocks[random.below(n)].0 + random.below(1500) as u64,
    };
    let (to, from) = (place(), place());
    let (bytes, stream) = (1 + random.below(900), gpu.default_stream());
    match random.below(6) {
        0 | 1 => match gpu.alloc(bytes as u64) {
            Ok(at) => slow.blocks.push((at.0, vec![0xCB; bytes])),
            Err(_) => assert!(slow.taken() + bytes.next_multiple_of(512) as u64 > 16_384),
        },
        2 => {
            let known = slow.blocks.iter().position(|&(start, _)| start == to);
            assert_eq!(gpu.free(DevicePtr(to)).is_ok(), known.is_some());
            known.map(|known| slow.blocks.swap_remove(known));
        }
        3 => {
            let values: Vec<u8> = (0..bytes).map(|_| random.below(256) as u8).collect();
            let copied = gpu.copy_to_device(DevicePtr(to), &values, PAGEABLE, stream).is_ok();
            let target = slow.range(to, bytes);
            assert_eq!(copied, target.is_some());
            target.map(|target| target.copy_from_slice(&values));
        }
        _ => {
            let source = slow.range(from, bytes).map(|source| source.to_vec());
            let apart = to.abs_diff(from) >= bytes as u64;
            let copied = gpu.copy_on_device(DevicePtr(to), DevicePtr(from), bytes as u64, stream);
            let done = source.filter(|_| apart).and_then(|s| Some((slow.range(to, bytes)?, s)));
            assert_eq!(copied.is_ok(), done.is_some());
            done.map(|(target, source)| target.copy_from_slice(&source));
        }
    }
}
