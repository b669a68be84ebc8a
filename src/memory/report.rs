//! The report of a device that has run out of memory: who holds it, and what to try.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;

use crate::error::Bytes;
use crate::memory::Role;
use crate::memory::caching::{CachingAllocator, Metric, Request, Source, State};
use crate::memory::running::{Label, RunningOp};

/// How many holders are named.
const HOLDERS: usize = 5;

/// What one operation holds for one purpose, in one part of a model or in all parts like it.
struct Holder {
    op: RunningOp,
    role: Role,
    /// The module; `blocks.*.linear1` for those of several blocks.
    module: String,
    bytes: u64,
}

/// What stands behind the first sentence of the error, which says what was asked and what is free.
/// `left` is what the device has in no segment.
pub(super) fn out_of_memory<S: Source>(
    requested: u64,
    left: u64,
    allocator: &CachingAllocator<S>,
) -> String {
    let stats = allocator.stats();
    let held = stats.of(Metric::AllocatedBytes).current;
    let reserved = stats.of(Metric::ReservedBytes).current;
    let (unused, largest) =
        (reserved - stats.of(Metric::ActiveBytes).current, allocator.largest_free());
    let holders = holders(allocator);
    let mut report = format!(
        "{}tensors hold {}; {} are reserved, of which {} are in no use, the largest free block of \
         them with {}",
        segment(requested, allocator.settings().caching),
        Bytes(held),
        Bytes(reserved),
        Bytes(unused),
        Bytes(largest)
    );
    if !holders.is_empty() {
        report.push_str("; the largest holders: ");
    }
    for (i, Holder { op, role, module, bytes }) in holders.iter().take(HOLDERS).enumerate() {
        let (comma, bytes) = (if i == 0 { "" } else { ", " }, Bytes(*bytes));
        let inside = if module.is_empty() { "" } else { " in " };
        let role = role.name();
        write!(report, "{comma}{bytes} by {op} ({role}){inside}{module}").expect("a String");
    }
    for advice in advice(requested, unused + left, &holders) {
        write!(report, "; try: {advice}").expect("a String");
    }
    report
}

/// How much the device was asked for, if that is more than the tensor needs.
fn segment(requested: u64, caching: bool) -> String {
    match Request::new(requested, 0) {
        Some(request) if caching && request.segment > request.size => {
            format!("the allocator needs a segment of {} for it; ", Bytes(request.segment))
        }
        _ => String::new(),
    }
}

/// Who has the blocks, the largest holder first.
fn holders<S: Source>(allocator: &CachingAllocator<S>) -> Vec<Holder> {
    let mut found: BTreeMap<_, (&'static str, u64)> = BTreeMap::new();
    for block in allocator.segments().iter().flat_map(|segment| &segment.blocks) {
        if block.state == State::Allocated {
            let Label { op, role, module } = block.label;
            let held = found.entry((op, role, any_number(module))).or_insert((module, 0));
            held.0 = if held.0 == module { module } else { "" };
            held.1 += block.size;
        }
    }
    let holder = |((op, role, like), (only, bytes)): ((_, _, String), (&str, u64))| {
        let module = if only.is_empty() { like } else { only.to_string() };
        Holder { op, role, module, bytes }
    };
    let mut holders: Vec<Holder> = found.into_iter().map(holder).collect();
    holders.sort_by_key(|it| Reverse(it.bytes));
    holders
}

/// `blocks.3.linear1` as `blocks.*.linear1`: the blocks of a model are alike, and what is of
/// interest is what all of them hold.
fn any_number(module: &str) -> String {
    let is_number = |piece: &str| piece.bytes().all(|digit| digit.is_ascii_digit());
    let piece = |(i, piece)| if i > 0 && is_number(piece) { "*" } else { piece };
    module.split('.').enumerate().map(piece).collect::<Vec<_>>().join(".")
}

/// What would have helped, the likeliest first.
fn advice(requested: u64, free: u64, holders: &[Holder]) -> Vec<&'static str> {
    let held_by = |role: Role| -> u64 {
        holders.iter().filter(|it| it.role == role).map(|it| it.bytes).sum()
    };
    let activations = held_by(Role::Activation);
    let mut advice = Vec::new();
    if free >= requested {
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
