//! AdamW: steps of a length that hardly depends on the gradient's, and weight decay beside them.

use crate::device::AdamwRule;
use crate::error::{Error, misuse};
use crate::nn::Parameter;
use crate::optim::group::non_negative;
use crate::optim::slots::{Slots, Turn};
use crate::optim::{Optimizer, OptimizerState, ParamGroup};

/// Adam with decoupled weight decay (I. Loshchilov and F. Hutter, ICLR 2019), as PyTorch's AdamW.
/// A parameter is first taken down by lr · weight_decay of itself, then moved by the gradient's
/// running mean over the root of its square's:
///
/// ```text
/// p ← p · (1 − lr · weight_decay)
/// m ← β₁ · m + (1 − β₁) · g          v ← β₂ · v + (1 − β₂) · g²
/// p ← p − lr · m̂ / (√v̂ + ε)          m̂ = m / (1 − β₁ᵗ), v̂ = v / (1 − β₂ᵗ)
/// ```
///
/// t counts the steps of this parameter. m and v take twice the memory of the parameters.
///
/// **Half types.** For a parameter in `f16` or `bf16`, m, v and a master copy of the parameter are
/// kept in `f32`; the step is taken there and rounded into the parameter. PyTorch keeps them in
/// the parameter's type, where a change of less than 1/256 of a `bf16` is lost every time:
/// [`master_weights(false)`](AdamW::master_weights) does as its fused step does.
pub struct AdamW {
    slots: Slots,
    betas: (f64, f64),
    eps: f64,
}

const NAMES: &[&str] = &["exp_avg", "exp_avg_sq"];

impl AdamW {
    /// For these parameters, with PyTorch's defaults: betas 0.9 and 0.999, eps 1e-8, weight decay
    /// 0.01.
    ///
    /// # Panics
    /// As [`with_groups`](AdamW::with_groups).
    #[track_caller]
    pub fn new(params: Vec<Parameter>, lr: f64) -> AdamW {
        AdamW::with_groups(vec![ParamGroup { params, lr, weight_decay: 0.01 }])
    }

    /// For groups with learning rates and weight decays of their own.
    ///
    /// # Panics
    /// If there is no parameter, if one is listed twice, or if a number is negative.
    #[track_caller]
    pub fn with_groups(groups: Vec<ParamGroup>) -> AdamW {
        AdamW { slots: Slots::new("AdamW", groups), betas: (0.9, 0.999), eps: 1e-8 }
    }

    /// β₁ and β₂: the shares of the running means that stay, each from 0 to below 1.
    ///
    /// # Panics
    /// If one is outside.
    #[track_caller]
    pub fn betas(mut self, betas: (f64, f64)) -> AdamW {
        let outside = [betas.0, betas.1].into_iter().find(|beta| !(0.0..1.0).contains(beta));
        if let Some(beta) = outside {
            misuse("AdamW", &[&beta], "a beta is from 0 to below 1".to_string());
        }
        self.betas = betas;
        self
    }

    /// ε: what keeps the divisor from 0.
    ///
    /// # Panics
    /// If it is negative.
    #[track_caller]
    pub fn eps(mut self, eps: f64) -> AdamW {
        non_negative("AdamW", "eps", eps);
        self.eps = eps;
        self
    }

    /// The weight decay of every group.
    ///
    /// # Panics
    /// If it is negative.
    #[track_caller]
    pub fn weight_decay(mut self, weight_decay: f64) -> AdamW {
        self.slots.set_weight_decay(weight_decay);
        self
    }

    /// Whether half-precision parameters are stepped in `f32`; they are by default.
    pub fn master_weights(mut self, on: bool) -> AdamW {
        self.slots.master_weights = on;
        self
    }
}

impl Optimizer for AdamW {
    #[track_caller]
    fn step_scaled(&mut self, factor: f64) {
        let (betas, eps) = (self.betas, self.eps);
        let rule = |Turn { group, step, .. }: Turn| AdamwRule {
            factor,
            lr: group.lr,
            betas,
            eps,
            weight_decay: group.weight_decay,
            step,
        };
        self.slots.step(NAMES, rule, |backend, updates| backend.adamw_step(updates));
    }

    fn groups(&self) -> &[ParamGroup] {
        &self.slots.groups
    }

    fn groups_mut(&mut self) -> &mut [ParamGroup] {
        &mut self.slots.groups
    }

    fn state_dict(&self) -> OptimizerState {
        self.slots.state_dict(NAMES)
    }

    fn load_state_dict(&mut self, state: &OptimizerState) -> Result<(), Error> {
        self.slots.load_state_dict(state, NAMES)
    }
}
