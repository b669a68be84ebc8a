//! A block: its warps take turns, and meet at its barriers (§9.7.14.3).

use crate::decode::code::{Barrier, Kernel, NOWHERE, Op, Reduction, Vote};
use crate::memory::{Cells, FRESH};

use super::core::{Core, Here};
use super::report::Kind;
use super::specials::{self, Position};
use super::warp::{Frame, NOBODY, State, Warp};
use super::{lanes, step};

/// Instructions of a warp before another one has its turn.
const TURN: u64 = 20_000;

/// Local memory that a lane has room for to begin with.
pub(super) const FIRST_LOCAL: u32 = 1024;

/// A block that runs, or waits to go on.
pub(super) struct Block {
    pub warps: Vec<Warp>,
    pub here: Here,
    /// What the order of the warps is drawn from; 0 keeps them in order.
    seed: u64,
}

/// How far a block has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// All threads have exited.
    Done,
    /// Its turn is over.
    Going,
}

impl Block {
    /// Room for blocks of a launch; `None` if the host has none.
    pub fn new(kernel: &Kernel, warps: u32, shared: u32, at: &Position) -> Option<Block> {
        let warp = |number| Warp::new(kernel, &Position { warp: number, ..*at });
        let warps = (0..warps).map(warp).collect::<Option<_>>()?;
        let shared = Cells::zeroed(shared as usize)?;
        Some(Block { warps, here: Here::new(shared), seed: 0 })
    }

    /// Begins a block of the grid.
    pub fn begin(&mut self, kernel: &Kernel, at: &Position, order: u64, seed: u64) {
        (self.here.block, self.here.order) = (at.block, order);
        self.here.arrived.fill([0; 32]);
        self.seed = if seed == 0 { 0 } else { mix(seed ^ mix(order)) | 1 };
        // What a block leaves in shared memory is no zero for the next one.
        self.here.shared.fill(0, self.here.shared.len(), FRESH);
        let [x, y, z] = at.threads;
        let threads = x * y * z;
        for warp in &mut self.warps {
            let here = (threads - warp.number * 32).min(32);
            warp.begin(kernel, u32::MAX >> (32 - here), &Position { warp: warp.number, ..*at });
        }
    }

    /// Runs until all threads have exited, or for about so many instructions.
    pub fn run(&mut self, core: &mut Core, most: u64) -> Progress {
        std::mem::swap(&mut core.here, &mut self.here);
        let end = core.time + most;
        let progress = loop {
            let before = core.time;
            for at in self.order() {
                core.steps = self.turn().min(end - core.time);
                step::run(core, &mut self.warps[at]);
                core.here.trace.turn(core.here.order, self.warps[at].number);
            }
            let released = self.release(core);
            if self.warps.iter().all(Warp::is_done) {
                break Progress::Done;
            }
            if core.time >= end {
                break Progress::Going;
            }
            if core.time == before && !released {
                self.stuck(core);
            }
        };
        std::mem::swap(&mut core.here, &mut self.here);
        progress
    }

    /// Reports where the first warp is that could go on, as its launch is ended.
    pub fn time_out(&mut self, core: &mut Core) {
        let mut ready = self.warps.iter().filter_map(|warp| Some((warp, warp.ready()?)));
        let Some((warp, at)) = ready.next() else { return };
        let path = warp.paths[at];
        let pc = warp.blamed(core.kernel, at, path.pc);
        let left = warp.meeting().count_ones();
        std::mem::swap(&mut core.here, &mut self.here);
        core.report(Kind::Timeout, pc, (warp.number, path.mask), None, |_| match left {
            0 => String::new(),
            left => format!(
                " Threads of the same warp left it and wait for these ({left}): if these wait for \
                 one of them, neither ever goes on"
            ),
        });
        core.report_calls(pc, warp, at);
        std::mem::swap(&mut core.here, &mut self.here);
    }

    /// The warps in the order of their turns.
    fn order(&mut self) -> impl Iterator<Item = usize> + use<> {
        let count = self.warps.len();
        let start = if self.seed == 0 { 0 } else { self.draw() as usize % count };
        let backwards = self.seed != 0 && self.draw() & 1 != 0;
        (0..count).map(move |i| {
            let at = (start + i) % count;
            if backwards { count - 1 - at } else { at }
        })
    }

    fn turn(&mut self) -> u64 {
        if self.seed == 0 { TURN } else { 1 + self.draw() % 64 }
    }

    fn draw(&mut self) -> u64 {
        self.seed = mix(self.seed);
        self.seed >> 16
    }

    /// Opens the barriers that all threads have reached.
    fn release(&mut self, core: &mut Core) -> bool {
        let paths = self.warps.iter().flat_map(|warp| &warp.paths);
        let waited_for = paths.fold(0u32, |ids, path| match path.state {
            State::Barrier(id) => ids | 1 << id,
            _ => ids,
        });
        lanes::lanes_of(waited_for).filter(|&id| self.release_one(core, id as u32)).count() > 0
    }

    fn release_one(&mut self, core: &mut Core, id: u32) -> bool {
        let mut first = None;
        let mut full = 0;
        let mut all = true;
        for warp in &self.warps {
            let waiting = warp.waiting(id);
            if waiting != 0 && first.is_none() {
                let here = |path: &&super::warp::Path| path.state == State::Barrier(id);
                first = warp.paths.iter().find(here).map(|path| (warp, *path));
            }
            let came = waiting | core.here.arrived[id as usize][warp.number as usize];
            let complete = warp.alive & !came == 0;
            all &= complete;
            full += u32::from(complete && came != 0);
        }
        let Some((warp, path)) = first else { return false };
        let Some(barrier) = barrier(core.kernel, path.pc) else { return false };
        let count = barrier
            .count
            .map(|slot| lanes::narrow(&warp.registers, slot))
            .map(|counts| counts[path.mask.trailing_zeros() as usize & 31].div_ceil(32));
        if !count.map_or(all, |count| full >= count) {
            return false;
        }
        self.reduce(core.kernel, id);
        for warp in &mut self.warps {
            for path in warp.paths.iter_mut().filter(|path| path.state == State::Barrier(id)) {
                path.state = State::Ready;
                path.pc += 1;
            }
            warp.join();
        }
        core.here.arrived[id as usize] = [0; 32];
        true
    }

    /// Gives the threads that wait at a barrier what it makes of their predicates.
    fn reduce(&mut self, kernel: &Kernel, id: u32) {
        let (mut holding, mut asked) = (0, 0);
        self.each_waiting(kernel, id, |warp, mask, reduction| {
            let bits = warp.registers[reduction.source.0 as usize] as u32 ^ reduction.source.1;
            holding += (bits & mask).count_ones();
            asked += mask.count_ones();
        });
        if asked == 0 {
            return;
        }
        self.each_waiting(kernel, id, |warp, mask, reduction| {
            let holds = match reduction.vote {
                Vote::All => holding == asked,
                _ => holding > 0,
            };
            let registers = &mut warp.registers;
            match reduction.vote {
                Vote::Count => lanes::write_narrow(registers, reduction.target, mask, |_| holding),
                _ => {
                    let bits = if holds { u32::MAX } else { 0 };
                    lanes::write_bits(registers, reduction.target, mask, bits);
                }
            }
        });
    }

    fn each_waiting(
        &mut self,
        kernel: &Kernel,
        id: u32,
        mut each: impl FnMut(&mut Warp, u32, &Reduction),
    ) {
        for warp in &mut self.warps {
            for at in 0..warp.paths.len() {
                let path = warp.paths[at];
                let here = path.state == State::Barrier(id);
                let barrier = barrier(kernel, path.pc).filter(|_| here);
                if let Some(reduction) = barrier.and_then(|barrier| barrier.reduction.as_ref()) {
                    each(warp, path.mask, reduction);
                }
            }
        }
    }

    /// Ends the threads that wait for what cannot happen any more.
    fn stuck(&mut self, core: &mut Core) {
        for warp in &mut self.warps {
            for at in 0..warp.paths.len() {
                let path = warp.paths[at];
                let lanes = (warp.number, path.mask);
                match path.state {
                    State::Barrier(id) => {
                        core.report(Kind::DivergentBarrier, path.pc, lanes, None, |_| {
                            format!(
                                "waits at barrier {id} for threads of the block that wait \
                                 elsewhere and will never come"
                            )
                        });
                    }
                    State::Exchange => {
                        core.report(Kind::InvalidWarpMask, path.pc, lanes, None, |_| {
                            "waits for lanes that its mask names and that will never come \
                             here"
                                .into()
                        });
                    }
                    _ => continue,
                }
                core.report_calls(path.pc, warp, at);
            }
            warp.alive = 0;
            warp.paths.clear();
        }
    }
}

/// A step of a generator of numbers (splitmix64).
fn mix(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

fn barrier(kernel: &Kernel, pc: u32) -> Option<&Barrier> {
    match &kernel.code.get(pc as usize)?.op {
        Op::Barrier(barrier) => Some(barrier),
        _ => None,
    }
}

impl Warp {
    /// Room for warps of a kernel; `None` if the host has none.
    fn new(kernel: &Kernel, at: &Position) -> Option<Warp> {
        let mut registers = vec![0; kernel.words as usize];
        specials::constants(kernel, &mut registers);
        specials::fill(kernel, &mut registers, at);
        // An odd number of lines of the host's cache, so that the lanes share no set of it.
        let local_bytes = kernel.functions[0].local.max(FIRST_LOCAL).next_multiple_of(64) | 64;
        Some(Warp {
            number: at.warp,
            registers,
            alive: 0,
            paths: Vec::new(),
            frames: Vec::new(),
            active: vec![0; kernel.functions.len()],
            local: Cells::zeroed(32 * local_bytes as usize)?,
            local_bytes,
        })
    }

    /// Stands these lanes at the start of the kernel.
    fn begin(&mut self, kernel: &Kernel, lanes: u32, at: &Position) {
        let variables = kernel.variables.start as usize..kernel.variables.end as usize;
        // As bytes, of which the compiler makes one call of the system's fastest loop.
        bytemuck::cast_slice_mut::<u64, u8>(&mut self.registers[variables]).fill(0);
        specials::refill(kernel, &mut self.registers, at);
        self.alive = lanes;
        self.paths.clear();
        self.frames.clear();
        self.active.fill(0);
        self.active[0] = 1;
        let top = kernel.functions[0].local.next_multiple_of(16);
        self.frames.push(Some(Frame { function: 0, base: 0, top, call: NOWHERE, saved: None }));
        self.spawn(kernel.functions[0].entry, lanes, NOWHERE, NOBODY, 0);
    }
}
