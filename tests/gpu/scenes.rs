//! What costs a process its GPU, each scene in a process of its own.

use std::process::{Command, Output};

use engine_room::driver::{DevicePtr, HostMemory, Launch, Params};
use engine_room::{Device, cuda};

use crate::driver::{KERNELS, gpu};

/// Every case, by name.
pub const CASES: &[(&str, fn())] = &[
    ("a_kernel_that_fails_costs_the_gpu_and_says_why", a_kernel_that_fails_costs_the_gpu),
    ("a_driver_that_is_not_right_is_refused_in_words", a_driver_that_is_not_right),
];

/// A scene, what the stand-in for the driver is asked for, and what must be said.
type Scene = (&'static str, &'static str, &'static [&'static str]);

/// On any GPU.
const FAILURES: [Scene; 3] = [
    ("wild", "", &["CUDA_ERROR_ILLEGAL_ADDRESS (700): a kernel read or wrote memory", "lost"]),
    ("misaligned", "", &["CUDA_ERROR_MISALIGNED_ADDRESS (716): a kernel read or wrote at", "lost"]),
    ("trapped", "", &["cuda:0: synchronize: CUDA_ERROR_", "lost to this process"]),
];

/// On the stand-in only: a real driver cannot be made to.
const DRIVERS: [Scene; 8] = [
    ("open", "version=11080", &["UNSUPPORTED_PTX_VERSION (222)", "the driver of CUDA 11.8: upda"]),
    ("open", "capability=61", &["NO_BINARY_FOR_GPU (209)", "stand-in for CUDA has 6.1"]),
    ("open", "cuInit=100", &["cuda:0: CUDA_ERROR_NO_DEVICE (100): the driver finds no NVIDIA GPU"]),
    ("open", "cuInit=803", &["CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)", "restart the machine"]),
    ("open", "cuInit=916", &["cuda:0: CUDA_ERROR_KEY_ROTATION (916); NVIDIA's"]),
    ("open", "cuDevicePrimaryCtxRetain=46", &["CUDA_ERROR_DEVICE_UNAVAILABLE (46)"]),
    ("open", "cuStreamCreate=2", &["create_stream: CUDA_ERROR_OUT_OF_MEMORY (2)"]),
    ("add", "cuModuleLoadDataEx=221", &["load of kernels.ptx: CUDA_ERROR_JIT_COMPILER_NOT_FOUND"]),
];

/// Plays a scene in this process and prints the errors that it ends with.
pub fn play(scene: &str) {
    let error = match scene {
        "open" => Device::cuda(0).map(|_| ()),
        "beyond" => Device::cuda(60).map(|_| ()),
        _ => run(scene),
    };
    println!("{}", error.expect_err("the scene ends in an error"));
    if !["open", "beyond", "add"].contains(&scene) {
        println!("{}", gpu().alloc(1).expect_err("a lost device allocates nothing"));
        let stream = gpu().default_stream();
        let copied = gpu().copy_to_host(&mut [0; 4], DevicePtr(0), HostMemory::Pageable, stream);
        copied.expect_err("a lost device copies nothing");
    }
}

/// Launches a kernel that fails, and waits for it.
fn run(scene: &str) -> Result<(), engine_room::Error> {
    let (gpu, kernel) = (gpu(), if scene == "wild" { "add" } else { scene });
    let module = gpu.load("kernels.ptx", KERNELS)?;
    let (at, stream) = (gpu.alloc(4)?, gpu.default_stream());
    gpu.copy_to_device(at, &3_i32.to_le_bytes(), HostMemory::Pageable, stream)?;
    let wild = if scene == "wild" { DevicePtr(0x10_0000_0000) } else { at };
    let params = match kernel {
        "add" => Params::new().pointer(wild).pointer(wild).pointer(wild),
        _ => Params::new().pointer(at),
    };
    let (grid, block) = ([1, 1, 1], [1, 1, 1]);
    gpu.launch(&Launch { module, kernel, grid, block, shared_bytes: 0, params: &params }, stream)?;
    gpu.synchronize()
}

fn played(scene: &str, asked: &str) -> Output {
    let mut child = Command::new(std::env::current_exe().expect("this program has a path"));
    child.env("GPU_CUDA_SCENE", scene).env("FAKE_CUDA", asked).env("FAKE_CUDA_QUIET", "1");
    child.output().expect("this program can be started again")
}

#[track_caller]
fn says((scene, asked, parts): Scene) {
    let done = played(scene, asked);
    let out = String::from_utf8_lossy(&done.stdout);
    print!("{scene} {asked}: {out}");
    assert!(done.status.success(), "{scene}: {}", String::from_utf8_lossy(&done.stderr));
    for part in parts {
        assert!(out.contains(part), "{scene} {asked}: no '{part}' in {out}");
    }
}

fn a_kernel_that_fails_costs_the_gpu() {
    for scene in FAILURES {
        says(scene);
        let kernel = if scene.0 == "wild" { "add" } else { scene.0 };
        let launched = format!("launched last: {kernel}");
        let out = played(scene.0, scene.1).stdout;
        assert!(String::from_utf8_lossy(&out).contains(&launched), "no '{launched}'");
    }
}

fn a_driver_that_is_not_right() {
    says(("beyond", "", &["cuda:60: CUDA_ERROR_INVALID_DEVICE (101)", "the driver counts "]));
    if cuda::properties(0).is_ok_and(|gpu| gpu.name == "stand-in for CUDA") {
        DRIVERS.into_iter().for_each(says);
    }
}
