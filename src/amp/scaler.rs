//! Loss scaling: small gradients survive in `f16` if the loss was multiplied by a large number.
//!
//! The smallest positive `f16` is 6·10⁻⁸, and many gradients are smaller. Scaling the loss scales
//! every gradient. The scale is as large as goes: if a gradient overflows, the step is skipped and
//! the scale halved, and after many steps without overflow it is doubled. Source: P. Micikevicius
//! et al., ICLR 2018.

use crate::Tensor;
use crate::dtype::DType;
use crate::error::misuse;
use crate::nn::Parameter;
use crate::optim::{self, Optimizer};

/// Scales losses up and steps down, as PyTorch's `GradScaler`:
///
/// ```text
/// scaler.scale(&loss).backward();
/// scaler.unscale_(&mut optimizer);                only to clip or read the gradients
/// if scaler.step(&mut optimizer) {
///     scheduler.step(&mut optimizer);             a skipped step must not count
/// }
/// scaler.update();
/// ```
pub struct GradScaler {
    enabled: bool,
    state: ScalerState,
    /// The optimizers since the last update. One is known by its first parameter, since no
    /// parameter should be in two.
    seen: Vec<(Parameter, Stage)>,
}

/// How far an optimizer has come since the last update.
#[derive(Clone, Copy, PartialEq)]
struct Stage {
    /// Whether a gradient is infinite or NaN.
    overflow: bool,
    stepped: bool,
}

/// The numbers of a [`GradScaler`]: all that a checkpoint needs of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalerState {
    /// What the loss is multiplied by.
    pub scale: f32,
    /// What the scale is multiplied by after `growth_interval` steps without overflow.
    pub growth_factor: f32,
    /// What it is multiplied by after an overflow.
    pub backoff_factor: f32,
    /// How many steps without overflow make it grow.
    pub growth_interval: u32,
    /// How many there were since it changed last.
    pub growth_tracker: u32,
}

impl Default for GradScaler {
    fn default() -> GradScaler {
        GradScaler::new()
    }
}

impl GradScaler {
    /// With PyTorch's defaults: scale 65536, doubled after 2000 steps without overflow, halved
    /// after an overflow.
    pub fn new() -> GradScaler {
        let state = ScalerState {
            scale: 65536.0,
            growth_factor: 2.0,
            backoff_factor: 0.5,
            growth_interval: 2000,
            growth_tracker: 0,
        };
        GradScaler { enabled: true, state, seen: Vec::new() }
    }

    /// The first scale.
    pub fn init_scale(mut self, scale: f32) -> GradScaler {
        self.state.scale = scale;
        self
    }

    /// By how much it grows.
    ///
    /// # Panics
    /// If it would not grow.
    #[track_caller]
    pub fn growth_factor(mut self, factor: f32) -> GradScaler {
        if factor.is_nan() || factor <= 1.0 {
            misuse("GradScaler", &[&factor], "the growth factor is above 1".to_string());
        }
        self.state.growth_factor = factor;
        self
    }

    /// By how much it shrinks.
    ///
    /// # Panics
    /// If it would not shrink.
    #[track_caller]
    pub fn backoff_factor(mut self, factor: f32) -> GradScaler {
        if !(factor > 0.0 && factor < 1.0) {
            let message = "the backoff factor is between 0 and 1".to_string();
            misuse("GradScaler", &[&factor], message);
        }
        self.state.backoff_factor = factor;
        self
    }

    /// After how many steps without overflow it grows.
    pub fn growth_interval(mut self, steps: u32) -> GradScaler {
        self.state.growth_interval = steps;
        self
    }

    /// Whether it does anything: if not, losses and steps pass as they are, so that one program
    /// serves `f16`, which needs scaling, and `bf16`, which does not.
    pub fn enabled(mut self, on: bool) -> GradScaler {
        self.enabled = on;
        self
    }

    /// What losses are multiplied by: 1 if it is not enabled.
    pub fn get_scale(&self) -> f32 {
        if self.enabled { self.state.scale } else { 1.0 }
    }

    /// loss · scale, in `f32` at least: 65536 is too large for an `f16`.
    pub fn scale(&self, loss: &Tensor) -> Tensor {
        if !self.enabled {
            return loss.clone();
        }
        loss.to(DType::promote(loss.dtype(), DType::F32)).mul_scalar(f64::from(self.state.scale))
    }

    /// Divides the gradients of an optimizer by the scale, in place, so that they can be clipped.
    /// Without it, [`step`](GradScaler::step) divides while it steps.
    ///
    /// # Panics
    /// If it was called before since the last update, or after the step; if there is no gradient;
    /// or if a gradient is `f16`, where dividing would lose what scaling has saved.
    #[track_caller]
    pub fn unscale_(&mut self, optimizer: &mut dyn Optimizer) {
        if !self.enabled {
            return;
        }
        if let Some(at) = self.place_of(optimizer) {
            let message = match self.seen[at].1.stepped {
                true => "is called after step(), when it is too late; call it before",
                false => "has already been called on this optimizer since the last update()",
            };
            misuse("unscale_", &[], message.to_string());
        }
        let grads = gradients("unscale_", optimizer);
        if let Some(grad) = grads.iter().find(|grad| grad.dtype() == DType::F16) {
            let message = "an f16 gradient would lose its small numbers when it is divided in \
                           place; keep the parameters in f32 and compute in f16 with autocast, or \
                           leave the dividing to step()";
            misuse("unscale_", &[&grad.brief()], message.to_string());
        }
        self.seen.push((known_by(optimizer), Stage::of(&grads)));
        optim::scale(&grads, self.inverse());
    }

    /// Steps, with the gradients divided by the scale, unless one of them is infinite or NaN: then
    /// neither the parameters nor the optimizer's state change. Gives whether it stepped. Without
    /// [`unscale_`](GradScaler::unscale_) the gradients themselves stay scaled.
    ///
    /// # Panics
    /// If it was called before since the last update, if there is no gradient, or as the
    /// optimizer's step.
    #[track_caller]
    pub fn step(&mut self, optimizer: &mut dyn Optimizer) -> bool {
        if !self.enabled {
            optimizer.step();
            return true;
        }
        let (at, factor) = match self.place_of(optimizer) {
            Some(at) => (at, 1.0),
            None => {
                let stage = Stage::of(&gradients("step", optimizer));
                self.seen.push((known_by(optimizer), stage));
                (self.seen.len() - 1, self.inverse())
            }
        };
        let stage = &mut self.seen[at].1;
        if stage.stepped {
            let message = "has already been called on this optimizer since the last update()";
            misuse("step", &[], message.to_string());
        }
        stage.stepped = true;
        let steps = !stage.overflow;
        if steps {
            optimizer.step_scaled(factor);
        }
        steps
    }

    /// Sets the scale for the next iteration, by all optimizers since the last update: down if one
    /// of them had an overflow, up after enough updates without.
    ///
    /// # Panics
    /// If there was no [`step`](GradScaler::step) and no [`unscale_`](GradScaler::unscale_).
    #[track_caller]
    pub fn update(&mut self) {
        if !self.enabled {
            return;
        }
        if self.seen.is_empty() {
            let message = "no gradients were looked at since the last update(); call step() first";
            misuse("update", &[], message.to_string());
        }
        let overflow = self.seen.drain(..).any(|(_, stage)| stage.overflow);
        let state = &mut self.state;
        if overflow {
            state.scale *= state.backoff_factor;
            state.growth_tracker = 0;
            return;
        }
        state.growth_tracker += 1;
        if state.growth_tracker == state.growth_interval {
            let grown = state.scale * state.growth_factor;
            state.scale = if grown.is_finite() { grown } else { state.scale };
            state.growth_tracker = 0;
        }
    }

    /// Its numbers.
    pub fn state_dict(&self) -> ScalerState {
        self.state.clone()
    }

    /// Goes on with these numbers.
    pub fn load_state_dict(&mut self, state: &ScalerState) {
        self.state = state.clone();
    }

    /// 1 / scale, rounded to `f32` as in PyTorch.
    fn inverse(&self) -> f64 {
        f64::from((1.0 / f64::from(self.state.scale)) as f32)
    }

    fn place_of(&self, optimizer: &dyn Optimizer) -> Option<usize> {
        let first = known_by(optimizer);
        self.seen.iter().position(|(parameter, _)| parameter.is(&first))
    }
}

impl Stage {
    fn of(grads: &[Tensor]) -> Stage {
        Stage {
            overflow: grads.iter().any(|grad| !optim::norm(grad, f64::INFINITY).is_finite()),
            stepped: false,
        }
    }
}

/// An optimizer has at least one parameter.
fn known_by(optimizer: &dyn Optimizer) -> Parameter {
    let mut params = optimizer.groups().iter().flat_map(|group| &group.params);
    params.next().expect("an optimizer without parameters is refused").clone()
}

#[track_caller]
fn gradients(op: &'static str, optimizer: &dyn Optimizer) -> Vec<Tensor> {
    let params = optimizer.groups().iter().flat_map(|group| &group.params);
    let grads = optim::gradients(params);
    if grads.is_empty() {
        let message = "no parameter of this optimizer has a gradient; call backward() first";
        misuse(op, &[], message.to_string());
    }
    grads
}
