//! Waves: the blocks that a GPU holds at the same time. What the warps of a wave have asked for is
//! kept until all its blocks are over, and the waves before it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use crate::gpu::{L2_WAYS, LINE_SECTORS};
use crate::memory::Memory;

use super::fitting::{Mark, Marks};
use super::thinning::{Thinning, sample};
use super::trace::{Run, Trace, Turn};
use super::{Cache, Fitting, Layout, Moved, Sets};

/// Bytes that the traces of a wave may take before they are thinned out.
const MOST_BYTES: u64 = 128 << 20;

/// Fewest runs that a block may keep.
const FEWEST_RUNS: u64 = 512;

/// Runs that a host thread keeps to itself before it hands them over.
const BATCH: usize = 1 << 16;

/// How many waves may be begun before the first one of them is over.
const WAVES_AHEAD: u64 = 3;

/// How a launch comes in waves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Blocks of the launch.
    pub blocks: u64,
    /// Blocks that the GPU holds at the same time.
    pub at_once: u64,
    /// Bytes of the cache.
    pub bytes: u64,
}

/// What one host thread keeps of blocks that are over.
pub(crate) struct Share {
    batch: Batch,
    /// If nothing can make way.
    marks: Option<Marks>,
}

/// What blocks of one wave have noted, which are over: what one host thread hands over.
#[derive(Default)]
pub(super) struct Batch {
    wave: u64,
    blocks: u64,
    /// If nothing can make way, this is all that is kept.
    marks: Vec<Mark>,
    runs: Vec<Run>,
    turns: Vec<Turn>,
    /// The power of two of the smallest sample.
    power: u32,
}

/// The waves of a launch on their way through the cache.
pub(crate) struct Waves {
    /// Which sectors there are.
    pub layout: Layout,
    shape: Shape,
    thinning: Thinning,
    /// What is over, by wave, of waves that have not been through the cache.
    over: Mutex<BTreeMap<u64, Vec<Batch>>>,
    /// The wave that is next; all before it have been through.
    next: AtomicU64,
    passed: Mutex<Passed>,
}

/// What has been through the cache.
struct Passed {
    cache: Cache,
    moved: Moved,
    /// The power of two of the smallest sample so far: sets outside of it are not up to date.
    power: u32,
    sets: u64,
}

impl Waves {
    /// The waves of a launch that finds this memory.
    pub fn new(shape: Shape, memory: &Memory) -> Waves {
        let sets = Sets::count(shape.bytes);
        let layout = Layout::of(memory);
        let room = sets * L2_WAYS as u64 * LINE_SECTORS;
        let (cache, thinning) = match layout.sectors() {
            few if few <= room => (Cache::Fitting(Fitting::new(few)), Thinning::FirstTouches),
            _ => (Cache::Sets(Sets::new(shape.bytes)), Thinning::Sample { sets, power: 0 }),
        };
        let passed = Mutex::new(Passed { cache, moved: Moved::default(), power: 0, sets });
        let over = Mutex::new(BTreeMap::new());
        Waves { layout, shape, thinning, over, next: AtomicU64::new(0), passed }
    }

    /// What a host thread begins with.
    pub fn share(&self) -> Share {
        let fits = self.thinning == Thinning::FirstTouches;
        let marks = fits.then(|| Marks::new(self.layout.sectors()));
        Share { batch: Batch::default(), marks }
    }

    /// Empties the trace of a block that begins.
    pub fn begin(&self, trace: &mut Trace) {
        let blocks = self.shape.blocks.min(self.shape.at_once);
        let most = (MOST_BYTES / size_of::<Run>() as u64 / blocks).max(FEWEST_RUNS);
        trace.begin(self.thinning, most as usize);
    }

    /// Whether this block may begin: it may not if too many waves would be kept.
    pub fn may_begin(&self, block: u64) -> bool {
        block / self.shape.at_once < self.next.load(Ordering::Acquire) + WAVES_AHEAD
    }

    /// Takes what a block has noted, which is over.
    pub fn end(&self, block: u64, trace: &mut Trace, share: &mut Share) {
        let wave = block / self.shape.at_once;
        if share.batch.wave != wave || share.batch.runs.len() > BATCH {
            self.hand_over(share);
            share.batch.wave = wave;
        }
        let Share { batch, marks } = share;
        batch.blocks += 1;
        let (runs, turns, power) = trace.end();
        if let Some(marks) = marks {
            return marks.add(block, runs);
        }
        let start = batch.runs.len();
        batch.runs.extend_from_slice(runs);
        batch.turns.extend(turns.iter().map(|turn| Turn { end: start + turn.end, ..*turn }));
        batch.power = batch.power.max(power);
    }

    /// Takes what a host thread has kept to itself, and passes on what is complete.
    pub fn hand_over(&self, share: &mut Share) {
        let mut batch = std::mem::take(&mut share.batch);
        if batch.blocks > 0 {
            batch.marks = share.marks.as_mut().map(Marks::take).unwrap_or_default();
            lock(&self.over).entry(batch.wave).or_default().push(batch);
            // Whoever has the cache now looks for more when it is through; should it just have
            // looked, the next one to hand over does, or the end of the launch.
            if let Ok(mut passed) = self.passed.try_lock() {
                self.pass(&mut passed, false);
            }
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
        self.shape.at_once.min(self.shape.blocks.saturating_sub(before))
    }

    /// Runs waves through the cache, those that are complete or all.
    fn pass(&self, passed: &mut Passed, all: bool) {
        loop {
            let wave = self.next.load(Ordering::Acquire);
            let batches = {
                let mut over = lock(&self.over);
                let blocks = |batches: &Vec<Batch>| batches.iter().map(|batch| batch.blocks).sum();
                let complete = over.get(&wave).map_or(0, blocks) == self.size(wave);
                if over.is_empty() || !(complete || all) {
                    return;
                }
                over.remove(&wave).unwrap_or_default()
            };
            passed.wave(batches);
            self.next.store(wave + 1, Ordering::Release);
        }
    }
}

impl Passed {
    fn wave(&mut self, mut batches: Vec<Batch>) {
        self.power = batches.iter().fold(self.power, |power, batch| power.max(batch.power));
        if self.power > 0 {
            for batch in &mut batches {
                sample(&mut batch.runs, &mut batch.turns, self.sets, self.power);
            }
        }
        let moved = self.cache.wave(&batches, self.power);
        self.moved.read += moved.read;
        self.moved.written += moved.written;
    }
}

impl Batch {
    /// What was marked, if nothing can make way.
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// What the warps have noted at each of their turns.
    fn turns(&self) -> impl Iterator<Item = ((u64, u32), &[Run])> {
        let starts = std::iter::once(0).chain(self.turns.iter().map(|turn| turn.end));
        let part =
            |(turn, start): (&Turn, usize)| ((turn.block, turn.warp), &self.runs[start..turn.end]);
        self.turns.iter().zip(starts).map(part)
    }
}

/// Calls with one run of each warp of a wave in turn, by block and warp, until none is left.
pub(super) fn in_turn(batches: &[Batch], mut each: impl FnMut(Run)) {
    let mut turns: Vec<_> = batches.iter().flat_map(Batch::turns).collect();
    // Stable: the turns of one warp stay in their order. A block is in one batch.
    turns.sort_by_key(|turn| turn.0);
    let warps = turns.chunk_by(|a, b| a.0 == b.0);
    let mut left: Vec<_> = warps.map(|turns| turns.iter().flat_map(|turn| turn.1)).collect();
    while !left.is_empty() {
        left.retain_mut(|runs| runs.next().map(|run| each(*run)).is_some());
    }
}

/// What a mutex holds, also if a thread has panicked that held it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|error| error.into_inner())
}
