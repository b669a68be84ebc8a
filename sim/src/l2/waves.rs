//! Waves: the blocks that a GPU holds at the same time. What the warps of a wave have asked for is
//! kept until all its blocks are over, and the waves before it.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::memory::Memory;

use super::trace::{Run, Trace, sample};
use super::{Cache, Fitting, Moved, Sets};

/// Bytes that the traces of a wave may take before they are thinned out.
const MOST_BYTES: u64 = 128 << 20;

/// Fewest runs that a warp may keep.
const FEWEST_RUNS: u64 = 64;

/// How many waves may be begun before the first one of them is over.
const WAVES_AHEAD: u64 = 3;

/// How a launch comes in waves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Blocks of the launch.
    pub blocks: u64,
    /// Blocks that the GPU holds at the same time.
    pub at_once: u64,
    /// Warps of a block.
    pub warps: u64,
    /// Bytes of the cache.
    pub bytes: u64,
}

/// What the warps of a block have noted, one after the other.
struct Block {
    runs: Vec<Run>,
    /// Where those of each warp end.
    ends: Vec<usize>,
    /// The power of two of the smallest sample.
    sample: u32,
}

/// The waves of a launch on their way through the cache.
pub(crate) struct Waves {
    shape: Shape,
    sets: u64,
    fits: bool,
    /// Blocks that are over, by number, whose wave has not been through the cache.
    over: Mutex<BTreeMap<u64, Block>>,
    /// The wave that is next; all before it have been through.
    next: AtomicU64,
    passed: Mutex<Passed>,
}

/// What has been through the cache.
struct Passed {
    cache: Cache,
    moved: Moved,
    /// The power of two of the smallest sample so far: sets outside of it are not up to date.
    sample: u32,
}

impl Waves {
    /// The waves of a launch that finds this memory.
    pub fn new(shape: Shape, memory: &Memory) -> Waves {
        let sets = Sets::count(shape.bytes);
        let fitting = Fitting::new(memory, sets);
        let fits = fitting.is_some();
        let cache = fitting.map_or_else(|| Cache::Sets(Sets::new(shape.bytes)), Cache::Fitting);
        let passed = Mutex::new(Passed { cache, moved: Moved::default(), sample: 0 });
        let over = Mutex::new(BTreeMap::new());
        Waves { shape, sets, fits, over, next: AtomicU64::new(0), passed }
    }

    /// Empties the trace of a warp that begins.
    pub fn begin(&self, trace: &mut Trace) {
        let warps = self.shape.blocks.min(self.shape.at_once) * self.shape.warps;
        let most = MOST_BYTES / size_of::<Run>() as u64 / warps.max(1);
        trace.begin(if self.fits { 0 } else { self.sets }, most.max(FEWEST_RUNS) as usize);
    }

    /// Whether this block may begin: it may not if too many waves would be kept.
    pub fn may_begin(&self, block: u64) -> bool {
        block / self.shape.at_once < self.next.load(Ordering::Acquire) + WAVES_AHEAD
    }

    /// Takes what the warps of a block have noted, which is over, and passes on what is complete.
    pub fn end<'t>(&self, block: u64, warps: impl Iterator<Item = &'t Trace>) {
        let mut all = Block { runs: Vec::new(), ends: Vec::new(), sample: 0 };
        for (runs, sample) in warps.map(Trace::noted) {
            all.runs.extend_from_slice(runs);
            all.ends.push(all.runs.len());
            all.sample = all.sample.max(sample);
        }
        let complete = {
            let mut over = lock(&self.over);
            over.insert(block, all);
            over.len() as u64 >= self.size(self.next.load(Ordering::Acquire))
        };
        // Whoever holds the cache now will look for more waves when it is through; should it just
        // have looked, the next block's end does, or that of the launch.
        if complete && let Ok(mut passed) = self.passed.try_lock() {
            self.pass(&mut passed, false);
        }
    }

    /// What all waves have moved, the last ones complete or not.
    pub fn finish(&self) -> Moved {
        let mut passed = lock(&self.passed);
        self.pass(&mut passed, true);
        passed.moved
    }

    /// Blocks of a wave.
    fn size(&self, wave: u64) -> u64 {
        let before = wave * self.shape.at_once;
        self.shape.at_once.min(self.shape.blocks.saturating_sub(before)).max(1)
    }

    /// Runs waves through the cache, those that are complete or all.
    fn pass(&self, passed: &mut Passed, all: bool) {
        loop {
            let wave = self.next.load(Ordering::Acquire);
            let end = (wave + 1) * self.shape.at_once;
            let mut blocks = {
                let mut over = lock(&self.over);
                let complete = over.range(..end).count() as u64 == self.size(wave);
                if over.is_empty() || !(complete || all) {
                    return;
                }
                let later = over.split_off(&end);
                std::mem::replace(&mut *over, later)
            };
            passed.wave(&mut blocks, self.sets);
            self.next.store(wave + 1, Ordering::Release);
        }
    }
}

impl Passed {
    fn wave(&mut self, blocks: &mut BTreeMap<u64, Block>, sets: u64) {
        let smallest = blocks.values().map(|block| block.sample).max().unwrap_or(0);
        self.sample = self.sample.max(smallest);
        let sampled: Vec<Vec<Run>> = match self.sample {
            0 => Vec::new(),
            power => blocks.values().flat_map(|block| block.sampled(sets, power)).collect(),
        };
        let warps: Vec<&[Run]> = match self.sample {
            0 => blocks.values().flat_map(Block::warps).collect(),
            _ => sampled.iter().map(Vec::as_slice).collect(),
        };
        let moved = self.cache.wave(&warps, self.sample);
        self.moved.read += moved.read;
        self.moved.written += moved.written;
    }
}

impl Block {
    fn warps(&self) -> impl Iterator<Item = &[Run]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(start, end)| &self.runs[*start..*end])
    }

    fn sampled(&self, sets: u64, power: u32) -> impl Iterator<Item = Vec<Run>> {
        self.warps().map(move |runs| {
            let mut runs = runs.to_vec();
            sample(&mut runs, sets, power);
            runs
        })
    }
}

/// What a mutex holds, also if a thread has panicked that held it.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|error| error.into_inner())
}
