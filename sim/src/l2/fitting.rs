//! The cache of a launch in which nothing can make way.
//!
//! A sector is read if a load or an atomic operation is the first to touch it. Which one is the
//! first has to be known within a block only: what one block stores and another loads in the same
//! wave has been stored first, or the kernel has a race. So all that is needed of a block is what
//! its own first touches are, and bits of several blocks are put together in any order.

use super::Moved;
use super::layout::UNIT;
use super::trace::Run;

/// What blocks of one wave have done to 64 neighbouring sectors: a bit each.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mark {
    /// Which 64.
    at: u32,
    /// Loaded, or needed by an atomic operation, before anything else in a block.
    loaded: u64,
    /// Stored to before anything else in a block.
    stored: u64,
    /// To be written back.
    dirty: u64,
}

/// The marks that one host thread makes.
#[derive(Debug, Default)]
pub(super) struct Marks {
    words: Vec<Word>,
    /// The words that have a mark.
    marked: Vec<u32>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Word {
    mark: Mark,
    /// The sectors that the block has touched which touched one of them last, by its number plus 1.
    touched: u64,
    block: u64,
}

impl Marks {
    /// Room for so many sectors.
    pub fn new(sectors: u64) -> Marks {
        let words = vec![Word::default(); sectors.div_ceil(UNIT) as usize];
        Marks { words, marked: Vec::new() }
    }

    /// Marks what a block has touched, in the order in which it did.
    pub fn add(&mut self, block: u64, runs: &[Run]) {
        for run in runs {
            let (at, inner) = ((run.first() / UNIT) as usize, run.first() % UNIT);
            let sectors = u128::from(u64::MAX >> (UNIT - run.count())) << inner;
            self.mark(at, block + 1, sectors as u64, *run);
            let beyond = (sectors >> UNIT) as u64;
            if beyond != 0 {
                self.mark(at + 1, block + 1, beyond, *run);
            }
        }
    }

    #[inline(always)]
    fn mark(&mut self, at: usize, block: u64, sectors: u64, run: Run) {
        let word = &mut self.words[at];
        if word.block != block {
            if word.mark.loaded | word.mark.stored == 0 {
                self.marked.push(at as u32);
            }
            (word.block, word.touched) = (block, 0);
        }
        let first = sectors & !word.touched;
        word.touched |= sectors;
        // Branches would be guessed wrong half of the time.
        let if_so = |so: bool| u64::from(so).wrapping_neg();
        let (reads, writes) = (if_so(run.kind().reads()), if_so(run.kind().writes()));
        word.mark.loaded |= first & reads;
        word.mark.stored |= first & !reads;
        word.mark.dirty |= sectors & writes;
    }

    /// Takes the marks, and begins anew.
    pub fn take(&mut self) -> Vec<Mark> {
        let words = &mut self.words;
        let take = |at: u32| Mark { at, ..std::mem::take(&mut words[at as usize]).mark };
        self.marked.drain(..).map(take).collect()
    }
}

/// Which sectors have been touched by all that has been through.
pub(super) struct Fitting {
    words: Vec<Mark>,
    /// Those touched in a wave before.
    present: Vec<u64>,
}

impl Fitting {
    /// For so many sectors.
    pub fn new(sectors: u64) -> Fitting {
        let count = sectors.div_ceil(UNIT) as usize;
        Fitting { words: vec![Mark::default(); count], present: vec![0; count] }
    }

    /// Runs one wave through.
    pub fn wave<'m>(&mut self, marks: impl Iterator<Item = &'m Mark> + Clone) -> Moved {
        let mut moved = Moved::default();
        for mark in marks.clone() {
            let word = &mut self.words[mark.at as usize];
            word.loaded |= mark.loaded;
            word.stored |= mark.stored;
            moved.written += u64::from((mark.dirty & !word.dirty).count_ones());
            word.dirty |= mark.dirty;
        }
        for at in marks.map(|mark| mark.at as usize) {
            let (word, present) = (&mut self.words[at], &mut self.present[at]);
            let read = word.loaded & !(word.stored | *present);
            moved.read += u64::from(read.count_ones());
            *present |= word.loaded | word.stored;
            (word.loaded, word.stored) = (0, 0);
        }
        moved
    }
}
