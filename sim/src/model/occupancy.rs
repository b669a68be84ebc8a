//! How many blocks a multiprocessor holds at the same time.

use std::fmt;

use crate::gpu::Multiprocessor;

/// Registers that a thread can have: the CUDA C++ Programming Guide, "Technical Specifications per
/// Compute Capability".
const MOST_REGISTERS: u32 = 255;

/// What a block takes of a multiprocessor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// Its threads.
    pub threads: u32,
    /// Bytes of shared memory, static and dynamic.
    pub shared: u32,
    /// Registers of a thread, if known: `ptxas` hands them out, after the PTX.
    pub registers: Option<u32>,
}

/// What keeps a multiprocessor from holding one block more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Limit {
    /// Room for threads.
    #[default]
    Threads,
    /// Room for blocks.
    Blocks,
    /// Shared memory.
    Shared,
    /// Registers.
    Registers,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Limit::Threads => "threads",
            Limit::Blocks => "blocks",
            Limit::Shared => "shared memory",
            Limit::Registers => "registers",
        })
    }
}

/// What a multiprocessor holds at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Occupancy {
    /// Blocks.
    pub blocks: u32,
    /// Warps of these.
    pub warps: u32,
    /// Warps that it has room for.
    pub most_warps: u32,
    /// What sets the limit; the first of these if several do.
    pub limit: Limit,
    /// Whether the registers were known. If not, they set no limit here.
    pub registers_known: bool,
}

impl Occupancy {
    /// The rules of NVIDIA's occupancy calculator: the least of four limits. Warps are handed out
    /// whole. A warp's registers are rounded up to a unit, and each scheduler has its share of them
    /// and of the warps; a block's shared memory is rounded up too, after what the system takes.
    pub fn of(each: &Multiprocessor, needs: Needs) -> Occupancy {
        let warps = needs.threads.div_ceil(32).max(1);
        let shared = (needs.shared + each.shared_reserved).next_multiple_of(each.shared_unit);
        let by_registers =
            needs.registers.map(|count| count.clamp(1, MOST_REGISTERS)).map(|count| {
                let of_a_warp = (count * 32).next_multiple_of(each.register_unit);
                let warps_of_a_scheduler = each.registers / each.schedulers / of_a_warp;
                (warps_of_a_scheduler * each.schedulers / warps, Limit::Registers)
            });
        let limits = [
            (each.threads / 32 / warps, Limit::Threads),
            (each.blocks, Limit::Blocks),
            (each.shared.checked_div(shared).unwrap_or(u32::MAX), Limit::Shared),
        ];
        let all = limits.into_iter().chain(by_registers);
        let (blocks, limit) = all.min_by_key(|limit| limit.0).unwrap_or_default();
        Occupancy {
            blocks,
            warps: blocks * warps,
            most_warps: each.threads / 32,
            limit,
            registers_known: needs.registers.is_some(),
        }
    }
}
