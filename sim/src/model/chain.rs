//! How long one warp would take if it had a multiprocessor to itself.
//!
//! `ptxas` reorders instructions so that loads come early and what uses them late. It does so
//! between two places that control can come from or go to, and moves no load over a store to the
//! same kind of memory, which might be to the same address. So within such a stretch an instruction
//! begins when what it uses is there, whatever stands before it in the PTX; and the stretch takes
//! at least one clock an instruction. Loads that follow each other wait together: an unrolled loop
//! waits less.

use crate::counters::{Executed, Traffic};
use crate::decode::code::{Kernel, Loop, Op, Space};
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

impl Clock {
    /// One past the last clock of the stretch.
    fn now(&self) -> f64 {
        self.end.max(self.start + self.count)
    }
}

/// When an instruction was begun.
#[derive(Clone, Copy, Default)]
struct Begun {
    start: f64,
    /// When its result is there.
    ready: f64,
    /// When its stretch began.
    stretch: f64,
    /// One past the last clock of the stretch up to it.
    now: f64,
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
    let mut begun = vec![Begun::default(); kernel.code.len()];
    let (mut clock, mut sum) = (Clock::default(), 0.0);
    for (pc, (instruction, cost)) in kernel.code.iter().zip(&kernel.costs).enumerate() {
        if begins[pc] {
            clock.start = clock.now();
            (clock.end, clock.count) = (clock.start, 0.0);
        }
        let needed = cost.needs.iter().map(|&need| begun[need as usize].ready);
        let mut start = needed.fold(clock.start, f64::max);
        if let Some(access) = instruction.op.access() {
            let stored = &mut clock.stored[usize::from(access.space == Space::Shared)];
            start = start.max(*stored);
            if !matches!(instruction.op, Op::Load(_)) {
                *stored = start;
            }
        }
        let before = clock.now();
        let weight = f64::from(instruction.weight);
        clock.count += weight;
        clock.end = clock.end.max(start + weight);
        let (stretch, now) = (clock.start, clock.now());
        sum += (now - before) * executed[pc].warps as f64;
        let ready = start + latency(&instruction.op, traffic, global);
        begun[pc] = Begun { start, ready, stretch, now };
    }
    sum + around(kernel, executed, &begun)
}

/// Clocks that the turns of loops wait for each other: a turn takes at least from where it uses a
/// value of the one before to where it has its own.
fn around(kernel: &Kernel, executed: &[Executed], begun: &[Begun]) -> f64 {
    let each = |inner: &Loop| {
        let last = inner.last as usize;
        let turn = begun[last].now - begun[inner.first as usize].stretch;
        let apart =
            |&(to, from): &(u32, u32)| begun[from as usize].ready - begun[to as usize].start;
        let longest = inner.carried.iter().map(apart).fold(turn, f64::max);
        (longest - turn) * executed[last].warps as f64
    };
    kernel.loops.iter().map(each).sum()
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
