//! Copies that a device has not finished: until then they hold the host's memory.
//!
//! This is what goes wrong unseen in other frameworks: after a non-blocking copy to the host the
//! numbers are not there yet, and after one to the device the source must stay as it is. Here the
//! storage knows, and says so.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::device::Device;
use crate::device::driver::Event;
use crate::error::misuse;
use crate::storage::{Storage, lock};

/// A copy between the host and a device that was started.
#[derive(Debug)]
pub(crate) struct Pending {
    /// The device.
    pub device: Device,
    /// Done when the copy is.
    pub event: Event,
    /// Whether the copy goes to the host, so that its target may not even be read.
    pub to_host: bool,
}

/// The unfinished copies of a storage. The flag spares every other storage the lock.
#[derive(Default)]
pub(super) struct InFlight {
    any: AtomicBool,
    copies: Mutex<Vec<Pending>>,
}

impl Storage {
    /// Keeps the numbers from being changed, or read if they are the target, until a copy is done.
    pub(crate) fn hold_for(&self, copy: Pending) {
        lock(&self.in_flight.copies).push(copy);
        self.in_flight.any.store(true, Ordering::Release);
    }

    /// Refuses to read, or to write, what a copy still holds.
    #[track_caller]
    pub(super) fn expect_arrived(&self, op: &'static str, write: bool) {
        if !self.in_flight.any.load(Ordering::Acquire) {
            return;
        }
        let Some((device, to_host)) = self.unfinished(write) else {
            return;
        };
        let what = format!("{} storage of {} bytes", self.dtype(), self.nbytes());
        let state = if to_host {
            format!("the numbers are not here yet: a copy from {device} is under way")
        } else {
            format!("a copy to {device} is still reading the numbers")
        };
        let message =
            format!("{state}, and nothing has waited for it; call synchronize on {device} first");
        misuse(op, &[&what], message)
    }

    /// The device of a copy that stands in the way. Finished ones are forgotten.
    fn unfinished(&self, write: bool) -> Option<(Device, bool)> {
        let mut copies = lock(&self.in_flight.copies);
        let (open, done): (Vec<_>, Vec<_>) = copies.drain(..).partition(|copy| !is_done(copy));
        *copies = open;
        self.in_flight.any.store(!copies.is_empty(), Ordering::Release);
        for copy in done {
            copy.device.driver().release(copy.event);
        }
        copies.iter().find(|copy| copy.to_host || write).map(|copy| (copy.device, copy.to_host))
    }
}

/// A driver that has failed will not finish anything; its next call says so.
fn is_done(copy: &Pending) -> bool {
    copy.device.driver().is_done(&copy.event).unwrap_or(true)
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let copies = self.copies.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        for copy in copies.drain(..) {
            let driver = copy.device.driver();
            // The memory goes after this: the device must not write into it later.
            if !is_done(&copy) {
                let _ = driver.synchronize();
            }
            driver.release(copy.event);
        }
    }
}
