//! The entry of one storage in the ledger of its device.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::device::Device;
use crate::memory::Role;
use crate::memory::device::change_role;
use crate::memory::history::{Action, TraceEntry};
use crate::memory::ledger::{Ledger, ledger};
use crate::memory::running::{Label, label};
use crate::profiler;

/// Some bytes that are counted; dropping it takes them out again.
#[derive(Debug)]
pub(crate) struct Tracked {
    device: Device,
    address: u64,
    bytes: u64,
    module: &'static str,
    /// The row of the operation in the ledger.
    row: u32,
    role: AtomicU8,
}

impl Tracked {
    /// Counts bytes at an address of `device` in, with no particular role.
    pub(crate) fn new(device: Device, address: u64, bytes: u64) -> Tracked {
        let Label { op, role, module } = label();
        let mut ledger = ledger(device);
        let row = ledger.add(op, bytes);
        if ledger.history.is_on() {
            record(&mut ledger, (address, bytes), Label { op, role, module }, &[Action::Alloc]);
        }
        drop(ledger);
        profiler::allocated(device, bytes as i64);
        Tracked { device, address, bytes, module, row, role: AtomicU8::new(role as u8) }
    }

    pub(crate) fn device(&self) -> Device {
        self.device
    }

    pub(crate) fn address(&self) -> u64 {
        self.address
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
}

impl Drop for Tracked {
    fn drop(&mut self) {
        let mut ledger = ledger(self.device);
        let role = self.role();
        if ledger.history.is_on() {
            let label = Label { op: ledger.op(self.row), role, module: self.module };
            let actions = [Action::FreeRequested, Action::FreeCompleted];
            record(&mut ledger, (self.address, self.bytes), label, &actions);
        }
        ledger.remove(self.row, role, self.bytes);
        drop(ledger);
        profiler::allocated(self.device, -(self.bytes as i64));
    }
}

/// Adds to the history of the host. A device's allocator keeps its own.
fn record(ledger: &mut Ledger, (address, size): (u64, u64), label: Label, actions: &[Action]) {
    for &action in actions.iter().filter(|_| size > 0) {
        ledger.history.push(TraceEntry { action, address, size, stream: 0, label });
    }
}
