//! The report of a device that has run out of memory: who holds it, and what to try.

use std::fmt::Write;

use crate::device::Device;
use crate::error::Bytes;
use crate::memory::caching::{CachingAllocator, Metric, Source};
use crate::memory::ledger::ledger;
use crate::memory::{Holding, Role};

/// How many holders are named.
const HOLDERS: usize = 5;

/// What stands behind the first sentence of the error, which says what was asked and what is free.
pub(super) fn out_of_memory<S: Source>(
    device: Device,
    requested: u64,
    allocator: &CachingAllocator<S>,
) -> String {
    let stats = allocator.stats();
    let held = stats.of(Metric::AllocatedBytes).current;
    let reserved = stats.of(Metric::ReservedBytes).current;
    let (unused, largest) =
        (reserved - stats.of(Metric::ActiveBytes).current, allocator.largest_free());
    let holders = ledger(device).holdings(false);
    let mut report = format!(
        "tensors hold {}; {} are reserved, of which {} are in no use, the largest free block of \
         them with {}",
        Bytes(held),
        Bytes(reserved),
        Bytes(unused),
        Bytes(largest)
    );
    if !holders.is_empty() {
        report.push_str("; the largest holders: ");
    }
    for (i, Holding { op, role, bytes }) in holders.iter().take(HOLDERS).enumerate() {
        let comma = if i == 0 { "" } else { ", " };
        write!(report, "{comma}{} by {op} ({})", Bytes(*bytes), role.name()).expect("a String");
    }
    for advice in advice(requested, unused, &holders) {
        write!(report, "; try: {advice}").expect("a String");
    }
    report
}

/// What would have helped, the likeliest first.
fn advice(requested: u64, unused: u64, holders: &[Holding]) -> Vec<&'static str> {
    let held_by = |role: Role| -> u64 {
        holders.iter().filter(|it| it.role == role).map(|it| it.bytes).sum()
    };
    let activations = held_by(Role::Activation);
    let mut advice = Vec::new();
    if unused >= requested {
        advice.push(
            "enough is free, but in pieces: free tensors that were made early and live long, or \
             set max_split_size, so that large blocks are not cut for small tensors",
        );
    }
    if activations >= requested {
        advice.push(
            "a smaller batch, or recompute() of some blocks: both lower what the graph keeps for \
             backward; no_grad where nothing is trained",
        );
    }
    if held_by(Role::Optimizer) >= requested {
        advice.push("an optimizer that keeps less, such as SGD without momentum");
    }
    if held_by(Role::Gradient) >= requested {
        advice.push("zero_grad with set_to_none before the forward pass, not after it");
    }
    advice.push("drop tensors that are no longer needed, or work on less at a time");
    advice
}
