//! What the training loop of 4.6 is given, and what it returns.

use engine_room::Tensor;

/// Images and their labels.
#[derive(Debug, Clone)]
pub struct Batch {
    /// `(B, pixels)`.
    pub images: Tensor,
    /// `(B)`, the right class of each image as `i64`.
    pub labels: Tensor,
}

/// How long a training is, and how many batches make a step.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// How often every batch is seen.
    pub epochs: usize,
    /// How many batches in a row make one step of the optimizer; the last step of an epoch takes
    /// what is left.
    pub accumulate: usize,
}

/// What an epoch came to: one point of each curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Epoch {
    /// The mean of the losses of all batches, each taken before the step that it leads to.
    pub train_loss: f64,
    /// The loss on what is held out, after the last step of the epoch.
    pub held_out_loss: f64,
    /// Live bytes of tensors at the end of the epoch.
    pub live_bytes: u64,
}
