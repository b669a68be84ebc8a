//! Kernels through the driver of a simulated GPU: right numbers, typed errors, modelled times.
//!
//! Devices belong to the process, so each test has one of its own.

#[path = "engine/failed.rs"]
mod failed;
#[path = "engine/floats.rs"]
mod floats;

use engine_room::driver::{DevicePtr, Driver, HostMemory, Launch, Module, Params, Stream};
use engine_room::{Error, sim};
use failed::fails;
use floats::{download, upload};

/// What NVRTC makes of `tests/fixtures/gpu_sim/kernels.cu`.
const KERNELS: &str = include_str!("fixtures/gpu_sim/kernels.ptx");

/// A device with the kernels loaded and nothing on its clock.
fn device(n: usize) -> (&'static dyn Driver, Module) {
    let gpu: &dyn Driver = sim::sim(n);
    let module = gpu.load("kernels.ptx", KERNELS).unwrap();
    sim::reset(n);
    (gpu, module)
}

fn times(n: usize) -> (u64, u64) {
    (sim::clock(n).host_ns, sim::clock(n).device_ns)
}

/// `add`: z = x + y, by as many threads as there are numbers.
fn add(module: Module, blocks: u32, threads: u32, params: &Params) -> Launch<'_> {
    let (grid, block) = ([blocks, 1, 1], [threads, 1, 1]);
    Launch { module, kernel: "add", grid, block, shared_bytes: 0, params }
}

#[test]
fn a_kernel_adds_two_vectors() {
    let (gpu, module) = device(40);
    let x: Vec<f32> = (0..256).map(|i| i as f32 / 3.0).collect();
    let y: Vec<f32> = (0..256).map(|i| (i * i) as f32).collect();
    let (on_x, on_y, z) = (upload(gpu, &x), upload(gpu, &y), gpu.alloc(1024).unwrap());
    let params = Params::new().pointer(on_x).pointer(on_y).pointer(z);
    gpu.launch(&add(module, 4, 64, &params), gpu.default_stream()).unwrap();
    let sums: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
    assert_eq!(download(gpu, z, 256), sums);
    let launches = sim::launches(40);
    assert_eq!((launches.count, launches.counters.flops), (1, 256));
    // Eight warps read 128 bytes, four sectors, of each vector.
    assert_eq!(launches.counters.global_load_requests, 16);
    assert_eq!(launches.counters.global_load_sectors, 64);
    assert_eq!(sim::launches_of(40, "add"), launches);
    assert_eq!(sim::launches_of(40, "turn"), sim::Launches::default());
    sim::reset(40);
    assert_eq!(sim::launches(40), sim::Launches::default());
    assert_eq!(sim::launches_of(40, "add"), sim::Launches::default());
}

#[test]
fn shared_memory_and_padded_parameters_arrive() {
    let (gpu, module) = device(41);
    let (x, y) = (upload(gpu, &[1.0, 2.0, 3.0, 4.0]), gpu.alloc(16).unwrap());
    let params = Params::new().pointer(x).pointer(y).i32(3);
    let mut launch = add(module, 1, 4, &params);
    (launch.kernel, launch.shared_bytes) = ("turn", 4 * 4 * 3);
    gpu.launch(&launch, gpu.default_stream()).unwrap();
    assert_eq!(download(gpu, y, 4), [4.0, 3.0, 2.0, 1.0]);
    launch.shared_bytes = 4 * 4;
    fails(
        gpu.launch(&launch, gpu.default_stream()),
        &["launch of turn", "out_of_bounds", "shared"],
    );
    let padded = Params::new().i32(1).pointer(DevicePtr(0x0807_0605_0403_0201)).f32(1.0);
    let bytes = [1, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0x80, 0x3f];
    assert_eq!(padded.bytes(), bytes);
}

#[test]
fn launches_are_counted_by_kernel() {
    let (gpu, module) = device(48);
    let (x, y) = (upload(gpu, &[1.0, 2.0, 3.0, 4.0]), gpu.alloc(16).unwrap());
    let params = Params::new().pointer(x).pointer(x).pointer(y);
    let turned = Params::new().pointer(x).pointer(y).i32(3);
    let turn = Launch { kernel: "turn", shared_bytes: 48, ..add(module, 1, 4, &turned) };
    for launch in [add(module, 1, 4, &params), turn, add(module, 1, 4, &params)] {
        gpu.launch(&launch, gpu.default_stream()).unwrap();
    }
    let [added, turned] = ["add", "turn"].map(|kernel| sim::launches_of(48, kernel));
    assert_eq!((added.count, added.counters.flops), (2, 8));
    assert_eq!((turned.count, turned.counters.flops), (1, 0));
    assert_eq!(sim::launches(48).count, 3);
    assert_eq!(sim::launches(48).modelled_ns, added.modelled_ns + turned.modelled_ns);
}

#[test]
fn what_goes_wrong_in_a_kernel_is_an_error_with_its_place() {
    let (gpu, module) = device(42);
    let (x, y, z) = (upload(gpu, &[1.0; 50]), upload(gpu, &[2.0; 64]), upload(gpu, &[0.0; 64]));
    let params = Params::new().pointer(x).pointer(y).pointer(z);
    let launched = gpu.launch(&add(module, 2, 32, &params), gpu.default_stream());
    let nearest = format!("the nearest allocation has 200 bytes at {x}, which ends 0 bytes before");
    fails(
        launched,
        &[
            "sim:42: launch of add: out_of_bounds at kernels.cu:8",
            "block (1, 0, 0), thread (18, 0, 0) and 13 more",
            &format!("{}", x.offset(200)),
            &nearest,
        ],
    );
    assert!(times(42).1 > 0, "it took its time");
    assert_eq!(download(gpu, z, 64)[49], 3.0, "the other threads went on");
    gpu.free(x).unwrap();
    let launched = gpu.launch(&add(module, 1, 32, &params), gpu.default_stream());
    fails(launched, &["use_after_free", "it was freed"]);
}

#[test]
fn a_launch_that_cannot_be_made_changes_nothing() {
    let (gpu, module) = device(43);
    let (other, foreign) = device(44);
    let stream = gpu.default_stream();
    let params = Params::new().pointer(DevicePtr(64));
    let fine = add(module, 1, 32, &params);
    let refused = |launch: Launch, stream: Stream, says: &[&str]| {
        fails(gpu.launch(&launch, stream), says);
    };
    refused(fine, stream, &["add", "24 bytes of parameters; 8 were given"]);
    refused(Launch { kernel: "sub", ..fine }, stream, &["no kernel `sub`"]);
    refused(Launch { grid: [0, 1, 1], ..fine }, stream, &["invalid_launch", "has a zero"]);
    refused(Launch { block: [1025, 1, 1], ..fine }, stream, &["1,024 threads"]);
    refused(Launch { kernel: "endless", shared_bytes: 65_537, ..fine }, stream, &["65537 bytes"]);
    refused(Launch { module: foreign, ..fine }, stream, &["module 0 of sim:44"]);
    refused(fine, other.default_stream(), &["stream 0 of sim:44"]);
    let params = Params::new().pointer(DevicePtr(0)).pointer(DevicePtr(0));
    let texture = Launch { kernel: "texture", params: &params, ..fine };
    refused(texture, stream, &["unsupported", "kernels.cu:72", "tex"]);
    assert_eq!((times(43), sim::launches(43)), ((0, 0), sim::Launches::default()));
    let broken = KERNELS.replace("st.global.f32", "st.global.f32 %");
    fails(gpu.load("broken.ptx", &broken), &["load: broken.ptx:"]);
}

#[test]
fn a_gpu_of_64_mib_runs_out() {
    let gpu: &dyn Driver = sim::sim(45);
    sim::set_capacity(45, 64 << 20);
    let [first, _second, _third] = [(); 3].map(|_| gpu.alloc(16 << 20).unwrap());
    let text = "
        .version 8.1
        .target sm_75
        .address_size 64
        .visible .global .align 4 .b8 table[16777217];
        .visible .entry nothing() { ret; }";
    let full = gpu.load("table.ptx", text);
    let (requested, allocated) = ((16 << 20) + 1, 48 << 20);
    let (device, capacity) = ("sim:45".to_string(), Some(64 << 20));
    let report = String::new();
    assert_eq!(full, Err(Error::OutOfMemory { device, requested, allocated, capacity, report }));
    gpu.free(first).unwrap();
    let module = gpu.load("table.ptx", text).unwrap();
    assert!(gpu.alloc(16 << 20).is_err(), "the table takes up 512 bytes more than that");
    let params = Params::new();
    let launch = Launch { kernel: "nothing", ..add(module, 1, 1, &params) };
    gpu.launch(&launch, gpu.default_stream()).unwrap();
}

#[test]
fn events_around_a_launch_and_a_copy_beside_it() {
    let (gpu, module) = device(46);
    let (x, y, z) =
        (upload(gpu, &[1.0; 1024]), upload(gpu, &[2.0; 1024]), gpu.alloc(4096).unwrap());
    let big = gpu.alloc(12 << 20).unwrap();
    let (a, b) = (gpu.default_stream(), gpu.create_stream().unwrap());
    let params = Params::new().pointer(x).pointer(y).pointer(z);
    let launch = add(module, 4, 256, &params);
    gpu.synchronize().unwrap();
    sim::reset(46);
    gpu.launch(&launch, a).unwrap();
    let kernel = sim::launches(46).modelled_ns;
    assert_eq!(times(46), (3_000, 3_000 + 4_400 + kernel));
    sim::reset(46);
    // 12 MiB at 12 GB/s and the latency keep the stream busy until both events are recorded.
    let copy = 1_048_576 + 4_000;
    gpu.copy_to_device(big, &vec![0; 12 << 20], HostMemory::Pinned, a).unwrap();
    let from = gpu.record(a).unwrap();
    gpu.launch(&launch, a).unwrap();
    let to = gpu.record(a).unwrap();
    gpu.launch(&launch, b).unwrap();
    assert_eq!(times(46), (12_000, 6_000 + copy + kernel), "the kernel in b runs beside the copy");
    fails(gpu.elapsed(&from, &to), &["not done"]);
    gpu.synchronize().unwrap();
    assert_eq!(gpu.elapsed(&from, &to), Ok(kernel));
}

#[test]
fn a_kernel_may_print() {
    let (gpu, module) = device(47);
    let params = Params::new().f32(2.5);
    let launch = Launch { kernel: "hello", ..add(module, 1, 2, &params) };
    gpu.launch(&launch, gpu.default_stream()).unwrap();
    assert_eq!(sim::launches(47).count, 1);
}
