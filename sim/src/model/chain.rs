//! How long one warp would take if it had a multiprocessor to itself.
//!
//! `ptxas` reorders instructions so that loads come early and what uses them late. It does so
//! between two places that control can come from or go to, and moves no load over a store to the
//! same kind of memory, which might be to the same address. So within such a stretch an instruction
//! begins when what it uses is there, whatever stands before it in the PTX; and the stretch takes
//! at least one clock an instruction. Loads that follow each other wait together: an unrolled loop
//! waits less.

use crate::counters::{Executed, Traffic};
use crate::decode::code::{Kernel, Op, Space};
use crate::gpu::LATENCY;

/// Where in time the warp is.
#[derive(Default)]
struct Clock {
    /// When the stretch began.
    start: f64,
    /// One past the last clock in which one of its instructions begins.
    end: f64,
    /// How many instructions it has.
    count: f64,
    /// When the last store began to shared memory, and to other memory.
    stored: [f64; 2],
}

/// Clocks that all warps together take, each alone. `global` is how long a load from global memory
/// takes.
pub(super) fn clocks(
    kernel: &Kernel,
    executed: &[Executed],
    traffic: &[Traffic],
    global: f64,
) -> f64 {
    let begins = beginnings(kernel);
    let mut ready = vec![0.0f64; kernel.code.len()];
    let (mut clock, mut sum) = (Clock::default(), 0.0);
    for (pc, (instruction, cost)) in kernel.code.iter().zip(&kernel.costs).enumerate() {
        if begins[pc] {
            clock.end = clock.end.max(clock.start + clock.count);
            (clock.start, clock.count) = (clock.end, 0.0);
        }
        let needed = cost.needs.iter().map(|&need| ready[need as usize]);
        let mut start = needed.fold(clock.start, f64::max);
        if let Some(access) = instruction.op.access() {
            let stored = &mut clock.stored[usize::from(access.space == Space::Shared)];
            start = start.max(*stored);
            if !matches!(instruction.op, Op::Load(_)) {
                *stored = start;
            }
        }
        ready[pc] = start + latency(&instruction.op, traffic, global);
        let weight = f64::from(instruction.weight);
        let before = clock.end.max(clock.start + clock.count);
        clock.count += weight;
        clock.end = clock.end.max(start + weight);
        sum += (clock.end.max(clock.start + clock.count) - before) * executed[pc].warps as f64;
    }
    sum
}

/// Whether a stretch begins with an instruction.
fn beginnings(kernel: &Kernel) -> Vec<bool> {
    let mut begins = vec![false; kernel.code.len() + 1];
    for function in &kernel.functions {
        begins[function.entry as usize] = true;
    }
    for (pc, instruction) in kernel.code.iter().enumerate() {
        match &instruction.op {
            Op::Branch { target, .. } => begins[*target as usize] = true,
            Op::Indexed(table) => {
                table.targets.iter().for_each(|target| begins[*target as usize] = true);
            }
            Op::Call(_) | Op::Return | Op::Exit | Op::Trap | Op::Barrier(_) => {}
            _ => continue,
        }
        begins[pc + 1] = true;
    }
    begins
}

/// From an instruction to what uses its result.
fn latency(op: &Op, traffic: &[Traffic], global: f64) -> f64 {
    let shared = LATENCY.shared as f64;
    match op {
        Op::Load(_) | Op::Atomic(_) => {}
        Op::Exchange(_) => return shared,
        _ => return LATENCY.arithmetic as f64,
    }
    let Some(access) = op.access() else { return 0.0 };
    match access.space {
        Space::Global => global,
        Space::Generic if traffic[access.number as usize].global > 0 => global,
        // Local memory mostly is in the cache of the multiprocessor, which is as fast.
        Space::Generic | Space::Shared | Space::Local => shared,
        _ => LATENCY.arithmetic as f64,
    }
}
