//! What 6.4 is given, a snapshot as a table, and what it returns.

use engine_room::memory::{Action, Role, RunningOp, Snapshot, State};

/// A block of a segment, free or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The first address of its segment.
    pub segment: u64,
    /// Bytes of the block.
    pub bytes: u64,
    /// Whether a tensor has it.
    pub used: bool,
    /// The operation that made the tensor, `relu` or `relu backward`; empty where no operation did,
    /// and for a free block.
    pub op: String,
    /// What the tensor is for; `Role::Other` for a free block.
    pub role: Role,
    /// In which step of the program the tensor was made: 0 before the first, and for a free block.
    pub step: usize,
}

/// Who asks for memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Nobody.
    Nobody,
    /// A tensor of this program, for so many bytes: a multiple of 2 MiB, at least 10 MiB, so that a
    /// segment for it would have exactly these bytes.
    Tensor(u64),
    /// Another program on the same device, for so many bytes of the driver.
    OtherProgram(u64),
}

/// The memory of a device at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryTable {
    /// Every block of every segment, by address.
    pub rows: Vec<Row>,
    /// Bytes of the device that are in no segment.
    pub outside: u64,
    /// The step that runs, or has just ended. Steps count from 1.
    pub step: usize,
    /// The last operation of the losses: `neg` for `cross_entropy`, `div_scalar` for `mse_loss`.
    /// What else it makes in this program does not outlive its step.
    pub loss_op: String,
    /// Who asks.
    pub asked: Asked,
}

/// What is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// No graph of an earlier step is alive, and who asks gets what it asks for.
    Healthy,
    /// Graphs of earlier steps are alive, and so are the losses that they end in.
    LossesKept,
    /// Graphs of earlier steps are alive, and their losses are gone: what is carried from step to
    /// step, such as a running mean, holds them.
    MetricKeepsGraphs,
    /// Another program would get what it asks for if this one called `empty_cache`.
    UnusedCache,
    /// Enough is free for who asks, but in pieces that nobody can give out.
    Fragmented,
    /// What is in use leaves too little.
    Full,
}

impl MemoryTable {
    /// The table of a snapshot. `steps` says for each step how long the history was when it began,
    /// and `capacity` how many bytes the device has. What kernels keep for variables of their own
    /// is in no segment and not counted here, nor by PyTorch's statistics.
    pub fn of(
        snapshot: &Snapshot,
        steps: &[usize],
        capacity: u64,
        loss_op: &str,
        asked: Asked,
    ) -> MemoryTable {
        let mut rows = Vec::new();
        for segment in &snapshot.segments {
            for block in &segment.blocks {
                let used = block.state != State::Free;
                // The last entry for an address is about the tensor that has it now.
                let made = snapshot.trace.iter().rposition(|entry| {
                    entry.action == Action::Alloc && entry.address == block.address
                });
                let step = made.map_or(0, |made| steps.iter().filter(|&&it| it <= made).count());
                rows.push(Row {
                    segment: segment.address,
                    bytes: block.size,
                    used,
                    op: if used { name(block.label.op) } else { String::new() },
                    role: if used { block.label.role } else { Role::Other },
                    step: if used { step } else { 0 },
                });
            }
        }
        let reserved: u64 = snapshot.segments.iter().map(|segment| segment.size).sum();
        let (outside, step) = (capacity.saturating_sub(reserved), steps.len());
        MemoryTable { rows, outside, step, loss_op: loss_op.to_string(), asked }
    }
}

fn name(op: RunningOp) -> String {
    if op.name.is_empty() { String::new() } else { op.to_string() }
}
