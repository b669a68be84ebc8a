//! Launches that a GPU refuses, each limit by itself, and what it just allows (CUDA C++ Programming
//! Guide, "Technical Specifications per Compute Capability").

use engine_room_sim::exec::{Device, Kind, Launch, Options, Report};
use engine_room_sim::gpu::Gpu;
use engine_room_sim::ptx;

use crate::faults::WRONG;
use crate::rig::{by_hand, only};

/// Launches a kernel that does nothing, with these directives before its body.
fn launch_on(
    gpu: Gpu,
    directives: &str,
    (grid, block): ([u32; 3], [u32; 3]),
    (shared_bytes, params): (u32, usize),
) -> Report {
    let text = by_hand("ret;").replacen(
        "
        {",
        &format!("\n{directives}\n{{"),
        1,
    );
    let mut device = Device::new(gpu);
    let program = device.load(ptx::parse("hand.ptx", text.as_bytes()).unwrap()).unwrap();
    let (kernel, params) = ("k".to_string(), vec![0; params]);
    let launch = Launch { kernel, grid, block, shared_bytes, params };
    device.run(&program, &launch, &Options::default())
}

/// What a launch with this grid and block is told.
fn shape(grid: [u32; 3], block: [u32; 3], directives: &str) -> Report {
    launch_on(Gpu::A100, directives, (grid, block), (0, 16))
}

#[track_caller]
fn refused(report: Report, words: &str) {
    assert_eq!(report.counters, Default::default());
    let finding = only(report);
    assert_eq!(finding.kind, Kind::InvalidLaunch, "{finding}");
    assert!(finding.message.contains(words), "{finding}");
    assert_eq!((finding.places.len(), finding.address, finding.threads), (0, None, 0));
}

#[track_caller]
fn allowed(report: Report, warps: u64) {
    assert_eq!(report.findings, []);
    assert_eq!(report.counters.warp_instructions, warps, "one instruction for each warp");
}

#[test]
fn grids() {
    for grid in [[1 << 31, 1, 1], [u32::MAX, 1, 1], [1, 65536, 1], [1, 1, 65536]] {
        refused(shape(grid, [1, 1, 1], ""), &format!("grid {grid:?} is larger than"));
    }
    for at in 0..3 {
        let mut zero = [1, 1, 1];
        zero[at] = 0;
        refused(shape(zero, [1, 1, 1], ""), &format!("grid {zero:?} or block"));
        refused(shape([1, 1, 1], zero, ""), &format!("block {zero:?} has a zero"));
    }
    allowed(shape([65536, 1, 1], [1, 1, 1], ""), 65536);
    allowed(shape([1, 65535, 1], [1, 1, 1], ""), 65535);
    allowed(shape([1, 1, 65535], [1, 1, 1], ""), 65535);
}

#[test]
fn blocks() {
    for block in [[1025, 1, 1], [1, 1025, 1], [1, 1, 65], [33, 32, 1], [16, 1, 64 + 1], [4, 5, 64]]
    {
        refused(shape([1, 1, 1], block, ""), &format!("block {block:?} is larger than"));
    }
    refused(shape([1, 1, 1], [u32::MAX, u32::MAX, 64], ""), "is larger than");
    for block in [[1024, 1, 1], [1, 1024, 1], [16, 1, 64], [32, 32, 1], [4, 4, 64]] {
        allowed(shape([1, 1, 1], block, ""), 32);
    }
}

#[test]
fn bounds_of_the_kernel() {
    refused(
        shape([1, 1, 1], [65, 1, 1], ".maxntid 64"),
        "65 threads a block: the kernel allows 64",
    );
    refused(shape([1, 1, 1], [8, 9, 1], ".maxntid 8, 8, 1"), "72 threads a block");
    allowed(shape([1, 1, 1], [64, 1, 1], ".maxntid 8, 8, 1"), 2);
    allowed(shape([1, 1, 1], [16, 4, 1], ".maxntid 8, 8, 1"), 2);
    let exactly = "is not the one the kernel demands: [64, 1, 1]";
    refused(shape([1, 1, 1], [32, 1, 1], ".reqntid 64"), exactly);
    refused(shape([1, 1, 1], [32, 2, 1], ".reqntid 64"), exactly);
    allowed(shape([1, 1, 1], [64, 1, 1], ".reqntid 64"), 2);
    let mut device = Device::new(Gpu::A100);
    let program = device.load(ptx::parse("wrong.ptx", WRONG.as_bytes()).unwrap()).unwrap();
    let (kernel, params) = ("bounded".to_string(), vec![0; 8]);
    let block = [129, 1, 1];
    let launch = Launch { kernel, grid: [1; 3], block, shared_bytes: 0, params };
    let report = device.run(&program, &launch, &Options::default());
    refused(report, "129 threads a block: the kernel allows 128");
}

#[test]
fn names_and_parameters() {
    for bytes in [0, 8, 15, 17, 24] {
        let report = launch_on(Gpu::A100, "", ([1; 3], [1; 3]), (0, bytes));
        refused(report, &format!("the kernel has 16 bytes of parameters; {bytes} were given"));
    }
    let mut device = Device::new(Gpu::A100);
    let program = device.load(ptx::parse("wrong.ptx", WRONG.as_bytes()).unwrap()).unwrap();
    // There is a function `endless`, but no kernel.
    for name in ["", "stores", "_Z7endlessi"] {
        let kernel = name.to_string();
        let launch =
            Launch { kernel, grid: [1; 3], block: [1; 3], shared_bytes: 0, params: vec![] };
        let report = device.run(&program, &launch, &Options::default());
        refused(report, &format!("the module has no kernel `{name}`"));
    }
}

/// The most shared memory of a block: 64 KiB of compute capability 7.5, 163 of 8.0, 227 of 9.0. The
/// kernel declares 16 KiB.
#[test]
fn shared_memory() {
    for (gpu, most) in [(Gpu::T4, 64), (Gpu::A100, 163), (Gpu::H100, 227), (Gpu::H200, 227)] {
        let dynamic = (most - 16) * 1024;
        allowed(launch_on(gpu, "", ([1; 3], [1; 3]), (dynamic, 16)), 1);
        for more in [1, 1024, u32::MAX - dynamic] {
            let dynamic = dynamic + more;
            let finding = only(launch_on(gpu, "", ([1; 3], [1; 3]), (dynamic, 16)));
            assert_eq!(finding.kind, Kind::SharedOverflow);
            let say = format!(
                "a block needs {} bytes of shared memory (16384 declared, {dynamic} dynamic); a \
                 block on {gpu} can have {}",
                u64::from(dynamic) + 16384,
                most * 1024
            );
            assert_eq!(finding.message, say);
        }
    }
}

#[test]
fn static_shared_memory() {
    let mut device = Device::new(Gpu::H100);
    let program = device.load(ptx::parse("wrong.ptx", WRONG.as_bytes()).unwrap()).unwrap();
    let (kernel, params) = ("fat".to_string(), vec![0; 8]);
    let launch = Launch { kernel, grid: [1; 3], block: [1; 3], shared_bytes: 0, params };
    let finding = only(device.run(&program, &launch, &Options::default()));
    assert_eq!(finding.kind, Kind::SharedOverflow);
    assert!(finding.message.contains("(240000 declared, 0 dynamic)"), "{finding}");
}
