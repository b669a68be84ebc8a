//! A block of a device's memory that is given back when nobody holds it any more.

use crate::device::Device;
use crate::device::driver::{DevicePtr, Driver};
use crate::error::raise;

/// Some bytes in the memory of a device.
pub struct Allocation {
    driver: &'static dyn Driver,
    at: DevicePtr,
    bytes: u64,
}

impl Allocation {
    /// So many bytes on `device`; what stands in them is undefined. If the device has not that
    /// much left, it unwinds with an `Error`, which `catch` turns into a value.
    pub fn new(device: Device, bytes: u64) -> Allocation {
        let driver = device.driver();
        let at = driver.alloc(bytes).unwrap_or_else(|error| raise(error));
        Allocation { driver, at, bytes }
    }

    /// The address of the first byte.
    pub fn at(&self) -> DevicePtr {
        self.at
    }

    /// How many bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // A driver that has failed cannot take memory back, and there is nobody to tell here.
        let _ = self.driver.free(self.at);
    }
}
