//! Memory: what every device holds, for whom, and the cache that it comes from.
//!
//! `ledger.rs` counts live and peak bytes by role and by operation, from the first tensor on.
//! `caching` is the allocator of the devices that have a driver, a piece of bookkeeping that knows
//! no tensor; `device.rs` holds one for each device. `history.rs` remembers what happened,
//! `snapshot.rs` writes it down, `report.rs` explains why memory has run out.
//!
//! On a device the bytes are those of blocks, multiples of 512 as PyTorch counts them; on the host
//! they are what the tensors asked for.

mod caching;
mod copies;
mod device;
mod history;
mod host;
mod ledger;
mod report;
mod role;
mod running;
mod snapshot;
mod summary;
mod tracked;
mod value;

pub use caching::{
    BLOCK_UNIT, BlockState, CachingAllocator, LARGE_SEGMENT, Metric, OWN_SEGMENT, SEGMENT_UNIT,
    SMALL_SEGMENT, SMALL_SIZE, SegmentState, Settings, Source, Stat, State, Stats,
};
pub(crate) use copies::count_hidden_copy;
pub use copies::{HiddenCopies, hidden_copies, reset_hidden_copies};
pub use device::{allocator_settings, empty_cache, set_allocator_settings};
pub(crate) use device::{give_back, record_stream, take};
pub use history::{Action, TraceEntry};
pub(crate) use host::{filled, room};
pub use ledger::Holding;
pub use role::Role;
pub use running::{Label, RunningOp};
pub(crate) use running::{current_module, inside_module, inside_part, outside_operations, running};
pub use snapshot::{Snapshot, memory_snapshot, record_memory_history};
pub use summary::{memory_stats, memory_summary};
pub(crate) use tracked::Tracked;

use crate::device::Device;
use device::allocator;
use ledger::ledger;

/// Bytes of all live storages of a device.
pub fn memory_allocated(device: Device) -> u64 {
    ledger(device).live()
}

/// The most bytes that were live at once since the last [`reset_peak_memory_stats`].
pub fn max_memory_allocated(device: Device) -> u64 {
    ledger(device).peak()
}

/// Bytes that the allocator of a device holds, in use or not. The host has no such allocator: what
/// is live is all there is.
pub fn memory_reserved(device: Device) -> u64 {
    match device {
        Device::Cpu => memory_allocated(device),
        device => allocator(device).stats().of(Metric::ReservedBytes).current,
    }
}

/// The most bytes that it held at once since the last [`reset_peak_memory_stats`].
pub fn max_memory_reserved(device: Device) -> u64 {
    match device {
        Device::Cpu => max_memory_allocated(device),
        device => allocator(device).stats().of(Metric::ReservedBytes).peak,
    }
}

/// Starts every peak of a device anew from what is now.
pub fn reset_peak_memory_stats(device: Device) {
    ledger(device).reset_peak();
    if device != Device::Cpu {
        allocator(device).reset_peaks();
    }
}

/// Live bytes of a device by role; the sum is [`memory_allocated`].
pub fn bytes_by_role(device: Device) -> [(Role, u64); Role::ALL.len()] {
    let by_role = ledger(device).by_role();
    Role::ALL.map(|role| (role, by_role[role as usize]))
}

/// Live bytes of a device by operation and role, the largest first; the sum is
/// [`memory_allocated`].
pub fn bytes_by_op(device: Device) -> Vec<Holding> {
    ledger(device).holdings(false)
}

/// The same when as much was live as never before: when [`max_memory_allocated`] was reached, for
/// the first time if it was reached again.
pub fn bytes_by_op_at_peak(device: Device) -> Vec<Holding> {
    ledger(device).holdings(true)
}
