//! What a launch tells: what was wrong, what was counted, what was printed.

use std::fmt;

use crate::counters::{Counters, Executed, Traffic};
use crate::model::Model;

/// The kinds of what can be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// An access beyond every live allocation, or beyond shared or local memory.
    OutOfBounds,
    /// An address that is no multiple of what is read or written there.
    Misaligned,
    /// An access to memory that was freed.
    UseAfterFree,
    /// A read of what nobody wrote.
    Uninitialized,
    /// Two threads at one byte, one of them writing, in no order.
    Race,
    /// A barrier that some threads cannot reach any more.
    DivergentBarrier,
    /// A `.sync` instruction whose mask names lanes that do not execute it, or not its own lane.
    InvalidWarpMask,
    /// More shared memory than a block can have.
    SharedOverflow,
    /// A failed `assert`.
    Assert,
    /// `trap` was executed.
    Trap,
    /// The launch took more instructions than it may, or waits for what can never happen.
    Timeout,
    /// The kernel has an instruction that the simulator does not know.
    Unsupported,
    /// A launch that a GPU would refuse.
    InvalidLaunch,
}

impl fmt::Display for Kind {
    /// The name as in JSON: `out_of_bounds`.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Kind::OutOfBounds => "out_of_bounds",
            Kind::Misaligned => "misaligned",
            Kind::UseAfterFree => "use_after_free",
            Kind::Uninitialized => "uninitialized",
            Kind::Race => "race",
            Kind::DivergentBarrier => "divergent_barrier",
            Kind::InvalidWarpMask => "invalid_warp_mask",
            Kind::SharedOverflow => "shared_overflow",
            Kind::Assert => "assert",
            Kind::Trap => "trap",
            Kind::Timeout => "timeout",
            Kind::Unsupported => "unsupported",
            Kind::InvalidLaunch => "invalid_launch",
        })
    }
}

/// A line of a source file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// The file as the compiler was given it; of PTX without `.loc`, the name of the function.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which kind of thing.
    pub kind: Kind,
    /// What happened and what is near, for people.
    pub message: String,
    /// The user's line, then what the compiler inlined there (a header of the toolkit), then the
    /// lines of the calls around it. Empty if the launch as a whole is wrong.
    pub places: Vec<Place>,
    /// The block of the first thread that it happened to.
    pub block: [u32; 3],
    /// That thread within the block.
    pub thread: [u32; 3],
    /// The address that was accessed, if it is about one.
    pub address: Option<u64>,
    /// How many threads it happened to, at this instruction.
    pub threads: u64,
}

impl fmt::Display for Finding {
    /// In one line: `out_of_bounds at add.cu:7, block (3, 0, 0), thread (232, 0, 0) and 23 more:
    /// global memory at ..`.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        for (i, Place { file, line }) in self.places.iter().enumerate() {
            write!(f, " {} {file}:{line}", if i == 0 { "at" } else { "in" })?;
        }
        if self.threads > 0 {
            let ([bx, by, bz], [x, y, z]) = (self.block, self.thread);
            write!(f, ", block ({bx}, {by}, {bz}), thread ({x}, {y}, {z})")?;
        }
        if self.threads > 1 {
            write!(f, " and {} more", self.threads - 1)?;
        }
        write!(f, ": {}", self.message)
    }
}

/// What came of a launch.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Report {
    /// What is wrong: one finding for an instruction and kind, in the order of blocks.
    pub findings: Vec<Finding>,
    /// What was counted.
    pub counters: Counters,
    /// What `printf` printed, in the order of blocks.
    pub stdout: String,
    /// How long the kernel would run on the GPU, in nanoseconds: [`Model::ns`]. Zero if the launch
    /// was not made.
    pub modelled_ns: u64,
    /// What that comes from.
    pub model: Model,
    /// What each instruction did, in the order of the code, if [`super::Options::lines`] asks.
    pub lines: Vec<Line>,
}

/// What one instruction did.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The function that it stands in.
    pub function: String,
    /// Its lines, as of [`Finding::places`].
    pub places: Vec<Place>,
    /// Its line in the PTX text.
    pub ptx_line: u32,
    /// How often it was executed.
    pub executed: Executed,
    /// What it moved, if it is an access to memory.
    pub traffic: Traffic,
}

impl Finding {
    /// A finding about the launch as a whole.
    pub(super) fn of_launch(kind: Kind, message: String) -> Finding {
        let (places, address) = (Vec::new(), None);
        Finding { kind, message, places, block: [0; 3], thread: [0; 3], address, threads: 0 }
    }
}

impl Report {
    /// The report on a launch that was not made.
    pub(super) fn of(finding: Finding) -> Report {
        Report { findings: vec![finding], ..Report::default() }
    }
}
