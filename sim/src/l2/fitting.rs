//! The cache of a launch in which nothing can make way.

use crate::gpu::L2_WAYS;
use crate::memory::Memory;

use super::Moved;
use super::trace::{Kind, Run};
use super::waves::{Batch, in_turn};

/// Sectors of a [`Word`].
const WORD: u64 = 64;

/// What has happened to 64 neighbouring sectors: a bit each.
#[derive(Clone, Copy, Default)]
struct Word {
    /// Touched in an earlier wave.
    present: u64,
    /// Loaded, or needed by an atomic operation, in this wave.
    loaded: u64,
    /// Stored to in this wave.
    stored: u64,
    /// To be written back.
    dirty: u64,
    /// Of those that are both loaded and stored to in this wave, those whose first touch is known.
    settled: u64,
}

/// A run of sectors that is live, and where its words are.
struct Range {
    first: u64,
    end: u64,
    words: usize,
}

/// Which sectors have been touched.
pub(super) struct Fitting {
    ranges: Vec<Range>,
    /// The range that the last run was in.
    last: usize,
    words: Vec<Word>,
    /// The words that this wave has touched.
    touched: Vec<u32>,
}

impl Fitting {
    /// For a cache of so many sets, if the live memory cannot fill one of them.
    pub fn new(memory: &Memory, sets: u64) -> Option<Fitting> {
        let live = || memory.live().map(|range| (range.start, range.end));
        if fullest(live().map(|(start, end)| (start >> 7, (end - 1 >> 7) + 1)), sets) > L2_WAYS {
            return None;
        }
        let (mut ranges, mut words) = (Vec::new(), 0);
        for (start, end) in live() {
            let (first, end) = (start >> 5, (end - 1 >> 5) + 1);
            ranges.push(Range { first, end, words });
            words += (end - first).div_ceil(WORD) as usize;
        }
        let words = vec![Word::default(); words];
        Some(Fitting { ranges, last: 0, words, touched: Vec::new() })
    }

    /// Runs the requests of one wave through.
    pub fn wave(&mut self, batches: &[Batch]) -> Moved {
        let mut moved = Moved::default();
        let mut mixed = 0;
        for run in batches.iter().flat_map(Batch::runs) {
            self.parts(*run, |word, at, sectors, touched| {
                if word.loaded | word.stored == 0 {
                    touched.push(at);
                }
                if run.kind().reads() {
                    let read = sectors & !(word.present | word.loaded);
                    moved.read += u64::from(read.count_ones());
                    word.loaded |= sectors;
                } else {
                    word.stored |= sectors;
                }
                if run.kind().writes() {
                    moved.written += u64::from((sectors & !word.dirty).count_ones());
                    word.dirty |= sectors;
                }
                mixed |= word.loaded & word.stored & !word.present;
            });
        }
        if mixed != 0 {
            moved.read -= self.stored_first(batches);
        }
        for at in self.touched.drain(..) {
            let word = &mut self.words[at as usize];
            word.present |= word.loaded | word.stored;
            (word.loaded, word.stored) = (0, 0);
        }
        moved
    }

    /// How many of the sectors that this wave loads and stores to are stored to first.
    fn stored_first(&mut self, batches: &[Batch]) -> u64 {
        let mut count = 0;
        in_turn(batches, |run| {
            self.parts(run, |word, _, sectors, _| {
                let mixed = word.loaded & word.stored & !(word.present | word.settled);
                word.settled |= sectors & mixed;
                if run.kind() == Kind::Store {
                    count += u64::from((sectors & mixed).count_ones());
                }
            });
        });
        count
    }

    /// Calls with each word that a run touches, its number, and which of its sectors.
    #[inline(always)]
    fn parts(&mut self, run: Run, mut each: impl FnMut(&mut Word, u32, u64, &mut Vec<u32>)) {
        let is_in = |range: &Range| (range.first..range.end).contains(&run.first());
        if !is_in(&self.ranges[self.last]) {
            let after = self.ranges.partition_point(|range| range.first <= run.first());
            self.last = after.saturating_sub(1);
        }
        let range = &self.ranges[self.last];
        let run = Run::new(run.kind(), run.first() - range.first, run.count());
        for (word, inner, count) in run.groups(WORD) {
            let at = range.words + word as usize;
            let sectors = (u64::MAX >> (WORD - count)) << inner;
            each(&mut self.words[at], at as u32, sectors, &mut self.touched);
        }
    }
}

/// How many of these lines, given as ranges, the set gets that gets most of them.
fn fullest(ranges: impl Iterator<Item = (u64, u64)>, sets: u64) -> usize {
    let (mut each, mut ends) = (0, Vec::new());
    for (first, end) in ranges {
        each += (end - first) / sets;
        let (start, more) = (first % sets, (end - first) % sets);
        // One more in the sets from `start` on, of which those beyond the last are the first ones.
        let beyond = (start + more).saturating_sub(sets);
        ends.extend([(start, 1), (start + more - beyond, -1), (0, i64::from(beyond > 0))]);
        ends.push((beyond, -i64::from(beyond > 0)));
    }
    ends.sort_unstable();
    let sums = ends.iter().scan(0, |sum, end| {
        *sum += end.1;
        Some(*sum)
    });
    each as usize + sums.max().unwrap_or(0) as usize
}
