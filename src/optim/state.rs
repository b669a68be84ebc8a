//! What an optimizer remembers, as it is saved and loaded.

use crate::Tensor;

/// The state of an optimizer.
#[derive(Clone, Debug)]
pub struct OptimizerState {
    /// Learning rate and weight decay of each group.
    pub groups: Vec<(f64, f64)>,
    /// One entry for each parameter: all of the first group, then all of the second, and so on.
    pub params: Vec<ParamState>,
}

/// What is remembered for one parameter.
#[derive(Clone, Debug)]
pub struct ParamState {
    /// How often the parameter was stepped.
    pub step: u64,
    /// Tensors of the parameter's shape, each with its name, in a fixed order; none before the
    /// first step. AdamW: `exp_avg` and `exp_avg_sq`; SGD with momentum: `momentum_buffer`; of a
    /// half-precision parameter also `master`.
    pub tensors: Vec<(String, Tensor)>,
}

/// The name under which a master copy is saved.
pub(super) const MASTER: &str = "master";
