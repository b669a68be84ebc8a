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
use engine_room::memory::memory_allocated;
use engine_room::rng::Generator;
use engine_room::{DType, Device, Element, Error, Tensor, bf16, catch, f16, sim};
use failed::fails;
use refused::refused;
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
            report: String::new(),
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
            if let Some(target) = target {
                target.copy_from_slice(&values);
            }
        }
        _ => {
            let source = slow.range(from, bytes).map(|source| source.to_vec());
            let apart = to.abs_diff(from) >= bytes as u64;
            let copied = gpu.copy_on_device(DevicePtr(to), DevicePtr(from), bytes as u64, stream);
            let done = source.filter(|_| apart).and_then(|s| Some((slow.range(to, bytes)?, s)));
            assert_eq!(copied.is_ok(), done.is_some());
            if let Some((target, source)) = done {
                target.copy_from_slice(&source);
            }
        }
    }
}

// Tensors

/// Tensors that lie in memory in every way: packed, with gaps, backwards strides of a transpose,
/// one element for many, none at all.
fn layouts<T: Element>(values: [T; 24]) -> Vec<Tensor> {
    let x = Tensor::from_vec(values.to_vec(), &[2, 3, 4]);
    vec![
        x.clone(),
        x.transpose(0, 2),
        x.slice(1, 1, 3, 1),
        x.slice(2, 0, 4, 3),
        x.select(0, 1).select(1, 2),
        x.narrow(0, 1, 1).expand(&[5, 3, 4]),
        x.narrow(0, 1, 0),
        x.select(0, 1).select(0, 2).select(0, 3),
    ]
}

#[track_caller]
fn round_trips<T: Element>(gpu: Device, value: fn(u8) -> T) {
    for x in layouts(std::array::from_fn(|i| value(i as u8))) {
        let there = x.to(gpu);
        assert_eq!((there.device(), there.shape(), there.dtype()), (gpu, x.shape(), T::DTYPE));
        assert!(there.is_contiguous());
        let back = there.to(Device::Cpu);
        assert_eq!((back.device(), back.shape()), (Device::Cpu, x.shape()));
        assert_eq!(back.to_vec::<T>(), x.to_vec::<T>());
        assert_eq!(there.to_vec::<T>(), x.to_vec::<T>());
        let other = there.to(Device::Sim(21));
        assert_eq!(other.to_vec::<T>(), x.to_vec::<T>(), "from one device to another");
    }
    // Views that are made on the device.
    let there = Tensor::from_vec((0..24).map(value).collect(), &[2, 3, 4]).to(gpu);
    let here = there.to(Device::Cpu);
    for view in [|x: &Tensor| x.transpose(0, 2), |x: &Tensor| x.slice(2, 1, 4, 2)] {
        assert_eq!(view(&there).to(Device::Cpu).to_vec::<T>(), view(&here).to_vec::<T>());
    }
}

#[test]
fn every_type_and_layout_comes_back_as_it_went() {
    let gpu = Device::Sim(20);
    round_trips::<f64>(gpu, |i| f64::from(i) / 3.0);
    round_trips::<f32>(gpu, |i| f32::from(i) / 3.0);
    round_trips::<f16>(gpu, |i| f16::from_f32(f32::from(i) / 3.0));
    round_trips::<bf16>(gpu, |i| bf16::from_f32(f32::from(i) / 3.0));
    round_trips::<i64>(gpu, |i| i64::from(i) << 40);
    round_trips::<i32>(gpu, |i| -i32::from(i));
    round_trips::<u8>(gpu, |i| i);
    round_trips::<bool>(gpu, |i| i % 3 == 0);
    assert_eq!((memory_allocated(gpu), memory_allocated(Device::Sim(21))), (0, 0));
}

#[test]
fn only_what_a_tensor_shows_crosses_to_the_device() {
    let gpu = Device::Sim(22);
    let x = Tensor::zeros(&[100, 4]).select(1, 2);
    let there = x.to(gpu);
    assert_eq!((there.storage().nbytes(), memory_allocated(gpu)), (400, 512));
    assert_eq!(there.data_ptr() % 512, 0);
    let pageable = sim::transfers(22).on(Route::ToDevice(PAGEABLE));
    assert_eq!((pageable.count, pageable.bytes), (1, 400));
    there.to(gpu);
    x.pin_memory().to(gpu);
    there.to(Device::Cpu);
    let counts = Route::ALL.map(|route| sim::transfers(22).on(route).count);
    assert_eq!(counts, [1, 1, 1, 0, 0], "a tensor that is there already is not copied");
}

#[test]
fn a_blocking_copy_waits_and_a_pinned_one_need_not() {
    let gpu = Device::Sim(23);
    let x = Tensor::ones(&[3 << 20]);
    let pinned = x.pin_memory();
    assert!(pinned.is_pinned() && !x.is_pinned());
    // 12 MiB at 12 GB/s: 1,048,576 ns; staged at 16.4 GB/s before: 767,251.
    let (call, latency, crossing, staging) = (6_000, 4_000, 1_048_576, 767_251);
    let blocking = call + latency + crossing;
    let there = |x: &Tensor, waits: bool| {
        sim::reset(23);
        let there = if waits { x.to(gpu) } else { x.to_non_blocking(gpu) };
        (there, sim::clock(23).host_ns, sim::clock(23).device_ns)
    };
    let (_kept, host, device) = there(&x, true);
    assert_eq!((host, device), (blocking + staging, blocking + staging));
    let (_kept, host, device) = there(&x, false);
    // Without pinning it waits all the same, but for the last 64 KiB.
    assert_eq!((host, device), (blocking + staging - latency - 5_462, blocking + staging));
    let (_kept, host, device) = there(&pinned, true);
    assert_eq!((host, device), (blocking, blocking));
    let (_kept, host, device) = there(&pinned, false);
    assert_eq!((host, device), (call, blocking));
}

#[test]
fn a_pending_copy_holds_the_host_memory() {
    let gpu = Device::Sim(24);
    let source = Tensor::ones(&[1 << 20]).pin_memory();
    let there = source.to_non_blocking(gpu);
    assert_eq!(source.select(0, 5).item(), 1.0, "it may be read");
    let refusal = refused(|| source.zero_()).to_string();
    assert!(refusal.starts_with("zero_(f32") && refusal.contains("sim:24"), "{refusal}");
    gpu.synchronize().unwrap();
    source.zero_();
    let back = there.to_non_blocking(Device::Cpu);
    assert!(back.is_pinned());
    let refusal = refused(|| back.to_vec::<f32>()).to_string();
    assert!(refusal.contains("not here yet") && refusal.contains("synchronize"), "{refusal}");
    gpu.synchronize().unwrap();
    assert_eq!(back.to_vec::<f32>(), vec![1.0; 1 << 20]);
}

#[test]
fn a_full_device_gives_an_error_and_stays_usable() {
    let gpu = Device::Sim(25);
    sim::set_capacity(25, 64 << 20);
    let kept = Tensor::ones(&[12 << 20]).to(gpu);
    let host = Tensor::ones(&[8 << 20]);
    let before = (memory_allocated(gpu), memory_allocated(Device::Cpu));
    for _ in 0..3 {
        let error = catch(|| host.to(gpu)).unwrap_err();
        let Error::OutOfMemory { ref device, requested, allocated, capacity, .. } = error else {
            panic!("{error}")
        };
        assert_eq!((device.as_str(), requested), ("sim:25", 32 << 20));
        assert_eq!((allocated, capacity), (48 << 20, Some(64 << 20)));
        let says = ["32.00 MiB", "16.00 MiB", "64.00 MiB", "try: "];
        fails::<()>(Err(error), &says);
    }
    assert_eq!(memory_allocated(gpu), before.0, "a refused tensor counts nowhere");
    let half = catch(|| host.narrow(0, 0, 4 << 20).to(gpu)).unwrap();
    assert_eq!((half.numel(), kept.numel()), (4 << 20, 12 << 20));
    drop((half, kept));
    assert!(catch(|| Tensor::ones(&[16 << 20]).to(gpu)).is_ok(), "all of it is free again");
}

#[test]
fn a_gradient_takes_the_way_back() {
    let x = Tensor::ones(&[3]).requires_grad_(true);
    let y = x.to(Device::Sim(26)).to(Device::Cpu).mul_scalar(2.0);
    y.sum().backward();
    let gradient = x.grad().unwrap();
    assert_eq!((gradient.device(), gradient.to_vec::<f32>()), (Device::Cpu, vec![2.0; 3]));
}

#[test]
fn kernels_that_a_device_lacks_are_refused_by_name() {
    let x = Tensor::ones(&[2]).to(Device::Sim(27));
    let double = x.to(DType::F64);
    let refusal = refused(|| double.exp()).to_string();
    assert!(refusal.starts_with("exp(f64 [2] on sim:27"), "{refusal}");
    assert!(refusal.contains("no kernel for f64 on a GPU; convert with to()"), "{refusal}");
    let refusal = refused(|| x.add(&Tensor::ones(&[2]))).to_string();
    assert!(refusal.contains("the operands are on sim:27 and cpu"), "{refusal}");
}

// Errors that a program can catch

/// Asks a device that has no memory for some.
fn run_out(n: usize) -> Tensor {
    sim::set_capacity(n, 0);
    Tensor::ones(&[1]).to(Device::Sim(n))
}

#[test]
fn only_errors_are_caught() {
    assert_eq!(catch(|| 7), Ok(7));
    let nested = catch(|| catch(|| run_out(28)).is_err() && catch(|| 1) == Ok(1));
    assert_eq!(nested, Ok(true), "the inner one has it");
    let misuse = refused(|| catch(|| Tensor::ones(&[2]).add(&Tensor::ones(&[3]))));
    assert_eq!(misuse.op, "add", "a wrong program is no error");
    let other = std::panic::catch_unwind(|| catch(|| panic!("something else")));
    assert_eq!(other.unwrap_err().downcast_ref(), Some(&"something else"));
    let thread = std::thread::spawn(|| catch(|| run_out(28).numel()).is_err());
    assert!(thread.join().unwrap());
    let error: Box<dyn std::error::Error> = Box::new(catch(|| run_out(28)).unwrap_err());
    assert!(error.to_string().starts_with("out of memory on sim:28: 4 bytes were asked for"));
}

/// The test below runs this one in a process of its own, to see what is printed.
#[test]
fn one_error_is_caught_and_one_is_not() {
    if std::env::var_os("PRINTS").is_some() {
        println!("caught: {}", catch(|| run_out(29)).is_err());
        run_out(30);
    }
}

#[test]
fn a_caught_error_prints_nothing_and_another_one_a_sentence() {
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "one_error_is_caught_and_one_is_not", "--nocapture"]);
    let output = child.env("PRINTS", "1").output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout), String::from_utf8(output.stderr));
    assert!(!output.status.success() && out.unwrap().contains("caught: true"));
    let err = err.unwrap();
    assert!(err.contains(": out of memory on sim:30: 4 bytes were asked for"), "{err}");
    assert!(!err.contains("sim:29") && !err.contains("Box<dyn Any>"), "{err}");
}
