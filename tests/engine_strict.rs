//! Kernels that run past the end of a tensor: found where each tensor has memory of its own, as in
//! the tests of the engine's kernels, and not where the cache puts tensors side by side.

#[path = "gpu/agree.rs"]
mod agree;
#[path = "engine/failed.rs"]
mod failed;

use std::process::Command;

use agree::without_cache;
use engine_room::driver::{DevicePtr, Driver, Launch, Params};
use engine_room::memory::{Settings, allocator_settings, set_allocator_settings};
use engine_room::{Device, Error, Tensor, sim};
use failed::fails;

/// The first kernel of it adds two vectors and knows no bound.
const KERNELS: &str = include_str!("fixtures/gpu_cuda/kernels.ptx");

/// Adds 256 numbers of three tensors of 128: as many bytes as blocks of the cache have.
fn overrun(gpu: Device, n: usize) -> Result<(), Error> {
    let driver: &dyn Driver = sim::sim(n);
    let tensors: Vec<Tensor> = (0..6).map(|_| Tensor::zeros(&[128]).to(gpu)).collect();
    let module = driver.load("kernels.ptx", KERNELS)?;
    let params = [0, 2, 4]
        .iter()
        .fold(Params::new(), |params, &i| params.pointer(DevicePtr(tensors[i].data_ptr())));
    let (grid, block) = ([2, 1, 1], [128, 1, 1]);
    let launch = Launch { module, kernel: "add", grid, block, shared_bytes: 0, params: &params };
    driver.launch(&launch, driver.default_stream())
}

#[test]
fn an_overrun_into_the_next_tensor_is_found_without_the_cache() {
    set_allocator_settings(Device::Sim(1), Settings::default());
    assert_eq!(overrun(Device::Sim(1), 1), Ok(()), "the neighbour's bytes are some tensor's");
    let found = overrun(without_cache(2), 2);
    fails(found, &["kernels.cu:7", "out_of_bounds", "512"]);
    assert!(!allocator_settings(without_cache(0)).caching);
}

/// The test below runs this one in a process of its own.
#[test]
fn overruns_are_found_if_the_environment_says_so() {
    if let Ok(set) = std::env::var("ENGINE_ROOM_NO_MEMORY_CACHING") {
        assert_eq!(overrun(Device::Sim(3), 3).is_err(), set == "1", "{set}");
    }
}

#[test]
fn the_environment_switches_the_cache_off() {
    for set in ["1", "0"] {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "overruns_are_found_if_the_environment_says_so"]);
        let output = child.env("ENGINE_ROOM_NO_MEMORY_CACHING", set).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{set}: {said}");
    }
}
