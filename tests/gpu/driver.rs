//! What CUDA's driver has to do for the engine: memory, copies, kernels, streams, events, errors.

#[path = "../engine/failed.rs"]
mod failed;
#[path = "../engine/floats.rs"]
mod floats;

use engine_room::driver::{DevicePtr, Driver, HostMemory, Launch, Module, Params};
use engine_room::memory::memory_allocated;
use engine_room::profiler::{Call, Event, GroupBy, Kind, profile, record_function};
use engine_room::{Device, Error, Tensor, cuda, sim};
use failed::fails;

/// What NVRTC makes of `tests/fixtures/gpu_cuda/kernels.cu`.
pub const KERNELS: &str = include_str!("../fixtures/gpu_cuda/kernels.ptx");

const PAGEABLE: HostMemory = HostMemory::Pageable;
const PINNED: HostMemory = HostMemory::Pinned;

/// Every case, by name.
pub const CASES: &[(&str, fn())] = &[
    ("memory_is_given_and_taken_back", memory_is_given_and_taken_back),
    ("a_full_gpu_says_so_and_stays_usable", a_full_gpu_says_so_and_stays_usable),
    ("bytes_come_back_as_they_went", bytes_come_back_as_they_went),
    ("copies_beside_an_allocation_are_refused", copies_beside_an_allocation_are_refused),
    ("a_kernel_adds_two_vectors", a_kernel_adds_two_vectors),
    ("shared_memory_arrives_in_any_amount", shared_memory_arrives_in_any_amount),
    ("launches_that_cannot_be_are_refused", launches_that_cannot_be_are_refused),
    ("ptx_that_is_none_is_refused", ptx_that_is_none_is_refused),
    ("events_follow_their_stream", events_follow_their_stream),
    ("what_belongs_to_another_device_is_refused", what_belongs_to_another_device_is_refused),
    ("pinned_tensors_cross_without_waiting", pinned_tensors_cross_without_waiting),
    ("pinned_memory_may_go_while_it_is_copied", pinned_memory_may_go_while_it_is_copied),
    ("threads_share_the_gpu", threads_share_the_gpu),
    ("a_profile_measures_kernels_by_events", a_profile_measures_kernels_by_events),
];

/// The first NVIDIA GPU. Whoever calls a case has seen that it is there.
pub fn gpu() -> &'static dyn Driver {
    cuda::cuda(0).expect("an NVIDIA GPU")
}

fn upload(values: &[f32]) -> DevicePtr {
    floats::upload(gpu(), values)
}

fn download(at: DevicePtr, count: usize) -> Vec<f32> {
    floats::download(gpu(), at, count)
}

fn free(allocations: &[DevicePtr]) {
    allocations.iter().for_each(|&at| gpu().free(at).unwrap());
}

fn kernels() -> Module {
    gpu().load("kernels.ptx", KERNELS).unwrap()
}

fn launch<'a>(module: Module, kernel: &'a str, threads: u32, params: &'a Params) -> Launch<'a> {
    let (grid, block) = ([1, 1, 1], [threads, 1, 1]);
    Launch { module, kernel, grid, block, shared_bytes: 0, params }
}

fn memory_is_given_and_taken_back() {
    let (first, second) = (gpu().alloc(100).unwrap(), gpu().alloc(1 << 20).unwrap());
    assert_eq!((first.0 % 256, second.0 % 256), (0, 0));
    assert_eq!((gpu().alloc(0), gpu().free(DevicePtr::NULL)), (Ok(DevicePtr::NULL), Ok(())));
    fails(gpu().free(first.offset(4)), &["cuda:0: free(", "no live allocation begins there"]);
    assert_eq!((gpu().free(first), gpu().free(second)), (Ok(()), Ok(())));
    fails(gpu().free(first), &["no live allocation begins there"]);
}

fn a_full_gpu_says_so_and_stays_usable() {
    let capacity = gpu().capacity();
    assert!(capacity > 1 << 28, "{capacity}");
    let Err(Error::OutOfMemory { device, requested, capacity: Some(has), .. }) =
        gpu().alloc(2 * capacity)
    else {
        panic!("twice the memory that is there was not refused as such")
    };
    assert_eq!((device.as_str(), requested, has), ("cuda:0", 2 * capacity, capacity));
    gpu().free(gpu().alloc(1 << 20).unwrap()).unwrap();
}

fn bytes_come_back_as_they_went() {
    let stream = gpu().default_stream();
    for count in [0, 1, 31, 4095, 4097, (1 << 20) + 1] {
        let sent: Vec<u8> = (0..count).map(|i| (i * i % 251) as u8).collect();
        let (first, second) = (gpu().alloc(count).unwrap(), gpu().alloc(count).unwrap());
        // Memory that is called pinned and is not page-locked is waited for.
        for host in [PAGEABLE, PINNED] {
            let event = gpu().copy_to_device(first, &sent, host, stream).unwrap();
            assert_eq!(event.is_some(), host == PINNED);
            event.into_iter().for_each(|event| gpu().release(event));
            gpu().copy_on_device(second, first, count, stream).unwrap();
            let mut read = vec![0xff; count as usize];
            let event = gpu().copy_to_host(&mut read, second, host, stream).unwrap();
            event.into_iter().for_each(|event| gpu().release(event));
            assert!(read == sent, "{count} bytes, {host:?}");
        }
        gpu().free(first).unwrap();
        gpu().free(second).unwrap();
    }
}

fn copies_beside_an_allocation_are_refused() {
    let (at, stream) = (gpu().alloc(100).unwrap(), gpu().default_stream());
    let read = |offset: u64, bytes| {
        gpu().copy_to_host(&mut vec![0; bytes], at.offset(offset), PAGEABLE, stream)
    };
    assert!(read(0, 100).is_ok() && read(99, 1).is_ok() && read(100, 0).is_ok());
    let near = format!("100 bytes at {at}");
    fails(read(1, 100), &["copy_to_host: 100 bytes", "within a live allocation", &near]);
    fails(read(u64::MAX - 4, 9), &["copy_to_host: 9 bytes"]);
    fails(gpu().copy_to_device(DevicePtr(16), &[0; 4], PAGEABLE, stream), &["copy_to_device: 4"]);
    fails(gpu().copy_on_device(at.offset(8), at, 9, stream), &["copy_on_device", "overlap"]);
    gpu().copy_on_device(at.offset(9), at, 9, stream).unwrap();
    gpu().free(at).unwrap();
    fails(read(0, 1), &["within a live allocation"]);
}

fn a_kernel_adds_two_vectors() {
    let x: Vec<f32> = (0..256).map(|i| i as f32 / 3.0).collect();
    let y: Vec<f32> = (0..256).map(|i| (i * i) as f32).collect();
    let (at_x, at_y, z) = (upload(&x), upload(&y), gpu().alloc(1024).unwrap());
    let params = Params::new().pointer(at_x).pointer(at_y).pointer(z);
    let mut add = launch(kernels(), "add", 64, &params);
    add.grid = [4, 1, 1];
    gpu().launch(&add, gpu().default_stream()).unwrap();
    let sums: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
    assert_eq!(download(z, 256), sums);
    free(&[at_x, at_y, z]);
}

/// A float a thread, 4 KiB, and 48 floats a thread, more than is given without asking.
fn shared_memory_arrives_in_any_amount() {
    let module = kernels();
    for (threads, columns) in [(64_usize, 1_usize), (64, 16), (256, 50)] {
        let x: Vec<f32> = (0..threads).map(|i| i as f32).collect();
        let (at_x, y) = (upload(&x), gpu().alloc(4 * threads as u64).unwrap());
        let params = Params::new().pointer(at_x).pointer(y).i32(columns as i32);
        let mut turn = launch(module, "turn", threads as u32, &params);
        turn.shared_bytes = (4 * threads * columns) as u32;
        gpu().launch(&turn, gpu().default_stream()).unwrap();
        let backwards: Vec<f32> = x.into_iter().rev().collect();
        assert_eq!(download(y, threads), backwards, "{} bytes", turn.shared_bytes);
        free(&[at_x, y]);
    }
}

fn launches_that_cannot_be_are_refused() {
    let (module, stream) = (kernels(), gpu().default_stream());
    let at = upload(&[1.0; 64]);
    let params = Params::new().pointer(at).pointer(at).pointer(at);
    let fine = launch(module, "add", 64, &params);
    let absent = Launch { kernel: "subtract", ..fine };
    let says = ["cuda:0: launch of subtract: CUDA_ERROR_NOT_FOUND (500)", "no kernel of that name"];
    fails(gpu().launch(&absent, stream), &says);
    let huge = Launch { block: [2048, 1, 1], ..fine };
    fails(gpu().launch(&huge, stream), &["launch of add: CUDA_ERROR_"]);
    let nobody = Launch { grid: [0, 1, 1], ..fine };
    fails(gpu().launch(&nobody, stream), &["launch of add: CUDA_ERROR_"]);
    gpu().launch(&fine, stream).unwrap();
    assert_eq!(download(at, 64), [2.0; 64], "the device is still usable");
    gpu().free(at).unwrap();
}

fn ptx_that_is_none_is_refused() {
    let wrong = KERNELS.replacen(".entry add(", ".entri add(", 1);
    fails(gpu().load("wrong.ptx", &wrong), &["cuda:0: load of wrong.ptx: CUDA_ERROR_INVALID_PTX"]);
    let newer = KERNELS.replace(".version 8.1", ".version 99.0");
    let says = ["newer.ptx: CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222)", "12.1 (R530)"];
    fails(gpu().load("newer.ptx", &newer), &says);
    fails(gpu().load("nul.ptx", "\0"), &["NUL"]);
}

fn events_follow_their_stream() {
    let (first, second) = (gpu().create_stream().unwrap(), gpu().create_stream().unwrap());
    let (x, y) = (upload(&[2.0; 32]), gpu().alloc(128).unwrap());
    let params = Params::new().pointer(x).pointer(y).i32(100_000);
    let slowly = launch(kernels(), "slowly", 32, &params);
    let before = gpu().record(first).unwrap();
    gpu().launch(&slowly, first).unwrap();
    let after = gpu().record(first).unwrap();
    // The second stream reads what the first writes.
    gpu().wait(second, &after).unwrap();
    let z = gpu().alloc(128).unwrap();
    gpu().copy_on_device(z, y, 128, second).unwrap();
    gpu().synchronize_stream(second).unwrap();
    assert_eq!((gpu().is_done(&before), gpu().is_done(&after)), (Ok(true), Ok(true)));
    assert_eq!(download(z, 32), [2.0; 32]);
    assert!(gpu().elapsed(&before, &after).unwrap() > 0);
    assert_eq!(gpu().elapsed(&before, &before), Ok(0));
    fails(gpu().elapsed(&after, &before), &["elapsed", "the first event came after the second"]);
    gpu().release(before);
    gpu().release(after);
    gpu().synchronize().unwrap();
    free(&[x, y, z]);
}

fn what_belongs_to_another_device_is_refused() {
    let other = sim::sim(63);
    let event = other.record(other.default_stream()).unwrap();
    let foreign = other.load("kernels.ptx", KERNELS).unwrap();
    let (params, stream) = (Params::new(), gpu().default_stream());
    fails(gpu().is_done(&event), &["cuda:0: is_done: the event is one of sim:63"]);
    fails(gpu().wait(stream, &event), &["wait: the event is one of sim:63"]);
    fails(gpu().record(other.default_stream()), &["stream 0 of sim:63 is not its own"]);
    let says = ["launch of add: module 0 of sim:63 is not its own"];
    fails(gpu().launch(&launch(foreign, "add", 1, &params), stream), &says);
    gpu().release(event);
}

fn pinned_tensors_cross_without_waiting() {
    let device = Device::cuda(0).unwrap();
    let numbers: Vec<f32> = (0..1 << 18).map(|i| i as f32).collect();
    let pinned = Tensor::from_vec(numbers.clone(), &[1 << 18]).pin_memory();
    assert!(pinned.is_pinned());
    let there = pinned.to_non_blocking(device);
    assert_eq!(there.device(), device);
    assert!(memory_allocated(device) >= 1 << 20);
    let back = there.to_non_blocking(Device::Cpu);
    assert!(back.is_pinned());
    device.synchronize().unwrap();
    assert!(back.to_vec::<f32>() == numbers);
    let truths = pinned.narrow(0, 0, 3).ge(&Tensor::ones(&[3])).pin_memory();
    let back = truths.to_non_blocking(device).to_non_blocking(Device::Cpu);
    device.synchronize().unwrap();
    assert_eq!(back.to_vec::<bool>(), [false, true, true]);
}

/// The driver must not be left with memory that is no longer there, in either direction.
fn pinned_memory_may_go_while_it_is_copied() {
    let device = Device::cuda(0).unwrap();
    for round in 0..20 {
        let value = round as f32;
        let there = Tensor::full(&[1 << 16], value).pin_memory().to_non_blocking(device);
        drop(there.to_non_blocking(Device::Cpu));
        // What was freed is taken up again at once, by numbers that must stay.
        let other = Tensor::full(&[1 << 16], -1.0);
        assert!(there.to(Device::Cpu).to_vec::<f32>().iter().all(|&x| x == value));
        assert!(other.to_vec::<f32>().iter().all(|&x| x == -1.0));
    }
}

fn threads_share_the_gpu() {
    let device = Device::cuda(0).unwrap();
    std::thread::scope(|scope| {
        for number in 0..4 {
            scope.spawn(move || {
                for round in 0..10 {
                    let x = Tensor::full(&[1000], (number * 100 + round) as f32).to(device);
                    let y = x.add(&x).to(Device::Cpu).to_vec::<f32>();
                    assert_eq!(y, vec![2.0 * (number * 100 + round) as f32; 1000]);
                }
            });
        }
    });
}

/// Other cases may run at the same time; what this one asked for lies in its range.
fn a_profile_measures_kernels_by_events() {
    let device = Device::cuda(0).unwrap();
    let x = Tensor::ones(&[1 << 16]).to(device);
    drop(x.add(&x));
    let (_, profile) = profile(&[device, Device::Cpu, device], |_| {
        let _range = record_function("three adds");
        let sum = (0..3).fold(x.detach(), |sum, _| sum.add(&x));
        assert_eq!(sum.to(Device::Cpu).to_vec::<f32>(), vec![4.0; 1 << 16]);
    })
    .unwrap();
    let events = profile.events();
    let is_own = |&at: &usize| {
        let above = || profile.ancestors(at).map(|at| &events[at]);
        events[at].device == device && above().any(|event| event.name == "three adds")
    };
    let works: Vec<&Event> = (0..events.len()).filter(is_own).map(|at| &events[at]).collect();
    let kinds: Vec<Kind> = works.iter().map(|work| work.kind).collect();
    assert_eq!(kinds, [Kind::Kernel, Kind::Kernel, Kind::Kernel, Kind::Copy]);
    for work in &works {
        let call = &events[work.cause.expect("a call asked for it")];
        let asks = [Kind::Call(Call::Launch), Kind::Call(Call::Copy)];
        assert!(asks.contains(&call.kind) && call.start_ns <= work.start_ns, "{call:?} {work:?}");
        assert!(work.start_ns < work.end_ns, "{work:?}");
    }
    assert!(works.is_sorted_by(|a, b| a.lane == b.lane && a.end_ns <= b.start_ns), "{works:?}");
    let rows = profile.key_averages(GroupBy::Name).rows;
    let range = rows.iter().find(|row| row.key == "three adds").expect("a row");
    assert_eq!(range.device_time_total, works.iter().map(|work| work.duration_ns()).sum::<u64>());
    assert_eq!(profile.modelled(), None);
}
