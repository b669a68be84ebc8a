//! The allocators of the devices: one for each that has a driver.
//!
//! On a simulated GPU the allocator says which bytes each tensor has, so that an access beside all
//! tensors is found as before. What it cannot find any more is an access of a neighbour, or of
//! memory that another tensor got meanwhile; [`Settings::caching`] switches the cache off, and then
//! each tensor lies alone. So does `ENGINE_ROOM_NO_MEMORY_CACHING=1` in the environment.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use crate::device::Device;
use crate::device::driver::{DevicePtr, Stream};
use crate::error::{Error, misuse, raise};
use crate::memory::Role;
use crate::memory::caching::{CachingAllocator, DriverSource, Settings};
use crate::memory::report;
use crate::memory::running::label;
use crate::profiler::{self, Kind};

type Shared = &'static Mutex<CachingAllocator<DriverSource>>;

/// The allocator of a device, locked. Under it only the driver is called.
pub(super) type Locked = MutexGuard<'static, CachingAllocator<DriverSource>>;

/// Whether the allocators begin with a cache; the environment is read once.
static CACHING: LazyLock<bool> =
    LazyLock::new(|| std::env::var_os("ENGINE_ROOM_NO_MEMORY_CACHING").is_none_or(|it| it != "1"));

static ALLOCATORS: Mutex<Option<HashMap<Device, Shared>>> = Mutex::new(None);

/// The allocator of a device that has a driver; made at its first use, for the rest of the program.
#[track_caller]
pub(super) fn allocator(device: Device) -> Locked {
    let mut allocators = ALLOCATORS.lock().unwrap_or_else(PoisonError::into_inner);
    let shared = *allocators.get_or_insert_default().entry(device).or_insert_with(|| {
        let mut allocator = CachingAllocator::new(DriverSource { device });
        allocator.set(Settings { caching: *CACHING, ..Settings::default() });
        Box::leak(Box::new(Mutex::new(allocator)))
    });
    drop(allocators);
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A block of a device for its default stream: its address, and the bytes that it takes up.
///
/// # Errors
/// `OutOfMemory` with a report if the device has not that much left.
pub(crate) fn take(device: Device, bytes: u64) -> Result<(DevicePtr, u64), Error> {
    let mut allocator = allocator(device);
    match allocator.alloc(bytes, device.driver().default_stream().id, label()) {
        Ok(at) => Ok((DevicePtr(at), allocator.block_size(at))),
        Err(Error::OutOfMemory { requested, allocated, capacity, .. }) => {
            let left = capacity.unwrap_or(0).saturating_sub(allocated);
            let report = report::out_of_memory(requested, left, &allocator);
            let device = device.to_string();
            Err(Error::OutOfMemory { device, requested, allocated, capacity, report })
        }
        Err(other) => Err(other),
    }
}

/// Gives a block back.
pub(crate) fn give_back(device: Device, at: DevicePtr) {
    // A driver that has failed cannot take memory back, and there is nobody to tell here.
    let _ = allocator(device).free(at.0);
}

/// Tells the allocator what a tensor's memory is for.
pub(super) fn change_role(device: Device, address: u64, role: Role) {
    if device != Device::Cpu && address != 0 {
        allocator(device).change_role(address, role);
    }
}

/// Work of `stream` uses the memory at an address too.
///
/// # Panics
/// If the device is the CPU, or the stream is one of another device.
#[track_caller]
pub(crate) fn record_stream(device: Device, address: u64, stream: Stream) {
    if stream.device != device {
        let message = format!("the stream is one of {}", stream.device);
        misuse("record_stream", &[&device], message);
    }
    if address != 0 {
        allocator(device).record_stream(address, stream.id);
    }
}

/// How the allocator of a device is set.
///
/// # Panics
/// With a `Misuse` for the CPU, whose memory has no such allocator; so does each function below.
#[track_caller]
pub fn allocator_settings(device: Device) -> Settings {
    allocator(device).settings()
}

/// Sets the allocator of a device.
///
/// # Panics
/// As [`CachingAllocator::set`].
#[track_caller]
pub fn set_allocator_settings(device: Device, settings: Settings) {
    allocator(device).set(settings);
}

/// Gives all memory back to the driver that no tensor has a part of. It waits for the device, and
/// makes room for other programs, not for this one: the allocator does it by itself before it
/// fails.
#[track_caller]
pub fn empty_cache(device: Device) {
    let _span = profiler::span(Kind::Range, "empty_cache");
    let emptied = allocator(device).empty_cache();
    emptied.unwrap_or_else(|error| raise(error));
}
