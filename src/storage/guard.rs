//! The guards: a borrow of a storage's numbers by one operation.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::Ordering;
use std::sync::{RwLockReadGuard, RwLockWriteGuard, TryLockError};

use crate::device::Allocation;
use crate::dtype::Buffer;
use crate::error::misuse;
use crate::storage::{Contents, Storage, lock};

impl Storage {
    /// Borrows the numbers for reading on behalf of `op`.
    ///
    /// # Panics
    /// With a `Misuse` if another operation is writing them, or a copy to them is not done.
    #[track_caller]
    pub fn read(&self, op: &'static str) -> Reading<'_> {
        self.expect_arrived(op, false);
        let guard = match self.contents.try_read() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(guard)) => guard.into_inner(),
            Err(TryLockError::WouldBlock) => self.conflict(op, "read", "writing"),
        };
        Reading { _hold: Hold::new(self, op), guard }
    }

    /// Borrows the numbers for writing on behalf of `op` and raises the version.
    ///
    /// # Panics
    /// With a `Misuse` if another operation is reading or writing them, or a copy from or to them
    /// is not done.
    #[track_caller]
    pub fn write(&self, op: &'static str) -> Writing<'_> {
        self.expect_arrived(op, true);
        let guard = match self.contents.try_write() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(guard)) => guard.into_inner(),
            Err(TryLockError::WouldBlock) => self.conflict(op, "write", "using"),
        };
        self.version.fetch_add(1, Ordering::AcqRel);
        *lock(&self.last_writer) = op;
        Writing { _hold: Hold::new(self, op), guard }
    }

    #[track_caller]
    fn conflict(&self, op: &'static str, wants: &str, other: &str) -> ! {
        // The other one may have let go between the failed try and this look.
        let holder = lock(&self.holders).first().copied().unwrap_or("another operation");
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
        lock(&storage.holders).push(op);
        Hold { storage, op }
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        let mut holders = lock(&self.storage.holders);
        let own = holders.iter().position(|&op| op == self.op);
        holders.remove(own.expect("it was entered when the guard was made"));
    }
}

/// A borrow for reading.
pub struct Reading<'a> {
    _hold: Hold<'a>,
    guard: RwLockReadGuard<'a, Contents>,
}

impl Reading<'_> {
    /// The memory of a storage that lies on a device.
    pub(crate) fn allocation(&self) -> Option<&Allocation> {
        if let Contents::Device(allocation) = &*self.guard { Some(allocation) } else { None }
    }
}

impl Deref for Reading<'_> {
    type Target = Buffer;

    fn deref(&self) -> &Buffer {
        match &*self.guard {
            Contents::Host(buffer) => buffer,
            Contents::Device(_) => unreachable!("{OUT_OF_REACH}"),
        }
    }
}

/// The one borrow for writing.
pub struct Writing<'a> {
    _hold: Hold<'a>,
    guard: RwLockWriteGuard<'a, Contents>,
}

impl Writing<'_> {
    /// The memory of a storage that lies on a device.
    pub(crate) fn allocation(&self) -> Option<&Allocation> {
        if let Contents::Device(allocation) = &*self.guard { Some(allocation) } else { None }
    }
}

impl Deref for Writing<'_> {
    type Target = Buffer;

    fn deref(&self) -> &Buffer {
        match &*self.guard {
            Contents::Host(buffer) => buffer,
            Contents::Device(_) => unreachable!("{OUT_OF_REACH}"),
        }
    }
}

impl DerefMut for Writing<'_> {
    fn deref_mut(&mut self) -> &mut Buffer {
        match &mut *self.guard {
            Contents::Host(buffer) => buffer,
            Contents::Device(_) => unreachable!("{OUT_OF_REACH}"),
        }
    }
}

const OUT_OF_REACH: &str = "the CPU's kernels are only called on what lies in the host's memory";
