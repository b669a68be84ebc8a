//! A launch: its blocks over the host's threads, and what they tell put together.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::counters::{Executed, Traffic};
use crate::decode::code::Kernel;
use crate::l2::{Moved, Waves};
use crate::memory::{Cells, Memory};

use super::block::{Block, FIRST_LOCAL, Progress};
use super::core::{Core, Here};
use super::device::{Launch, Options};
use super::findings::Findings;
use super::habit::Habit;
use super::specials::Position;

/// Instructions of a block before another one has its turn on the same host thread. A block that
/// is over sooner, as nearly all are, runs in one go.
const TURN: u64 = 1 << 20;

/// A launch ends after so many instructions of its warps if nobody says another number: some
/// minutes.
pub(super) const MOST_INSTRUCTIONS: u64 = 1 << 34;

/// What the blocks that run at the same time may take of the host's memory, in bytes.
const MOST_MEMORY: u64 = 512 << 20;

/// The host threads that run blocks: a pool of their own. The workers of the pool that everything
/// else uses may all be waiting for the device that this launch is on.
fn workers() -> Option<&'static ThreadPool> {
    static WORKERS: OnceLock<Option<ThreadPool>> = OnceLock::new();
    WORKERS.get_or_init(|| ThreadPoolBuilder::new().build().ok()).as_ref()
}

/// A launch that can be made, with all that its blocks share.
pub(super) struct Run<'a> {
    pub kernel: &'a Kernel,
    pub memory: &'a Memory,
    pub launch: &'a Launch,
    pub options: &'a Options,
    pub params: Cells,
    pub multiprocessors: u32,
    pub waves: Waves,
}

/// What the blocks of a launch did.
#[derive(Default)]
pub(super) struct Outcome {
    pub executed: Vec<Executed>,
    pub traffic: Vec<Traffic>,
    pub findings: Findings,
    /// Between the L2 cache and the GPU's memory.
    pub moved: Moved,
    /// What each block printed that did.
    pub stdout: Vec<(u64, Vec<u8>)>,
    /// Whether it was ended because of too many instructions.
    pub timed_out: bool,
    /// Whether the host lacks the memory for a block.
    pub lacking: bool,
}

/// What the host threads share.
struct Shared {
    next: AtomicU64,
    spent: AtomicU64,
    stop: AtomicBool,
}

impl Run<'_> {
    fn blocks(&self) -> u64 {
        self.launch.grid.iter().map(|&n| u64::from(n)).product()
    }

    fn warps(&self) -> u32 {
        self.launch.block.iter().product::<u32>().div_ceil(32)
    }

    fn shared_bytes(&self) -> u32 {
        match self.launch.shared_bytes {
            0 => self.kernel.shared,
            dynamic => self.kernel.dynamic + dynamic,
        }
    }

    /// Runs all blocks.
    pub fn go(&self) -> Outcome {
        let shared = Shared {
            next: AtomicU64::new(0),
            spent: AtomicU64::new(0),
            stop: AtomicBool::new(false),
        };
        let threads = match self.options.threads {
            // A caller that is itself a worker of rayon would take up other work of its pool while
            // it waits, and that may be what waits for this launch.
            _ if rayon::current_thread_index().is_some() => 1,
            _ if self.kernel.sees_order() => 1,
            0 => rayon::current_num_threads(),
            threads => threads,
        };
        let threads = (threads as u64).min(self.blocks()).max(1);
        let mut outcome = match (threads, workers()) {
            (2.., Some(workers)) => self.work_together(&shared, threads, workers),
            _ => self.work(&shared, 1),
        };
        outcome.moved = self.waves.finish();
        outcome.stdout.sort_by_key(|(order, _)| *order);
        outcome.timed_out = shared.spent.load(Ordering::Relaxed) > self.most();
        outcome
    }

    fn work_together(&self, shared: &Shared, threads: u64, workers: &ThreadPool) -> Outcome {
        let all = Mutex::new(Outcome::default());
        let add = || {
            let outcome = self.work(shared, threads);
            all.lock().unwrap_or_else(|e| e.into_inner()).merge(outcome);
        };
        workers.in_place_scope(|scope| {
            (1..threads).for_each(|_| scope.spawn(|_| add()));
            add();
        });
        all.into_inner().unwrap_or_else(|e| e.into_inner())
    }

    fn most(&self) -> u64 {
        self.options.max_instructions.unwrap_or(MOST_INSTRUCTIONS)
    }

    /// One host thread: takes the next block, in order; a block that needs long shares it.
    fn work(&self, shared: &Shared, threads: u64) -> Outcome {
        let mut stdout = Vec::new();
        let Some(mut core) = self.core() else {
            return Outcome { lacking: true, ..Outcome::default() };
        };
        let (mut waiting, mut spare, mut share) = (VecDeque::new(), Vec::new(), self.waves.share());
        let most = self.resident(threads);
        let mut lacking = false;
        while !shared.stop.load(Ordering::Relaxed) {
            let next = shared.next.load(Ordering::Relaxed);
            let early = next < self.blocks() && !self.waves.may_begin(next);
            let taken = match waiting.len() < most && !early {
                true => self.take(shared, &mut spare, &mut lacking),
                false => None,
            };
            let Some(mut block) = taken.or_else(|| waiting.pop_front()) else {
                if !early {
                    break;
                }
                // The next block is too far ahead of one that another host thread runs.
                self.waves.hand_over(&mut share);
                std::thread::yield_now();
                continue;
            };
            let before = core.time;
            let left = self.most().saturating_sub(shared.spent.load(Ordering::Relaxed));
            let progress = block.run(&mut core, TURN.min(left.saturating_add(1)));
            let spent = core.time - before;
            if shared.spent.fetch_add(spent, Ordering::Relaxed) + spent > self.most() {
                shared.stop.store(true, Ordering::Relaxed);
                block.time_out(&mut core);
            }
            if progress == Progress::Going {
                waiting.push_back(block);
                continue;
            }
            if !block.here.stdout.is_empty() {
                stdout.push((block.here.order, std::mem::take(&mut block.here.stdout)));
            }
            self.waves.end(block.here.order, &mut block.here.trace, &mut share);
            spare.push(block);
        }
        self.waves.hand_over(&mut share);
        let unfinished = waiting.into_iter().filter(|block| !block.here.stdout.is_empty());
        stdout.extend(unfinished.map(|block| (block.here.order, block.here.stdout)));
        let Core { executed, habits, findings, .. } = core;
        let traffic = habits.into_iter().map(|habit| habit.traffic).collect();
        let (moved, timed_out) = (Moved::default(), false);
        Outcome { executed, traffic, findings, moved, stdout, timed_out, lacking }
    }

    /// The next block, at its beginning.
    fn take(&self, shared: &Shared, spare: &mut Vec<Block>, lacking: &mut bool) -> Option<Block> {
        let order = shared.next.fetch_add(1, Ordering::Relaxed);
        if order >= self.blocks() {
            return None;
        }
        let at = self.position(order);
        let new = || Block::new(self.kernel, self.warps(), self.shared_bytes(), &at);
        let Some(mut block) = spare.pop().or_else(new) else {
            *lacking = true;
            shared.stop.store(true, Ordering::Relaxed);
            return None;
        };
        block.begin(self.kernel, &at, order, self.options.seed);
        self.waves.begin(&mut block.here.trace);
        Some(block)
    }

    fn position(&self, order: u64) -> Position {
        let [x, y, _] = self.launch.grid.map(u64::from);
        Position {
            warp: 0,
            block: [order % x, order / x % y, order / (x * y)].map(|i| i as u32),
            threads: self.launch.block,
            blocks: self.launch.grid,
            dynamic_shared: self.launch.shared_bytes,
            total_shared: self.shared_bytes(),
            multiprocessors: self.multiprocessors,
        }
    }

    /// How many blocks may share a host thread.
    fn resident(&self, threads: u64) -> usize {
        let warps = u64::from(self.warps());
        let registers = u64::from(self.kernel.words) * 8;
        let local = 32 * u64::from(self.kernel.functions[0].local.max(FIRST_LOCAL));
        let block = warps * (registers + local) + u64::from(self.shared_bytes());
        (MOST_MEMORY / threads / block.max(1)).clamp(1, 4096) as usize
    }

    fn core(&self) -> Option<Core<'_>> {
        let here = Here::new(Cells::zeroed(0)?);
        Some(Core {
            kernel: self.kernel,
            memory: self.memory,
            params: &self.params,
            layout: &self.waves.layout,
            here,
            threads: self.launch.block,
            check: self.options.check,
            executed: vec![Executed::default(); self.kernel.code.len()],
            habits: (0..self.kernel.accesses).map(|_| Habit::default()).collect(),
            findings: Findings::default(),
            steps: 0,
            time: 0,
        })
    }
}

impl Outcome {
    fn merge(&mut self, other: Outcome) {
        if self.executed.is_empty() {
            self.executed = other.executed;
            self.traffic = other.traffic;
        } else {
            for (ours, theirs) in self.executed.iter_mut().zip(other.executed) {
                *ours += theirs;
            }
            for (ours, theirs) in self.traffic.iter_mut().zip(other.traffic) {
                *ours += theirs;
            }
        }
        self.findings.merge(other.findings);
        self.stdout.extend(other.stdout);
        self.lacking |= other.lacking;
    }
}
