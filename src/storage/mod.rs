//! Storage: the bytes that tensors share, with a borrow flag and a version counter.
//!
//! Contract: whoever reads or writes the numbers holds a guard. Many readers may hold one, or one
//! writer. A conflict panics at once and names both operations; nothing ever waits, so nothing can
//! deadlock. Each write raises the version, so that autograd can tell that a saved tensor changed.
//! A copy that a device has not finished counts as a guard too.

mod guard;
mod pending;

pub(crate) use guard::{Reading, Writing};
pub(crate) use pending::Pending;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

use crate::device::cuda::PageLock;
use crate::device::{Allocation, Device};
use crate::dtype::{Buffer, DType, Element};
use crate::memory::{Role, Tracked};
use pending::InFlight;

/// A block of memory on a device. Tensors that are views of one another share it.
pub struct Storage {
    /// First, so that it is dropped first: it waits for the copies that use the memory.
    in_flight: InFlight,
    /// Second: page-locked memory must not go before it is unlocked.
    page_lock: Option<PageLock>,
    /// Counted out before the memory goes, which may be somebody else's a moment later.
    memory: Tracked,
    /// Only ever tried, never waited for: that makes it the borrow flag.
    contents: RwLock<Contents>,
    /// The operations that hold a guard, for the message of a conflict.
    holders: Mutex<Vec<&'static str>>,
    version: AtomicU64,
    /// The operation that raised the version last, for the message of autograd.
    last_writer: Mutex<&'static str>,
    bytes: u64,
    dtype: DType,
}

/// Where the numbers are.
enum Contents {
    /// In the memory of the host.
    Host(Buffer),
    /// In the memory of a device, out of the host's reach.
    Device(Allocation),
}

impl Storage {
    /// Puts host values into a storage of the CPU; nothing is copied.
    ///
    /// A vector with room to spare gives it back, so that what is counted is what is held.
    pub fn new<T: Element>(mut values: Vec<T>) -> Storage {
        values.shrink_to_fit();
        Storage::of_buffer(T::into_buffer(values), None)
    }

    /// A storage of the CPU over a buffer of any type; of its memory if that is page-locked.
    pub(crate) fn of_buffer(buffer: Buffer, page_lock: Option<PageLock>) -> Storage {
        let (dtype, bytes, address) = (buffer.dtype(), buffer.nbytes(), buffer.bytes().as_ptr());
        let memory = Tracked::new(Device::Cpu, address as u64, bytes as u64);
        Storage::over(Contents::Host(buffer), dtype, memory, bytes as u64, page_lock)
    }

    /// A storage of a device over memory of it.
    pub(crate) fn of_device(dtype: DType, mut allocation: Allocation) -> Storage {
        let memory = allocation.take_tracked();
        let bytes = allocation.bytes();
        Storage::over(Contents::Device(allocation), dtype, memory, bytes, None)
    }

    fn over(
        contents: Contents,
        dtype: DType,
        memory: Tracked,
        bytes: u64,
        page_lock: Option<PageLock>,
    ) -> Storage {
        Storage {
            in_flight: InFlight::default(),
            page_lock,
            contents: RwLock::new(contents),
            holders: Mutex::new(Vec::new()),
            version: AtomicU64::new(0),
            last_writer: Mutex::new("nothing"),
            bytes,
            dtype,
            memory,
        }
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Where the bytes are.
    pub fn device(&self) -> Device {
        self.memory.device()
    }

    /// Whether the bytes are in page-locked memory of the host.
    pub fn is_pinned(&self) -> bool {
        self.page_lock.is_some()
    }

    /// The address of the first byte in the device's memory.
    pub fn address(&self) -> u64 {
        self.memory.address()
    }

    /// Bytes that the storage holds, whatever part of them a tensor shows.
    pub fn nbytes(&self) -> u64 {
        self.bytes
    }

    /// How often the numbers were changed in place.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// The operation that changed the numbers last.
    pub fn last_writer(&self) -> &'static str {
        *lock(&self.last_writer)
    }

    /// What the bytes are for.
    pub fn role(&self) -> Role {
        self.memory.role()
    }

    /// Says what the bytes are for; the counters of `memory` follow.
    pub fn set_role(&self, role: Role) {
        self.memory.set_role(role);
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} storage of {} bytes on {}", self.dtype, self.nbytes(), self.device())
    }
}

/// The locks here are held for a moment only, so waiting for one is bounded.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
