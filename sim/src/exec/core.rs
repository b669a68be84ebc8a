//! What all warps of a block share, and one host thread keeps from block to block.

use crate::counters::Executed;
use crate::decode::code::Kernel;
use crate::l2::{Layout, Trace};
use crate::memory::{Cells, Memory};

use super::findings::Findings;
use super::habit::Habit;

/// What the warps of the running block share.
pub(super) struct Core<'a> {
    pub kernel: &'a Kernel,
    pub memory: &'a Memory,
    pub params: &'a Cells,
    /// Which sectors there are.
    pub layout: &'a Layout,
    /// The block that runs.
    pub here: Here,
    /// The threads of a block in x, y and z.
    pub threads: [u32; 3],
    /// Whether wrong accesses are reported.
    pub check: bool,
    /// How often each instruction was executed.
    pub executed: Vec<Executed>,
    /// What is known of each access, and what it moved.
    pub habits: Vec<Habit<'a>>,
    pub findings: Findings,
    /// Instructions until the warp that runs must let others run.
    pub steps: u64,
    /// Instructions that this host thread has executed: its clock.
    pub time: u64,
}

/// What belongs to one block.
pub(super) struct Here {
    /// Where it is in the grid.
    pub block: [u32; 3],
    /// Its number in the grid.
    pub order: u64,
    /// Its shared memory.
    pub shared: Cells,
    /// The lanes of each warp that have arrived at each barrier without waiting.
    pub arrived: Box<[[u32; 32]; 16]>,
    /// What it has asked of the L2 cache.
    pub trace: Trace,
    /// What it has printed.
    pub stdout: Vec<u8>,
}

impl Here {
    /// A block that has not begun.
    pub fn new(shared: Cells) -> Here {
        Here {
            block: [0; 3],
            order: 0,
            shared,
            arrived: Box::new([[0; 32]; 16]),
            trace: Trace::default(),
            stdout: Vec::new(),
        }
    }
}

impl Core<'_> {
    /// Where a lane's thread is in the block.
    pub fn thread(&self, warp: u32, lane: u32) -> [u32; 3] {
        let at = warp * 32 + lane;
        let [x, y, _] = self.threads;
        [at % x, at / x % y, at / (x * y)]
    }
}
