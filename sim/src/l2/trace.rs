//! What the warps of a block ask of the cache, in as few bytes as possible.

use super::thinning::Thinning;

/// What a request does to the sectors that it touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Reads them.
    Load = 1,
    /// Overwrites bytes of them.
    Store = 2,
    /// Reads and writes them, in the cache.
    Atomic = 3,
}

impl Kind {
    /// Whether the cache needs to have what the memory holds.
    #[inline(always)]
    pub fn reads(self) -> bool {
        self as u64 & 1 != 0
    }

    /// Whether the memory is to get something new.
    #[inline(always)]
    pub fn writes(self) -> bool {
        self as u64 & 2 != 0
    }
}

/// Neighbouring sectors that a request touches: a coalesced request is one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run(u64);

/// Bits of a [`Run`] for the number of its first sector.
const FIRST: u32 = 48;

impl Run {
    /// So many sectors, 1 to 64, from the first one on.
    #[inline(always)]
    pub fn new(kind: Kind, first: u64, count: u64) -> Run {
        debug_assert!(first >> FIRST == 0 && (1..=64).contains(&count));
        Run(first | count << FIRST | (kind as u64) << (FIRST + 8))
    }

    /// The number of the first sector.
    #[inline(always)]
    pub fn first(self) -> u64 {
        self.0 & ((1 << FIRST) - 1)
    }

    /// How many.
    #[inline(always)]
    pub fn count(self) -> u64 {
        self.0 >> FIRST & 0xff
    }

    /// What is done to them.
    #[inline(always)]
    pub fn kind(self) -> Kind {
        match self.0 >> (FIRST + 8) {
            1 => Kind::Load,
            2 => Kind::Store,
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

/// The requests of one block to global memory, in the order in which its warps had their turns.
#[derive(Debug, Default)]
pub struct Trace {
    runs: Vec<Run>,
    /// Whose turn each part of them was, and where it ends.
    turns: Vec<Turn>,
    /// Runs that it may keep before it thins them out.
    most: usize,
    thinning: Thinning,
}

/// A part of a trace that one warp has noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn {
    /// The block in the grid.
    pub block: u64,
    /// The warp in the block.
    pub warp: u32,
    /// One past its last run.
    pub end: usize,
}

impl Trace {
    /// An empty trace that keeps about `most` runs.
    pub(super) fn begin(&mut self, thinning: Thinning, most: usize) {
        self.runs.clear();
        self.turns.clear();
        (self.thinning, self.most) = (thinning, most);
    }

    /// Notes neighbouring sectors.
    #[inline(always)]
    pub fn note(&mut self, run: Run) {
        self.runs.push(run);
    }

    /// Ends the turn of a warp.
    #[inline]
    pub fn turn(&mut self, block: u64, warp: u32) {
        let end = self.runs.len();
        if self.turns.last().map_or(0, |turn| turn.end) < end {
            self.turns.push(Turn { block, warp, end });
            if end > self.most {
                self.most = self.thinning.thin(&mut self.runs, &mut self.turns, self.most);
            }
        }
    }

    /// What was noted, whose it is, and the power of two of the sample that is left.
    pub(super) fn end(&mut self) -> (&[Run], &[Turn], u32) {
        self.thinning.settle(&mut self.runs, &mut self.turns, self.most);
        (&self.runs, &self.turns, self.thinning.power())
    }
}
