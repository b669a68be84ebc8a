//! What each warp asks of the cache, in as few bytes as possible.

use std::collections::HashMap;

use crate::gpu::LINE_SECTORS;

/// What a request does to the sectors that it touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Reads them.
    Load,
    /// Overwrites bytes of them.
    Store,
    /// Reads and writes them, in the cache.
    Atomic,
}

impl Kind {
    /// Whether the cache needs to have what the memory holds.
    pub fn reads(self) -> bool {
        self != Kind::Store
    }

    /// Whether the memory is to get something new.
    pub fn writes(self) -> bool {
        self != Kind::Load
    }
}

/// Neighbouring sectors that a request touches: a coalesced request is one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run(u64);

/// Bits of a [`Run`] for the number of its first sector, which is an address of less than 2^53
/// over 32.
const FIRST: u32 = 48;

impl Run {
    /// So many sectors, 1 to 255, from the first one on.
    #[inline(always)]
    pub fn new(kind: Kind, first: u64, count: u64) -> Run {
        debug_assert!(first >> FIRST == 0 && (1..256).contains(&count));
        Run(first | count << FIRST | (kind as u64) << (FIRST + 8))
    }

    /// The number of the first sector.
    pub fn first(self) -> u64 {
        self.0 & ((1 << FIRST) - 1)
    }

    /// How many.
    pub fn count(self) -> u64 {
        self.0 >> FIRST & 0xff
    }

    /// What is done to them.
    pub fn kind(self) -> Kind {
        match self.0 >> (FIRST + 8) {
            0 => Kind::Load,
            1 => Kind::Store,
            _ => Kind::Atomic,
        }
    }

    /// The parts of it that lie in one group of `size` sectors each: the number of the group, the
    /// first sector in it, how many.
    #[inline]
    pub fn groups(self, size: u64) -> impl Iterator<Item = (u64, u64, u64)> {
        let (mut at, end) = (self.first(), self.first() + self.count());
        std::iter::from_fn(move || {
            let (group, inner) = (at / size, at % size);
            let count = (end - at).min(size - inner);
            at += count;
            (count > 0).then_some((group, inner, count))
        })
    }
}

/// The smallest sample is one of 2 to this power of the sets: some dozens of them.
const MOST_SAMPLED: u32 = 6;

/// The requests of one warp to global memory, in its order.
#[derive(Debug, Default)]
pub struct Trace {
    runs: Vec<Run>,
    /// Runs that it may keep before it begins to drop some.
    most: usize,
    /// It keeps the lines of one of 2 to this power of the sets: see [`Trace::thin`].
    sample: u32,
    /// How many sets the cache has; 0 if every run is needed.
    sets: u64,
}

impl Trace {
    /// An empty trace for a cache of so many sets that keeps about `most` runs.
    pub fn begin(&mut self, sets: u64, most: usize) {
        self.runs.clear();
        (self.sets, self.most, self.sample) = (sets, most, 0);
    }

    /// Notes neighbouring sectors.
    #[inline(always)]
    pub fn note(&mut self, run: Run) {
        if self.runs.len() < self.most {
            self.runs.push(run);
        } else {
            self.thin(run);
        }
    }

    /// Notes the sectors of these addresses, which are one request.
    #[inline(never)]
    pub fn scatter(&mut self, kind: Kind, addresses: &[u64; 32]) {
        let mut sectors = addresses.map(|address| address >> 5);
        sectors.sort_unstable();
        let (mut first, mut count) = (sectors[0], 1);
        for &sector in &sectors[1..] {
            match sector - first {
                beyond if beyond < count => {}
                beyond if beyond == count => count += 1,
                _ => {
                    self.note(Run::new(kind, first, count));
                    (first, count) = (sector, 1);
                }
            }
        }
        self.note(Run::new(kind, first, count));
    }

    /// Notes a run when there is no room for it. A cache whose lines can make way is then watched
    /// in part: a sample of its sets, half as many each time. What happens in a set depends on
    /// nothing else, so what is counted there stands for the others. If nothing can make way, only
    /// the first touch of a sector matters, and the others are dropped.
    #[cold]
    fn thin(&mut self, run: Run) {
        self.runs.push(run);
        if self.sets == 0 {
            self.runs = first_touches(&self.runs);
            self.most = self.most.max(2 * self.runs.len());
            return;
        }
        sample(&mut self.runs, self.sets, self.sample);
        while self.runs.len() > self.most / 2 && self.sample < MOST_SAMPLED {
            self.sample += 1;
            sample(&mut self.runs, self.sets, self.sample);
        }
        self.most = self.most.max(2 * self.runs.len());
    }

    /// What was noted, and the power of two of the sample.
    pub(super) fn noted(&self) -> (&[Run], u32) {
        (&self.runs, self.sample)
    }
}

/// Keeps the lines of one of 2 to the power `power` of the sets.
pub(super) fn sample(runs: &mut Vec<Run>, sets: u64, power: u32) {
    if power == 0 {
        return;
    }
    // The lowest bits of a product with an odd number would be those of the set: these are not.
    let chosen = |line: u64| (line % sets).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - power) == 0;
    let mut kept = Vec::with_capacity(runs.len() / 2);
    for run in runs.iter() {
        for (line, inner, count) in run.groups(LINE_SECTORS).filter(|group| chosen(group.0)) {
            kept.push(Run::new(run.kind(), line * LINE_SECTORS + inner, count));
        }
    }
    *runs = kept;
}

/// The runs that are the first to touch one of their sectors, or the first to write to it.
fn first_touches(runs: &[Run]) -> Vec<Run> {
    let mut written: HashMap<u64, bool> = HashMap::new();
    let mut is_new = |run: &Run| {
        let mut new = false;
        for sector in run.first()..run.first() + run.count() {
            let writes = run.kind().writes();
            let before = written.insert(sector, writes);
            new |= before.is_none_or(|before| writes && !before);
            if before == Some(true) {
                written.insert(sector, true);
            }
        }
        new
    };
    runs.iter().copied().filter(|run| is_new(run)).collect()
}
