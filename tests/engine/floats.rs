//! Numbers to a device and back, by its driver.

use engine_room::driver::{DevicePtr, Driver, HostMemory};

/// Memory of the device that holds these numbers.
pub fn upload(gpu: &dyn Driver, values: &[f32]) -> DevicePtr {
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    let at = gpu.alloc(bytes.len() as u64).unwrap();
    gpu.copy_to_device(at, &bytes, HostMemory::Pageable, gpu.default_stream()).unwrap();
    at
}

/// So many numbers from there.
pub fn download(gpu: &dyn Driver, at: DevicePtr, count: usize) -> Vec<f32> {
    let mut bytes = vec![0; 4 * count];
    gpu.copy_to_host(&mut bytes, at, HostMemory::Pageable, gpu.default_stream()).unwrap();
    bytes.chunks(4).map(|x| f32::from_le_bytes(x.try_into().unwrap())).collect()
}
