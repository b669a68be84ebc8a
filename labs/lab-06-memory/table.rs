//! What 6.4 is given, a snapshot as a table, and what it returns.

use engine_room::memory::Role;

/// A block of a segment, free or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The first address of its segment.
    pub segment: u64,
    /// Bytes of the block.
    pub bytes: u64,
    /// Whether a tensor has it.
    pub used: bool,
    /// The operation that made the tensor, `cross_entropy`; empty where no operation did.
    pub op: &'static str,
    /// What the tensor is for.
    pub role: Role,
    /// In which step of the program it was made; 0 before the first step.
    pub step: usize,
}

/// Who asks for memory, and has not got it at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Nobody.
    Nobody,
    /// A tensor of this program, for so many bytes: a multiple of 2 MiB, at least 20 MiB.
    Tensor(u64),
    /// Another program on the same device, for so many bytes.
    OtherProgram(u64),
}

/// The memory of a device at one moment, as a snapshot says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryTable {
    /// Every block, by address.
    pub rows: Vec<Row>,
    /// Bytes of the device that are in no segment.
    pub outside: u64,
    /// The step that runs, or has just ended; steps count from 1.
    pub step: usize,
    /// The operation that computes this program's losses.
    pub loss_op: &'static str,
    /// Who asks.
    pub asked: Asked,
}

/// What is wrong, if anything is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// Nothing.
    Healthy,
    /// Losses of earlier steps are kept, each with its graph.
    LossesKept,
    /// Graphs of earlier steps are alive, their losses are not: a number that is carried from step
    /// to step holds them.
    MetricKeepsGraphs,
    /// Another program lacks what this one has reserved and does not use: `empty_cache` helps.
    UnusedCache,
    /// Enough is free for the tensor, but in pieces.
    Fragmented,
    /// What is in use leaves too little, and no graph of an earlier step is to blame.
    Full,
}
