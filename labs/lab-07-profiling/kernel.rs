//! What 7.5 reads and returns: what a kernel did, what a GPU can do, and what bounds the kernel.

use engine_room::sim::{self, Gpu};

/// The types of numbers that a kernel computes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    F32,
    F16,
}

/// All calls of one kernel in a profile, at least one. Each of them does the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    pub numbers: Numbers,
    pub calls: u64,
    /// Floating-point operations of all calls.
    pub flops: u64,
    /// Bytes between the GPU and its memory, of all calls.
    pub bytes: u64,
    /// What all calls took the GPU.
    pub device_ns: u64,
}

/// What a GPU can do at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Roofs {
    /// Floating-point operations a second with numbers of `f32`.
    pub f32_flops_per_s: u64,
    /// The same with numbers of `f16`.
    pub f16_flops_per_s: u64,
    /// Bytes a second between it and its memory.
    pub bytes_per_s: u64,
    /// What one launch takes the host.
    pub launch_ns: u64,
}

impl Roofs {
    /// Those of a GPU by name, from the published figures. A lane does a fused multiply-add a
    /// clock, which is two operations; one for `f16` does it with a pair of numbers.
    pub fn of(gpu: Gpu) -> Roofs {
        let figures = gpu.figures();
        let rates = &figures.multiprocessor.rates;
        let a_lane = u64::from(figures.multiprocessors) * figures.clock;
        Roofs {
            f32_flops_per_s: 2 * u64::from(rates.single) * a_lane,
            f16_flops_per_s: 4 * u64::from(rates.half) * a_lane,
            bytes_per_s: figures.memory,
            launch_ns: sim::LAUNCH,
        }
    }
}

/// What would have to become faster before the kernel's calls do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// The host, which launches them.
    Launches,
    /// The GPU's memory.
    Memory,
    /// The GPU's arithmetic.
    Arithmetic,
    /// The kernel itself, which comes near to neither of the two.
    Neither,
}

/// What bounds a kernel, and how much of that limit it reaches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    pub bound: Bound,
    /// 1 is all of it.
    pub share: f64,
}
