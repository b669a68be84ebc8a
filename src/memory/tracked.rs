//! The entry of one storage in the ledger of its device.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::device::Device;
use crate::memory::Role;
use crate::memory::device::change_role;
use crate::memory::history::{Action, TraceEntry};
use crate::memory::ledger::{Ledger, ledger};
use crate::memory::running::{Label, label};

/// Some bytes that are counted; dropping it takes them out again.
#[derive(Debug)]
pub(crate) struct Tracked {
    device: Device,
    address: u64,
    bytes: u64,
    /// The row of the operation in the ledger.
    row: usize,
    label: Label,
    role: AtomicU8,
}

impl Tracked {
    /// Counts bytes at an address of `device` in, with no particular role.
    pub(crate) fn new(device: Device, address: u64, bytes: u64) -> Tracked {
        let (label, role) = (label(), AtomicU8::new(Role::Other as u8));
        let mut ledger = ledger(device);
        let row = ledger.add(label.op, bytes);
        let tracked = Tracked { device, address, bytes, row, label, role };
        tracked.record(&mut ledger, &[Action::Alloc]);
        tracked
    }

    pub(crate) fn device(&self) -> Device {
        self.device
    }

    pub(crate) fn role(&self) -> Role {
        Role::ALL[self.role.load(Ordering::Relaxed) as usize]
    }

    /// Moves the bytes from one role's counters to another's.
    pub(crate) fn set_role(&self, role: Role) {
        let mut ledger = ledger(self.device);
        let before = Role::ALL[self.role.swap(role as u8, Ordering::Relaxed) as usize];
        ledger.change_role(self.row, before, role, self.bytes);
        ledger.history.change_role(self.address, self.bytes, before, role);
        drop(ledger);
        change_role(self.device, self.address, role);
    }

    /// Adds to the history of the host. A device's allocator keeps its own.
    fn record(&self, ledger: &mut Ledger, actions: &[Action]) {
        if !ledger.history.is_on() || self.bytes == 0 {
            return;
        }
        let label = Label { role: self.role(), ..self.label };
        let (address, size, stream) = (self.address, self.bytes, 0);
        for &action in actions {
            ledger.history.push(TraceEntry { action, address, size, stream, label });
        }
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        let mut ledger = ledger(self.device);
        self.record(&mut ledger, &[Action::FreeRequested, Action::FreeCompleted]);
        ledger.remove(self.row, self.role(), self.bytes);
    }
}
