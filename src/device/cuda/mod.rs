//! NVIDIA GPUs: devices that run the engine's PTX on silicon, through the driver alone.
//!
//! No toolkit is needed and nothing of it is linked; `api.rs` finds the driver's library when the
//! first GPU is asked for. A GPU is opened once and then is there until the program ends. It works
//! in the *primary context*, the one that CUDA's runtime, cuBLAS and PyTorch would use in the same
//! process.

mod api;
mod device;
mod errors;
mod kernels;
mod open;
mod pinned;

use std::fmt;
use std::sync::OnceLock;

pub use device::CudaDevice;
pub use pinned::PageLock;

use crate::device::Device;
use crate::error::Error;

/// How many GPUs the engine counts: `Cuda(0)` to `Cuda(63)`.
pub const MAX_DEVICES: usize = 64;

/// What there was to say when a GPU was asked for the first time.
static DEVICES: [OnceLock<Result<CudaDevice, Error>>; MAX_DEVICES] =
    [const { OnceLock::new() }; MAX_DEVICES];

/// The GPU with number `n`, opened at the first call: that takes some tenths of a second.
///
/// # Errors
/// A sentence on what is missing: the driver, a GPU of that number, a driver that is new enough for
/// the engine's PTX 8.1 (CUDA 12.1), or a GPU that is (compute capability 7.5). It stays so until
/// the program ends.
pub fn cuda(n: usize) -> Result<&'static CudaDevice, Error> {
    match DEVICES.get(n) {
        Some(device) => device.get_or_init(|| CudaDevice::open(n)).as_ref().map_err(Error::clone),
        None => Err(Error::Device {
            device: Device::Cuda(n).to_string(),
            message: errors::explain(errors::INVALID_DEVICE, None),
        }),
    }
}

/// The GPUs that this program has opened so far.
fn opened() -> impl Iterator<Item = &'static CudaDevice> {
    DEVICES.iter().filter_map(|device| device.get()?.as_ref().ok())
}

/// What the driver says of a GPU. Prints in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Properties {
    /// Its name, e.g. `NVIDIA H200`.
    pub name: String,
    /// Its compute capability: (9, 0) is what PTX calls `sm_90`.
    pub capability: (u32, u32),
    /// How many multiprocessors it has.
    pub multiprocessors: u32,
    /// Bytes of its memory.
    pub capacity: u64,
    /// The version of CUDA that the driver is for.
    pub driver: (u32, u32),
}

impl fmt::Display for Properties {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let ((major, minor), (cuda, update)) = (self.capability, self.driver);
        write!(
            f,
            "{}, compute capability {major}.{minor}, {} multiprocessors, {:.1} GiB, driver of CUDA \
             {cuda}.{update}",
            self.name,
            self.multiprocessors,
            self.capacity as f64 / (1u64 << 30) as f64,
        )
    }
}

/// What the driver says of GPU number `n`.
///
/// # Errors
/// As [`cuda`].
pub fn properties(n: usize) -> Result<&'static Properties, Error> {
    cuda(n).map(CudaDevice::properties)
}
