//! The cache of a launch in which nothing can make way.

use super::Moved;
use super::layout::UNIT;
use super::trace::{Kind, Run};
use super::waves::{Batch, in_turn};

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

/// Which sectors have been touched.
pub(super) struct Fitting {
    words: Vec<Word>,
    /// The words that this wave has touched.
    touched: Vec<u32>,
}

impl Fitting {
    /// For so many sectors.
    pub fn new(sectors: u64) -> Fitting {
        let words = vec![Word::default(); sectors.div_ceil(UNIT) as usize];
        Fitting { words, touched: Vec::new() }
    }

    /// Runs the requests of one wave through.
    pub fn wave(&mut self, batches: &[Batch]) -> Moved {
        let mut moved = Moved::default();
        let mut mixed = 0;
        for run in batches.iter().flat_map(Batch::runs) {
            let (reads, writes) = (run.kind().reads(), run.kind().writes());
            for (at, sectors) in parts(*run) {
                let word = &mut self.words[at];
                if word.loaded | word.stored == 0 {
                    self.touched.push(at as u32);
                }
                if reads {
                    let read = sectors & !(word.present | word.loaded);
                    moved.read += u64::from(read.count_ones());
                    word.loaded |= sectors;
                } else {
                    word.stored |= sectors;
                }
                if writes {
                    moved.written += u64::from((sectors & !word.dirty).count_ones());
                    word.dirty |= sectors;
                }
                mixed |= word.loaded & word.stored & !word.present;
            }
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
            for (at, sectors) in parts(run) {
                let word = &mut self.words[at];
                let both = word.loaded & word.stored & !(word.present | word.settled);
                word.settled |= sectors & both;
                if run.kind() == Kind::Store {
                    count += u64::from((sectors & both).count_ones());
                }
            }
        });
        count
    }
}

/// The words that a run touches, one or two as it is short, and which of their sectors.
#[inline(always)]
fn parts(run: Run) -> impl Iterator<Item = (usize, u64)> {
    let (word, inner) = ((run.first() / UNIT) as usize, run.first() % UNIT);
    let sectors = u128::from(u64::MAX >> (UNIT - run.count())) << inner;
    let beyond = (sectors >> UNIT) as u64;
    let second = (beyond != 0).then_some((word + 1, beyond));
    std::iter::once((word, sectors as u64)).chain(second)
}
