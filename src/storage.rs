//! Storage: the bytes that tensors share, with a borrow flag and a version counter.
//!
//! Contract: whoever reads or writes the numbers holds a guard. Many readers may hold one, or one
//! writer. A conflict panics at once and names both operations; nothing ever waits, so nothing can
//! deadlock. Each write raises the version, so that autograd can tell that a saved tensor changed.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{
    Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
};

use crate::device::Device;
use crate::dtype::{Buffer, DType, Element};
use crate::error::misuse;
use crate::memory::{Role, Tracked};

/// A block of memory on a device. Tensors that are views of one another share it.
#[derive(Debug)]
pub struct Storage {
    /// Only ever tried, never waited for: that makes it the borrow flag.
    buffer: RwLock<Buffer>,
    /// The operations that hold a guard, for the message of a conflict.
    holders: Mutex<Vec<&'static str>>,
    version: AtomicU64,
    dtype: DType,
    device: Device,
    memory: Tracked,
}

impl Storage {
    /// Puts host values into a storage of the CPU; nothing is copied.
    ///
    /// A vector with room to spare gives it back, so that what is counted is what is held.
    pub fn new<T: Element>(mut values: Vec<T>) -> Storage {
        values.shrink_to_fit();
        let buffer = T::into_buffer(values);
        let device = Device::Cpu;
        Storage {
            memory: Tracked::new(device, buffer.nbytes() as u64),
            buffer: RwLock::new(buffer),
            holders: Mutex::new(Vec::new()),
            version: AtomicU64::new(0),
            dtype: T::DTYPE,
            device,
        }
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Where the bytes are.
    pub fn device(&self) -> Device {
        self.device
    }

    /// Bytes that the storage holds, whatever part of them a tensor shows.
    pub fn nbytes(&self) -> u64 {
        self.memory.bytes()
    }

    /// How often the numbers were changed in place.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// What the bytes are for.
    pub fn role(&self) -> Role {
        self.memory.role()
    }

    /// Says what the bytes are for; the counters of `memory` follow.
    pub fn set_role(&self, role: Role) {
        self.memory.set_role(role);
    }

    /// Borrows the numbers for reading on behalf of `op`.
    ///
    /// # Panics
    /// With a `Misuse` if another operation is writing them.
    #[track_caller]
    pub fn read(&self, op: &'static str) -> Reading<'_> {
        let guard = match self.buffer.try_read() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(guard)) => guard.into_inner(),
            Err(TryLockError::WouldBlock) => self.conflict(op, "read", "writing"),
        };
        Reading { _hold: Hold::new(self, op), guard }
    }

    /// Borrows the numbers for writing on behalf of `op` and raises the version.
    ///
    /// # Panics
    /// With a `Misuse` if another operation is reading or writing them.
    #[track_caller]
    pub fn write(&self, op: &'static str) -> Writing<'_> {
        let guard = match self.buffer.try_write() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(guard)) => guard.into_inner(),
            Err(TryLockError::WouldBlock) => self.conflict(op, "write", "using"),
        };
        self.version.fetch_add(1, Ordering::AcqRel);
        Writing { _hold: Hold::new(self, op), guard }
    }

    /// The lock is held for a moment only, so waiting for it is bounded.
    fn holders(&self) -> MutexGuard<'_, Vec<&'static str>> {
        self.holders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[track_caller]
    fn conflict(&self, op: &'static str, wants: &str, other: &str) -> ! {
        // The other one may have let go between the failed try and this look.
        let holder = self.holders().first().copied().unwrap_or("another operation");
        let what = format!("{} storage of {} bytes", self.dtype, self.nbytes());
        let message = format!(
            "wants to {wants} a storage that {holder} is {other} right now; \
             let one finish before the other starts, or give one of them a copy"
        );
        misuse(op, &[&what], message)
    }
}

/// The entry of a guard in the list of holders.
struct Hold<'a> {
    storage: &'a Storage,
    op: &'static str,
}

impl<'a> Hold<'a> {
    fn new(storage: &'a Storage, op: &'static str) -> Hold<'a> {
        storage.holders().push(op);
        Hold { storage, op }
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        let mut holders = self.storage.holders();
        let own = holders.iter().position(|&op| op == self.op);
        holders.remove(own.expect("it was entered when the guard was made"));
    }
}

/// A borrow for reading.
pub struct Reading<'a> {
    _hold: Hold<'a>,
    guard: RwLockReadGuard<'a, Buffer>,
}

impl Deref for Reading<'_> {
    type Target = Buffer;

    fn deref(&self) -> &Buffer {
        &self.guard
    }
}

/// The one borrow for writing.
pub struct Writing<'a> {
    _hold: Hold<'a>,
    guard: RwLockWriteGuard<'a, Buffer>,
}

impl Deref for Writing<'_> {
    type Target = Buffer;

    fn deref(&self) -> &Buffer {
        &self.guard
    }
}

impl DerefMut for Writing<'_> {
    fn deref_mut(&mut self) -> &mut Buffer {
        &mut self.guard
    }
}
