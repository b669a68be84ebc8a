//! What 6.7 is about: a training step, and its peak.

/// An optimizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// SGD without momentum.
    Sgd,
    /// SGD with momentum.
    SgdMomentum,
    /// AdamW.
    AdamW,
}

/// A training step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Texts.
    pub batch: u64,
    /// Tokens of each.
    pub time: u64,
    /// Who steps.
    pub rule: Rule,
    /// Whether the blocks are recomputed.
    pub recompute: bool,
}

/// Where the peak is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// In the backward pass.
    Backward,
}

/// Bytes by role at the peak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeakBytes {
    /// Weights.
    pub parameters: u64,
    /// Gradients.
    pub gradients: u64,
    /// What the optimizer keeps.
    pub optimizer: u64,
    /// What the graph keeps.
    pub activations: u64,
    /// Where.
    pub moment: Moment,
}
