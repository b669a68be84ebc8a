//! What 6.7 is about: a training step of a GPT, and its peak.

/// An optimizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// SGD without momentum: it keeps nothing.
    Sgd,
    /// SGD with momentum: one number for each weight.
    SgdMomentum,
    /// AdamW: two numbers for each weight.
    AdamW,
}

/// A training step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// How many texts are in the batch.
    pub batch: u64,
    /// How many tokens each of them has.
    pub time: u64,
    /// Who steps.
    pub rule: Rule,
    /// Whether every block is recomputed, each by itself.
    pub recompute: bool,
}

/// A moment of a training step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// The loss is computed, and its backward pass begins.
    Loss,
    /// The backward pass arrives at this block, counted from 0. If the blocks are recomputed, this
    /// one has just run again.
    Block(u64),
    /// The backward pass is over, and the optimizer is about to step.
    Step,
}

/// Bytes by role at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeakBytes {
    /// The moment.
    pub moment: Moment,
    /// The weights.
    pub parameters: u64,
    /// The gradients that are there by then.
    pub gradients: u64,
    /// What the optimizer keeps.
    pub optimizer: u64,
    /// What is kept for the backward pass, and the tokens.
    pub activations: u64,
}
