//! Other right steps, clipping and loss scalers: 4.3, 4.4 and 4.5.

use engine_room::amp::{GradScaler, ScalerState};
use engine_room::nn::Parameter;
use engine_room::optim::{self, Optimizer};
use engine_room::{DType, Tensor};

use super::super::state::{AdamSettings, AdamState, LossScaler};
use super::{Other, other};

pub fn alternatives() -> Vec<Other> {
    vec![
        other("4.3", "in f32 throughout", |table| table.adamw_step = in_f32),
        other("4.3", "as PyTorch computes it", |table| table.adamw_step = like_pytorch),
        other("4.4", "all numbers in one list", |table| table.clip_grad_norm = in_one_list),
        other("4.4", "always multiplies", |table| table.clip_grad_norm = always_multiplies),
        other("4.4", "the engine's own", |table| {
            table.clip_grad_norm = |parameters, max_norm| {
                optim::clip_grad_norm_(parameters, max_norm, 2.0, false).expect("never refuses")
            };
        }),
        other("4.5", "an overflow is NaN times 0", |table| table.scaler_step = by_zero),
        other("4.5", "the engine's own", |table| table.scaler_step = by_the_engine),
        other("4.5", "divides first, then looks", |table| table.scaler_step = looks_afterwards),
    ]
}

fn in_f32(w: &mut [f32], g: Option<&[f32]>, state: &mut AdamState, settings: &AdamSettings) {
    if let Some(g) = g {
        let [lr, eps, decay] =
            [settings.lr, settings.eps, settings.weight_decay].map(|number| number as f32);
        let [beta1, beta2] = [settings.beta1, settings.beta2].map(|beta| beta as f32);
        state.step += 1;
        let of_m = 1.0 - beta1.powf(state.step as f32);
        let of_v = 1.0 - beta2.powf(state.step as f32);
        for (i, w) in w.iter_mut().enumerate() {
            *w -= lr * decay * *w;
            state.m[i] += (1.0 - beta1) * (g[i] - state.m[i]);
            state.v[i] = beta2 * state.v[i] + (1.0 - beta2) * g[i].powi(2);
            *w -= lr * (state.m[i] / of_m) / ((state.v[i] / of_v).sqrt() + eps);
        }
    }
}

/// The corrections go into the length of the step and into the root, as in `torch/optim/adam.py`.
fn like_pytorch(w: &mut [f32], g: Option<&[f32]>, state: &mut AdamState, settings: &AdamSettings) {
    let Some(g) = g else { return };
    state.step += 1;
    let steps = state.step as f64;
    let [of_m, of_v] = [settings.beta1, settings.beta2].map(|beta| 1.0 - beta.powf(steps));
    let step_size = settings.lr / of_m;
    for (i, w) in w.iter_mut().enumerate() {
        let g = f64::from(g[i]);
        let m = f64::from(state.m[i]) + (g - f64::from(state.m[i])) * (1.0 - settings.beta1);
        let v = f64::from(state.v[i]) * settings.beta2 + g * g * (1.0 - settings.beta2);
        let divisor = v.sqrt() / of_v.sqrt() + settings.eps;
        *w *= (1.0 - settings.lr * settings.weight_decay) as f32;
        *w = (f64::from(*w) - step_size * m / divisor) as f32;
        (state.m[i], state.v[i]) = (m as f32, v as f32);
    }
}

fn gradients(parameters: &[Parameter]) -> Vec<Tensor> {
    parameters.iter().filter_map(|parameter| parameter.get().grad()).collect()
}

fn in_one_list(parameters: &[Parameter], max_norm: f64) -> f64 {
    let all: Vec<f64> = gradients(parameters)
        .iter()
        .flat_map(|gradient| gradient.to_vec::<f32>())
        .map(|number| f64::from(number).powi(2))
        .collect();
    let norm = all.into_iter().sum::<f64>().sqrt();
    let factor = max_norm / (norm + 1e-6);
    if norm.is_nan() || factor < 1.0 {
        for gradient in gradients(parameters) {
            let scaled = gradient.to_vec::<f32>().into_iter();
            let scaled = scaled.map(|number| (f64::from(number) * factor) as f32).collect();
            gradient.copy_(&Tensor::from_vec(scaled, gradient.shape()));
        }
    }
    norm
}

fn always_multiplies(parameters: &[Parameter], max_norm: f64) -> f64 {
    let squares = |gradient: &Tensor| gradient.to(DType::F64).square().sum().item_as::<f64>();
    let gradients = gradients(parameters);
    let norm = gradients.iter().map(squares).sum::<f64>().sqrt();
    let factor = (max_norm / (norm + 1e-6)).clamp(0.0, 1.0);
    for gradient in &gradients {
        gradient.copy_(&gradient.mul_scalar(factor));
    }
    norm
}

fn grown(scaler: &LossScaler) -> LossScaler {
    let mut after = LossScaler { growth_tracker: scaler.growth_tracker + 1, ..*scaler };
    if after.growth_tracker >= scaler.growth_interval {
        after.growth_tracker = 0;
        let scale = f64::from(scaler.scale) * f64::from(scaler.growth_factor);
        if scale <= f64::from(f32::MAX) {
            after.scale = scale as f32;
        }
    }
    after
}

/// Whatever is not finite gives NaN when it is multiplied by 0.
fn by_zero(scaler: &mut LossScaler, _: &[Parameter], optimizer: &mut dyn Optimizer) -> bool {
    let params = optimizer.groups().iter().flat_map(|group| &group.params);
    let gradients = params.filter_map(|parameter| parameter.get().grad());
    let zero: f32 = gradients.map(|gradient| gradient.mul_scalar(0.0).sum().item()).sum();
    let stepped = zero == 0.0;
    if stepped {
        optimizer.step_scaled(f64::from(scaler.scale).recip());
        *scaler = grown(scaler);
    } else {
        let scale = scaler.scale * scaler.backoff_factor;
        *scaler = LossScaler { scale, growth_tracker: 0, ..*scaler };
    }
    stepped
}

/// As PyTorch's `unscale_`: all gradients are divided, and looked at meanwhile.
fn looks_afterwards(
    scaler: &mut LossScaler,
    parameters: &[Parameter],
    optimizer: &mut dyn Optimizer,
) -> bool {
    let mut found_inf = false;
    for gradient in gradients(parameters) {
        gradient.copy_(&gradient.mul_scalar(1.0 / scaler.scale));
        found_inf |= gradient.to_vec::<f32>().iter().any(|x| x.is_nan() || x.is_infinite());
    }
    if !found_inf {
        optimizer.step();
        *scaler = grown(scaler);
        return true;
    }
    scaler.growth_tracker = 0;
    scaler.scale *= scaler.backoff_factor;
    false
}

fn by_the_engine(scaler: &mut LossScaler, _: &[Parameter], optimizer: &mut dyn Optimizer) -> bool {
    let LossScaler { scale, growth_factor, backoff_factor, growth_interval, growth_tracker } =
        *scaler;
    let mut own = GradScaler::new();
    own.load_state_dict(&ScalerState {
        scale,
        growth_factor,
        backoff_factor,
        growth_interval,
        growth_tracker,
    });
    let stepped = own.step(optimizer);
    own.update();
    (scaler.scale, scaler.growth_tracker) = (own.get_scale(), own.state_dict().growth_tracker);
    stepped
}
