//! What is left of a trace that has no more room.
//!
//! What it becomes depends on what the block asks for, and not on the order of its warps: so it is
//! the same for each seed.

use std::collections::HashMap;

use crate::gpu::LINE_SECTORS;

use super::trace::{Run, Turn};

/// How runs are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Thinning {
    /// Nothing can make way, so that only the first touch of a sector matters.
    #[default]
    FirstTouches,
    /// Of a cache of so many sets one of 2 to a power is watched: what happens in a set depends on
    /// nothing else, so what is counted there stands for the others. 0 is all of them.
    Sample {
        /// Sets of the cache.
        sets: u64,
        /// The power of two.
        power: u32,
    },
}

/// The smallest sample is one of 2 to this power of the sets: some dozens of them.
const MOST_POWER: u32 = 6;

impl Thinning {
    /// The power of two of the sample.
    pub fn power(self) -> u32 {
        match self {
            Thinning::FirstTouches => 0,
            Thinning::Sample { power, .. } => power,
        }
    }

    /// Thins out a trace with more than `most` runs; returns how many it may have from now on.
    #[cold]
    pub fn thin(&mut self, runs: &mut Vec<Run>, turns: &mut [Turn], most: usize) -> usize {
        match self {
            Thinning::FirstTouches => keep_first_touches(runs, turns),
            Thinning::Sample { sets, power } => {
                *power = (*power).max(1);
                sample(runs, turns, *sets, *power);
            }
        }
        self.settle(runs, turns, most);
        most.max(2 * runs.len())
    }

    /// Makes a sample that has been begun as small as all runs together ask for. During the block
    /// it cannot have become smaller.
    pub fn settle(&mut self, runs: &mut Vec<Run>, turns: &mut [Turn], most: usize) {
        let Thinning::Sample { sets, power } = self else { return };
        if *power == 0 {
            return;
        }
        sample(runs, turns, *sets, *power);
        while runs.len() > most / 2 && *power < MOST_POWER {
            *power += 1;
            sample(runs, turns, *sets, *power);
        }
    }
}

/// Keeps the lines of one of 2 to the power `power` of the sets.
pub(super) fn sample(runs: &mut Vec<Run>, turns: &mut [Turn], sets: u64, power: u32) {
    // The lowest bits of a product with an odd number would be those of the set: these are not.
    let chosen = |line: u64| (line % sets).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - power) == 0;
    let mut kept = Vec::with_capacity(runs.len() / 2);
    let mut start = 0;
    for turn in turns {
        for run in &runs[start..turn.end] {
            for (line, inner, count) in run.groups(LINE_SECTORS).filter(|group| chosen(group.0)) {
                kept.push(Run::new(run.kind(), line * LINE_SECTORS + inner, count));
            }
        }
        (start, turn.end) = (turn.end, kept.len());
    }
    *runs = kept;
}

/// Keeps the runs that are the first to touch one of their sectors, or the first to write to it.
fn keep_first_touches(runs: &mut Vec<Run>, turns: &mut [Turn]) {
    let mut written: HashMap<u64, bool> = HashMap::new();
    let mut is_new = |run: &Run| {
        let writes = run.kind().writes();
        let mut new = false;
        for sector in run.first()..run.first() + run.count() {
            let before = written.get(&sector).copied();
            if before.is_none() || writes && before == Some(false) {
                written.insert(sector, writes);
                new = true;
            }
        }
        new
    };
    let mut kept = Vec::new();
    let mut start = 0;
    for turn in turns {
        kept.extend(runs[start..turn.end].iter().filter(|run| is_new(run)));
        (start, turn.end) = (turn.end, kept.len());
    }
    *runs = kept;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::l2::trace::{Kind, Trace};
    use crate::l2::{Moved, Sets};

    /// Runs of lines all over 16 MiB, which a cache of 1 MiB has not got: mostly loads.
    fn requests() -> impl Iterator<Item = Run> {
        let mut state = 1u64;
        (0..200_000).map(move |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let kind = if state >> 60 == 0 { Kind::Store } else { Kind::Load };
            Run::new(kind, state >> 33 & 0x7_ffff, 1 + (state >> 58 & 7))
        })
    }

    fn moved<'r>(runs: impl IntoIterator<Item = &'r Run>) -> Moved {
        let mut cache = Sets::new(1 << 20);
        runs.into_iter().for_each(|run| cache.touch(*run));
        cache.moved()
    }

    /// What is left of a trace to which warps add so many runs at each turn.
    fn left(thinning: Thinning, most: usize, each: usize) -> (Vec<Run>, u32) {
        let mut trace = Trace::default();
        trace.begin(thinning, most);
        for (warp, runs) in (0..).zip(requests().collect::<Vec<_>>().chunks(each)) {
            runs.iter().for_each(|run| trace.note(*run));
            trace.turn(0, warp % 8);
        }
        let (runs, _, power) = trace.end();
        (runs.to_vec(), power)
    }

    #[test]
    fn a_sample_of_the_sets_stands_for_all() {
        let all: Vec<Run> = requests().collect();
        let exact = moved(&all);
        let thinning = Thinning::Sample { sets: Sets::count(1 << 20), power: 0 };
        assert_eq!(left(thinning, 200_000, 100), (all, 0), "they all have room");
        let (runs, power) = left(thinning, 100_000, 100);
        assert!(power > 1 && runs.len() <= 50_000, "{power}, {}", runs.len());
        let sample = moved(&runs);
        for (part, whole) in [(sample.read, exact.read), (sample.written, exact.written)] {
            let ratio = (part << power) as f64 / whole as f64;
            assert!((0.9..1.1).contains(&ratio), "{sample:?} of {exact:?}, one of 2^{power}");
        }
        assert_eq!(left(thinning, 100_000, 7000), (runs, power), "the turns do not matter");
    }

    #[test]
    fn first_touches_are_all_that_matters_if_nothing_can_make_way() {
        let everything = |runs: &[Run]| {
            let mut cache = Sets::new(64 << 20);
            runs.iter().for_each(|run| cache.touch(*run));
            cache.moved()
        };
        let all: Vec<Run> = requests().chain(requests()).chain(requests()).collect();
        let mut trace = Trace::default();
        trace.begin(Thinning::FirstTouches, 1000);
        all.iter().for_each(|run| trace.note(*run));
        trace.turn(0, 0);
        let (runs, _, power) = trace.end();
        assert!(runs.len() < all.len() / 2 && power == 0, "{}", runs.len());
        assert_eq!(everything(runs), everything(&all));
    }
}
