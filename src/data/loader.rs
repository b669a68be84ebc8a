//! The loader: batches of a dataset, in the order of a sampler.

use crate::Tensor;
use crate::data::dataset::Dataset;
use crate::data::sampler::{Sampler, SamplerState};
use crate::error::misuse;

/// An iterator over the batches of an epoch. After the last one comes `None`, and then the first
/// batch of the next epoch: each `for batch in &mut loader` is one epoch, or what is left of it.
///
/// Whoever wants to save where it is writes `while let Some(batch) = loader.next()`, and takes
/// [`state`](DataLoader::state) after the step on that batch.
#[derive(Debug)]
pub struct DataLoader<D> {
    dataset: D,
    sampler: Sampler,
    batch_size: usize,
    drop_last: bool,
}

impl<D: Dataset> DataLoader<D> {
    /// A loader that begins where the sampler is: after a restart, at [`Sampler::from_state`].
    ///
    /// # Panics
    /// If the batch size is 0, or the sampler is for another number of examples.
    #[track_caller]
    pub fn new(dataset: D, sampler: Sampler, batch_size: usize) -> DataLoader<D> {
        let (have, want) = (dataset.len(), sampler.state().len);
        let what = format!("{have} examples, a sampler of {want}, batches of {batch_size}");
        if have != want {
            let message = "the sampler must be made, or saved, for this many examples".to_string();
            misuse("DataLoader", &[&what], message);
        }
        if batch_size == 0 {
            misuse("DataLoader", &[&what], "a batch has at least one example".to_string());
        }
        DataLoader { dataset, sampler, batch_size, drop_last: false }
    }

    /// Whether the last batch of an epoch is left out where it has fewer examples than the others.
    /// Of fewer examples than one batch nothing is left then.
    pub fn drop_last(mut self, drop_last: bool) -> DataLoader<D> {
        self.drop_last = drop_last;
        self
    }

    /// How many batches a whole epoch has (PyTorch's `len(loader)`).
    pub fn batches_per_epoch(&self) -> usize {
        match self.drop_last {
            true => self.dataset.len() / self.batch_size,
            false => self.dataset.len().div_ceil(self.batch_size),
        }
    }

    /// Where the sampler is: the example after the batch that came last.
    pub fn state(&self) -> SamplerState {
        self.sampler.state()
    }
}

impl<D: Dataset> Iterator for DataLoader<D> {
    /// What [`Dataset::batch`] gives: a tensor for each part of an example.
    type Item = Vec<Tensor>;

    fn next(&mut self) -> Option<Vec<Tensor>> {
        let left = self.sampler.remaining();
        if left == 0 || (self.drop_last && left < self.batch_size) {
            self.sampler.next_epoch();
            return None;
        }
        Some(self.dataset.batch(self.sampler.take(self.batch_size)))
    }
}
