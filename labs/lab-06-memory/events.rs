//! What the counters of 6.3 read: tensors that come and go, and the reset.

use engine_room::memory::Role;

/// Bytes by role, in the order of `Role::ALL`: `bytes[role as usize]`.
pub type ByRole = [u64; Role::ALL.len()];

/// What happens to the memory of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A tensor gets a block of so many bytes.
    Alloc { bytes: u64, role: Role },
    /// A tensor with so many bytes is gone.
    Free { bytes: u64, role: Role },
    /// `reset_peak_memory_stats`.
    ResetPeak,
}

/// The highest point, and what stood there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peak {
    /// What `max_memory_allocated` says.
    pub bytes: u64,
    /// Live bytes by role at that moment.
    pub by_role: ByRole,
}
