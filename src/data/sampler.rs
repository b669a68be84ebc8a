//! Samplers: in which order the examples come, and where in it a training stands.

use crate::error::misuse;
use crate::rng::{Generator, GeneratorState};

/// Gives out the numbers 0 to N − 1, each once an epoch, in order or shuffled anew every epoch.
#[derive(Debug, Clone)]
pub struct Sampler {
    state: SamplerState,
    /// The numbers of this epoch.
    order: Vec<usize>,
}

/// All that a sampler is: write it down in the middle of an epoch, and the training goes on with
/// the example that would have come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SamplerState {
    /// How many examples there are.
    pub len: usize,
    /// What the shuffling depends on; `None` without shuffling.
    pub seed: Option<u64>,
    /// The epoch that is under way, counted from 0.
    pub epoch: u64,
    /// How many numbers of this epoch have been given out.
    pub taken: usize,
}

impl Sampler {
    /// 0, 1, … `len` − 1 in every epoch.
    pub fn sequential(len: usize) -> Sampler {
        Sampler::from_state(SamplerState { len, seed: None, epoch: 0, taken: 0 })
    }

    /// Another order in every epoch, the same ones for the same seed.
    pub fn random(len: usize, seed: u64) -> Sampler {
        Sampler::from_state(SamplerState { len, seed: Some(seed), epoch: 0, taken: 0 })
    }

    /// A sampler from where [`state`](Sampler::state) was taken.
    ///
    /// # Panics
    /// If more numbers were given out than there are.
    #[track_caller]
    pub fn from_state(state: SamplerState) -> Sampler {
        let SamplerState { len, taken, .. } = state;
        if taken > len {
            let what = format!("{taken} of {len} examples taken");
            let message = "no sampler was ever there; read the state again".to_string();
            misuse("Sampler::from_state", &[&what], message);
        }
        Sampler { state, order: order(&state) }
    }

    /// Where the sampler is.
    pub fn state(&self) -> SamplerState {
        self.state
    }

    /// How many numbers this epoch still has.
    pub fn remaining(&self) -> usize {
        self.state.len - self.state.taken
    }

    /// The next `count` numbers, or as many as this epoch still has.
    pub fn take(&mut self, count: usize) -> &[usize] {
        let start = self.state.taken;
        self.state.taken += count.min(self.remaining());
        &self.order[start..self.state.taken]
    }

    /// Goes to the beginning of the next epoch, whatever this one still has.
    pub fn next_epoch(&mut self) {
        self.state.epoch += 1;
        self.state.taken = 0;
        self.order = order(&self.state);
    }
}

/// The numbers of an epoch. Shuffling N of them draws N − 1 random numbers, so the order of epoch e
/// is made from where e · N were drawn, and found without the epochs before it.
fn order(&SamplerState { len, seed, epoch, .. }: &SamplerState) -> Vec<usize> {
    match seed {
        None => (0..len).collect(),
        Some(seed) => {
            let start = GeneratorState { seed, drawn: epoch.wrapping_mul(len as u64) };
            Generator::from_state(start).permutation(len)
        }
    }
}
