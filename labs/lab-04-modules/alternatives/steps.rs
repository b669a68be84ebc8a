//! Other right steps, clipping and loss scalers: 4.3, 4.4 and 4.5.

use engine_room::nn::Parameter;
use engine_room::optim::{self, AdamW, Optimizer, OptimizerState, ParamGroup, ParamState};
use engine_room::{DType, Tensor, no_grad};

use super::super::state::{AdamSettings, AdamState, LossScaler};
use super::{Other, other};

pub fn alternatives() -> Vec<Other> {
    vec![
        other("4.3", "in f32 throughout", |table| table.adamw_step = in_f32),
        other("4.3", "as PyTorch computes it", |table| table.adamw_step = like_pytorch),
        other("4.3", "list by list", |table| table.adamw_step = list_by_list),
        other("4.3", "the engine's own", |table| table.adamw_step = by_the_engine),
        other("4.4", "all numbers in one list", |table| table.clip_grad_norm = in_one_list),
        other("4.4", "a norm of norms", |table| table.clip_grad_norm = norm_of_norms),
        other("4.4", "always multiplies", |table| table.clip_grad_norm = always_multiplies),
        other("4.4", "the engine's own", |table| {
            table.clip_grad_norm = |parameters, max_norm| {
                optim::clip_grad_norm_(parameters, max_norm, 2.0, false).expect("never refuses")
            };
        }),
        other("4.5", "divides in place", |table| table.scaler_step = divides_in_place),
        other("4.5", "an overflow is NaN times 0", |table| table.scaler_step = by_zero),
        other("4.5", "divides first, then looks", |table| table.scaler_step = looks_afterwards),
        other("4.5", "asks the optimizer for its parameters", |table| {
            table.scaler_step = by_groups;
        }),
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

fn list_by_list(w: &mut [f32], g: Option<&[f32]>, state: &mut AdamState, settings: &AdamSettings) {
    let Some(g) = g else { return };
    let AdamSettings { lr, beta1, beta2, eps, weight_decay } = *settings;
    let AdamState { step, m, v } = state;
    *step += 1;
    let mean = |old: f32, new: f64, beta: f64| (beta * f64::from(old) + (1.0 - beta) * new) as f32;
    *m = m.iter().zip(g).map(|(m, g)| mean(*m, f64::from(*g), beta1)).collect();
    *v = v.iter().zip(g).map(|(v, g)| mean(*v, f64::from(*g).powi(2), beta2)).collect();
    let corrected = |list: &[f32], beta: f64| -> Vec<f64> {
        list.iter().map(|&x| f64::from(x) / (1.0 - beta.powf(*step as f64))).collect()
    };
    let updates = corrected(m, beta1).into_iter().zip(corrected(v, beta2));
    for (w, (m, v)) in w.iter_mut().zip(updates) {
        let wide = f64::from(*w);
        *w = (wide - lr * (weight_decay * wide + m / (v.sqrt() + eps))) as f32;
    }
}

fn by_the_engine(w: &mut [f32], g: Option<&[f32]>, state: &mut AdamState, settings: &AdamSettings) {
    let Some(g) = g else { return };
    let tensor = |values: &[f32]| Tensor::from_vec(values.to_vec(), &[values.len()]);
    let parameter = Parameter::new(tensor(w));
    parameter.get().backward_with(&tensor(g));
    let AdamSettings { lr, beta1, beta2, eps, weight_decay } = *settings;
    let group = ParamGroup { params: vec![parameter.clone()], lr, weight_decay };
    let mut optimizer = AdamW::with_groups(vec![group]).betas((beta1, beta2)).eps(eps);
    let tensors =
        [("exp_avg", &state.m), ("exp_avg_sq", &state.v)].map(|(n, x)| (n.to_owned(), tensor(x)));
    let saved = ParamState { step: state.step, tensors: tensors.to_vec() };
    let saved = OptimizerState { groups: vec![(lr, weight_decay)], params: vec![saved] };
    optimizer.load_state_dict(&saved).expect("it fits");
    optimizer.step();
    let kept = &optimizer.state_dict().params[0];
    w.copy_from_slice(&parameter.get().to_vec::<f32>());
    state.step = kept.step;
    (state.m, state.v) = (kept.tensors[0].1.to_vec(), kept.tensors[1].1.to_vec());
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

fn norm_of_norms(parameters: &[Parameter], max_norm: f64) -> f64 {
    let norm = |gradient: &Tensor| -> f64 {
        let wide = gradient.to(DType::F64);
        wide.mul(&wide).sum().item_as::<f64>().sqrt()
    };
    let gradients = gradients(parameters);
    let total = gradients.iter().map(norm).fold(0.0, |total: f64, norm| total.hypot(norm));
    // hypot takes infinity before NaN.
    let any_nan = gradients.iter().any(|gradient| norm(gradient).is_nan());
    let total = if any_nan { f64::NAN } else { total };
    if total + 1e-6 <= max_norm {
        return total;
    }
    let factor = Tensor::full(&[], (max_norm / (total + 1e-6)) as f32);
    no_grad(|| gradients.iter().for_each(|gradient| gradient.mul_(&factor)));
    total
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

fn divides_in_place(
    scaler: &mut LossScaler,
    parameters: &[Parameter],
    optimizer: &mut dyn Optimizer,
) -> bool {
    for gradient in gradients(parameters) {
        if gradient.isfinite().to_vec::<bool>().contains(&false) {
            scaler.scale *= scaler.backoff_factor;
            scaler.growth_tracker = 0;
            return false;
        }
    }
    let scale = Tensor::full(&[], scaler.scale);
    gradients(parameters).iter().for_each(|gradient| gradient.copy_(&gradient.div(&scale)));
    optimizer.step();
    *scaler = grown(scaler);
    true
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

fn by_groups(scaler: &mut LossScaler, _: &[Parameter], optimizer: &mut dyn Optimizer) -> bool {
    let mut largest = 0.0f32;
    for parameter in optimizer.groups().iter().flat_map(|group| &group.params) {
        let numbers = parameter.get().grad().map(|g| g.to_vec::<f32>()).unwrap_or_default();
        for number in numbers {
            let size = number.abs();
            largest = if size > largest || size.is_nan() { size } else { largest };
            if !largest.is_finite() {
                scaler.growth_tracker = 0;
                scaler.scale *= scaler.backoff_factor;
                return false;
            }
        }
    }
    let old = std::mem::replace(scaler, grown(scaler));
    optimizer.step_scaled(1.0 / f64::from(old.scale));
    true
}
