//! A block of a device's memory that is given back when nobody holds it any more.

use crate::device::Device;
use crate::device::driver::DevicePtr;
use crate::error::raise;
use crate::memory::{self, Tracked};

/// Some bytes in the memory of a device, for work of its default stream.
pub struct Allocation {
    device: Device,
    at: DevicePtr,
    bytes: u64,
    /// Its entry in the ledger, until a storage takes that over.
    tracked: Option<Tracked>,
}

impl Allocation {
    /// So many bytes on `device`; what stands in them is undefined. If the device has not that
    /// much left, it unwinds with an `Error`, which `catch` turns into a value.
    pub fn new(device: Device, bytes: u64) -> Allocation {
        let (at, taken) = memory::take(device, bytes).unwrap_or_else(|error| raise(error));
        let tracked = Some(Tracked::new(device, at.0, taken));
        Allocation { device, at, bytes, tracked }
    }

    /// The address of the first byte.
    pub fn at(&self) -> DevicePtr {
        self.at
    }

    /// How many bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Its entry in the ledger.
    pub fn take_tracked(&mut self) -> Tracked {
        self.tracked.take().expect("one storage takes it")
    }
}

impl Drop for Allocation {
    /// The block can be handed out again at once, while kernels that use it are pending: it goes to
    /// later work of the same stream.
    fn drop(&mut self) {
        memory::give_back(self.device, self.at);
    }
}
