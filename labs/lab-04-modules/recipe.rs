//! A recipe for training: in which format the numbers of a model are kept, and who steps them.

use engine_room::DType;

/// What is chosen before a training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recipe {
    /// The type of the weights: `F32`, `BF16` or `F16`. A gradient has the type of its weight.
    pub weights: DType,
    /// Whether forward passes run inside `autocast`. Only with weights in `F32`.
    pub autocast: bool,
    /// Whether the optimizer steps weights of a half type in `F32` (the engine's `master_weights`).
    pub master_weights: bool,
    /// Who steps.
    pub rule: Rule,
}

/// An optimizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// SGD without momentum.
    Sgd,
    /// SGD with momentum: one number for each weight.
    SgdMomentum,
    /// AdamW: two numbers for each weight.
    AdamW,
}

/// Bytes by what they are for, as the engine's counters sort them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoleBytes {
    /// The weights, frozen ones included.
    pub parameters: u64,
    /// The gradients.
    pub gradients: u64,
    /// All that the optimizer keeps.
    pub optimizer: u64,
}
