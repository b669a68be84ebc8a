//! How long a kernel would run: a *model*, from what was counted and what is published of a GPU.
//!
//! It is a roofline with latency. Each part of the GPU is given the time that it would need for its
//! share of the work if nothing else held it up; the slowest one is the time of the kernel.
//!
//! - **The GPU's memory**: the bytes that go through the [L2 cache](crate::l2) over its bandwidth.
//! - **The L2 cache**: all sectors of global requests over its bandwidth, or over what one
//!   multiprocessor can get, if few have blocks.
//! - **Issue**: an instruction of a warp takes one clock of one of four schedulers; fewer than four
//!   warps keep fewer busy.
//! - **Lanes** of each kind: 32 lanes of an instruction over how many a multiprocessor has.
//! - **Loads and stores**: shared memory and the path to L2 move 128 bytes a clock. Each request
//!   takes a pass for 4 bytes a lane, one more for each bank conflict, and in global memory at
//!   least one for four sectors.
//! - **Latency**: one warp alone needs as long as its instructions wait for each other. As
//!   many warps as a multiprocessor holds wait side by side; the next ones begin when these end.
//!   Where this is the longest time, there are too few warps, or too few loads at once.
//!
//! What happens in multiprocessors takes as long as in the one with the most blocks: of 109 blocks
//! on 108 multiprocessors two run on one of them, one after the other or sharing it, and the others
//! wait. So a grid just above a multiple is a loss, as on a chip.
//!
//! # What is left out
//! There is no L1 cache: each request for global memory asks L2. A chip caches loads in each
//! multiprocessor; how often that helps depends on the order of its warps in time, which nobody
//! publishes. So a kernel that loads the same values again and again (a naive matmul) has to blame
//! L2 where a chip would blame the loads and stores of L1, whose 128 bytes a clock are counted; one
//! that keeps them in shared memory or registers is judged alike. Overlap is perfect, the clock is
//! the boost clock, the memory reaches its published bandwidth. Barriers cost no more than their
//! instruction. Atomic operations on one address wait for each other on a chip, here they do not.
//! So times are mostly too short, and compare two kernels rather than a kernel and a chip.
//!
//! The launch itself is no part of it: see [`crate::timeline`].

mod chain;
mod occupancy;

use crate::counters::{Executed, Traffic};
use crate::decode::code::{Kernel, Pipe};
use crate::gpu::{Figures, L2_PORT, LATENCY, Rates, SECTOR};
use crate::l2::Moved;

pub use occupancy::{Limit, Needs, Occupancy};

/// What a launch did, as far as its time depends on it.
pub(crate) struct Work<'a> {
    /// What ran.
    pub kernel: &'a Kernel,
    /// How often each instruction was executed.
    pub executed: &'a [Executed],
    /// What each access moved.
    pub traffic: &'a [Traffic],
    /// Between L2 and the GPU's memory.
    pub moved: Moved,
    /// Blocks of the grid.
    pub blocks: u64,
    /// What each block takes.
    pub needs: Needs,
}

/// A kernel's modelled time, and what it comes from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Model {
    /// What a multiprocessor holds.
    pub occupancy: Occupancy,
    /// How often all multiprocessors are filled with blocks until none is left.
    pub waves: u64,
    /// The time of each part of the GPU that has work, in nanoseconds, the longest first.
    pub parts: Vec<(Part, f64)>,
}

/// A part of a GPU that a kernel keeps busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The GPU's memory.
    Memory,
    /// The L2 cache.
    L2,
    /// The schedulers.
    Issue,
    /// Lanes of a kind.
    Lanes(Pipe),
    /// Shared memory, and loads and stores of global memory.
    Transfers,
    /// None: too few warps wait side by side.
    Latency,
}

impl Part {
    /// The name in tables and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Part::Memory => "dram",
            Part::L2 => "l2",
            Part::Issue => "issue",
            Part::Lanes(Pipe::Single) => "f32_lanes",
            Part::Lanes(Pipe::Half) => "f16_lanes",
            Part::Lanes(Pipe::Double) => "f64_lanes",
            Part::Lanes(Pipe::Integer) => "integer_lanes",
            Part::Lanes(Pipe::Special) => "special_lanes",
            Part::Lanes(Pipe::Convert) => "convert_lanes",
            Part::Lanes(Pipe::Exchange) => "exchange_lanes",
            Part::Transfers => "load_store",
            Part::Latency => "latency",
        }
    }
}

impl Model {
    /// The time of the kernel in whole nanoseconds: that of its slowest part.
    pub fn ns(&self) -> u64 {
        self.parts.first().map_or(0, |part| part.1.ceil() as u64)
    }

    /// Models a launch.
    pub(crate) fn of(figures: &Figures, work: &Work) -> Model {
        let occupancy = Occupancy::of(figures.multiprocessor, work.needs);
        let held = u64::from(occupancy.blocks.max(1));
        let all = u64::from(figures.multiprocessors);
        // The blocks of the multiprocessor that has most of them.
        let most = work.blocks.div_ceil(all);
        let rounds = most.div_ceil(held);
        let resident = most.min(held) * u64::from(work.needs.threads.div_ceil(32));
        let share = most as f64 / work.blocks.max(1) as f64;
        let busy = Busy { figures, work, share, resident };
        let latency = busy.alone() * rounds as f64;
        let mut parts = vec![
            (Part::Memory, busy.memory()),
            (Part::L2, busy.l2()),
            (Part::Issue, busy.issue()),
            (Part::Transfers, busy.transfers()),
            (Part::Latency, busy.ns(latency)),
        ];
        parts.extend(busy.lanes());
        parts.retain(|part| part.1 > 0.0);
        parts.sort_by(|a, b| b.1.total_cmp(&a.1));
        Model { occupancy, waves: work.blocks.div_ceil(held * all), parts }
    }
}

/// How long each part is busy.
struct Busy<'a> {
    figures: &'a Figures,
    work: &'a Work<'a>,
    /// How much of all work the multiprocessor has that has most of it.
    share: f64,
    /// Warps that it holds.
    resident: u64,
}

impl Busy<'_> {
    /// So many clocks.
    fn ns(&self, clocks: f64) -> f64 {
        clocks * 1e9 / self.figures.clock as f64
    }

    fn memory(&self) -> f64 {
        let bytes = (self.work.moved.read + self.work.moved.written) * SECTOR;
        bytes as f64 * 1e9 / self.figures.memory as f64
    }

    /// Sectors of all requests to global memory.
    fn sectors(&self) -> u64 {
        self.work.traffic.iter().map(|traffic| traffic.sectors).sum()
    }

    fn l2(&self) -> f64 {
        let bytes = (self.sectors() * SECTOR) as f64;
        let port = self.ns(bytes * self.share / L2_PORT as f64);
        port.max(bytes * 1e9 / self.figures.l2 as f64)
    }

    /// The part of the schedulers, and of the lanes behind them, that have a warp.
    fn awake(&self) -> f64 {
        let schedulers = u64::from(self.figures.multiprocessor.schedulers);
        self.resident.clamp(1, schedulers) as f64 / schedulers as f64
    }

    fn issue(&self) -> f64 {
        let counted = self.work.kernel.code.iter().zip(self.work.executed);
        let all: u64 = counted.map(|(code, done)| u64::from(code.weight) * done.warps).sum();
        let rate = f64::from(self.figures.multiprocessor.schedulers) * self.awake();
        self.ns(all as f64 * self.share / rate)
    }

    fn lanes(&self) -> impl Iterator<Item = (Part, f64)> {
        let Rates { single, half, double, integer, special, convert, exchange } =
            self.figures.multiprocessor.rates;
        let rates = [
            (Pipe::Single, single),
            (Pipe::Half, half),
            (Pipe::Double, double),
            (Pipe::Integer, integer),
            (Pipe::Special, special),
            (Pipe::Convert, convert),
            (Pipe::Exchange, exchange),
        ];
        rates.into_iter().map(|(pipe, rate)| {
            let costs = self.work.kernel.costs.iter().zip(self.work.executed);
            let own = costs.filter(|(cost, _)| cost.pipe == Some(pipe));
            let warps: u64 = own.map(|(cost, done)| u64::from(cost.turns) * done.warps).sum();
            let clocks = (32 * warps) as f64 * self.share / (f64::from(rate) * self.awake());
            (Part::Lanes(pipe), self.ns(clocks))
        })
    }

    fn transfers(&self) -> f64 {
        let mut passes = 0;
        for op in self.work.kernel.code.iter().map(|code| &code.op) {
            let Some(access) = op.access() else { continue };
            let traffic = &self.work.traffic[access.number as usize];
            let each = u64::from((access.bytes * access.count).div_ceil(4));
            passes += traffic.shared * each + traffic.conflicts;
            passes += (traffic.global * each).max(traffic.sectors.div_ceil(4));
        }
        // A pass moves a word of 4 bytes for each of 32 lanes.
        let clocks = passes * 128 / u64::from(self.figures.multiprocessor.shared_bytes_per_clock);
        self.ns(clocks as f64 * self.share)
    }

    /// Clocks that a warp needs on average if it is alone.
    fn alone(&self) -> f64 {
        let Work { kernel, executed, traffic, moved, .. } = self.work;
        let sectors = self.sectors().max(1);
        let missed = (moved.read as f64 / sectors as f64).min(1.0);
        let beyond = (LATENCY.memory - LATENCY.l2) as f64;
        let global = LATENCY.l2 as f64 + missed * beyond;
        let warps = self.work.blocks * u64::from(self.work.needs.threads.div_ceil(32));
        chain::clocks(kernel, executed, traffic, global) / warps.max(1) as f64
    }
}
