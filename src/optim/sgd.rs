//! Stochastic gradient descent: straight down the gradient, with momentum if wanted.

use crate::device::SgdRule;
use crate::error::{Error, misuse};
use crate::nn::Parameter;
use crate::optim::group::non_negative;
use crate::optim::slot::Names;
use crate::optim::slots::{Slots, Turn};
use crate::optim::{Optimizer, OptimizerState, ParamGroup};

/// Stochastic gradient descent, as PyTorch's SGD:
///
/// ```text
/// g ← g + weight_decay · p
/// b ← momentum · b + (1 − dampening) · g        the first time: b ← g
/// p ← p − lr · b                                 Nesterov: p ← p − lr · (g + momentum · b)
/// ```
///
/// Without momentum there is no buffer, and p ← p − lr · g. The decay goes through the momentum
/// here; [`AdamW`](crate::optim::AdamW) applies it beside.
///
/// For a parameter in `f16` or `bf16` the buffer and a master copy are kept in `f32`, as
/// [`AdamW`](crate::optim::AdamW) does.
pub struct Sgd {
    slots: Slots,
    momentum: f64,
    dampening: f64,
    nesterov: bool,
    maximize: bool,
}

impl Sgd {
    /// For these parameters, with neither momentum nor decay.
    ///
    /// # Panics
    /// As [`with_groups`](Sgd::with_groups).
    #[track_caller]
    pub fn new(params: Vec<Parameter>, lr: f64) -> Sgd {
        Sgd::with_groups(vec![ParamGroup { params, lr, weight_decay: 0.0 }])
    }

    /// For groups with learning rates and weight decays of their own.
    ///
    /// # Panics
    /// If there is no parameter, if one is listed twice, or if a number is negative.
    #[track_caller]
    pub fn with_groups(groups: Vec<ParamGroup>) -> Sgd {
        let slots = Slots::new("Sgd", groups);
        Sgd { slots, momentum: 0.0, dampening: 0.0, nesterov: false, maximize: false }
    }

    /// The share of the buffer that stays from step to step.
    ///
    /// # Panics
    /// If it is negative.
    #[track_caller]
    pub fn momentum(mut self, momentum: f64) -> Sgd {
        non_negative("Sgd", "momentum", momentum);
        self.momentum = momentum;
        self
    }

    /// The share of the gradient that is left out of the buffer.
    pub fn dampening(mut self, dampening: f64) -> Sgd {
        self.dampening = dampening;
        self
    }

    /// Whether the step looks one momentum ahead (Nesterov's). It needs a momentum and no
    /// dampening, as a step checks.
    pub fn nesterov(mut self, on: bool) -> Sgd {
        self.nesterov = on;
        self
    }

    /// The weight decay of every group.
    ///
    /// # Panics
    /// If it is negative.
    #[track_caller]
    pub fn weight_decay(mut self, weight_decay: f64) -> Sgd {
        self.slots.set_weight_decay(weight_decay);
        self
    }

    /// Whether it climbs instead.
    pub fn maximize(mut self, on: bool) -> Sgd {
        self.maximize = on;
        self
    }

    /// Whether half-precision parameters are stepped in `f32`; they are by default.
    pub fn master_weights(mut self, on: bool) -> Sgd {
        self.slots.master_weights = on;
        self
    }

    fn names(&self) -> Names {
        if self.momentum == 0.0 { &[] } else { &["momentum_buffer"] }
    }
}

impl Optimizer for Sgd {
    #[track_caller]
    fn step_scaled(&mut self, factor: f64) {
        let (momentum, dampening, nesterov) = (self.momentum, self.dampening, self.nesterov);
        if nesterov && (momentum == 0.0 || dampening != 0.0) {
            let what = format!("momentum {momentum}, dampening {dampening}");
            let message = "Nesterov's step needs a momentum and no dampening".to_string();
            misuse("Sgd", &[&what], message);
        }
        let factor = if self.maximize { -factor } else { factor };
        let rule = |Turn { group, first, .. }: Turn| SgdRule {
            factor,
            lr: group.lr,
            momentum,
            dampening,
            nesterov,
            weight_decay: group.weight_decay,
            first,
        };
        self.slots.step(self.names(), rule, |backend, updates| backend.sgd_step(updates));
    }

    fn groups(&self) -> &[ParamGroup] {
        &self.slots.groups
    }

    fn groups_mut(&mut self) -> &mut [ParamGroup] {
        &mut self.slots.groups
    }

    fn state_dict(&self) -> OptimizerState {
        self.slots.state_dict(self.names())
    }

    fn load_state_dict(&mut self, state: &OptimizerState) -> Result<(), Error> {
        self.slots.load_state_dict(state, self.names())
    }
}
