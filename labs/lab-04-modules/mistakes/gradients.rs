//! Wrong clipping and wrong loss scalers: 4.4 and 4.5.

use engine_room::Tensor;
use engine_room::nn::Parameter;
use engine_room::optim::Optimizer;

use super::super::solution;
use super::super::state::LossScaler;
use super::{Wrong, wrong};

pub fn mistakes() -> Vec<Wrong> {
    let mut all = of_the_norm();
    all.extend(of_the_factor());
    all.extend(of_the_step());
    all.extend(of_the_overflow());
    all.extend(of_the_scale());
    all
}

fn clip(diagnosis: &'static str, name: &'static str, f: fn(&[Parameter], f64) -> f64) -> Wrong {
    wrong("4.4", diagnosis, name, |table| table.clip_grad_norm = f)
}

fn gradients(parameters: &[Parameter]) -> Vec<Tensor> {
    parameters.iter().filter_map(|parameter| parameter.get().grad()).collect()
}

fn numbers(parameters: &[Parameter]) -> Vec<f64> {
    let lists = gradients(parameters).into_iter().flat_map(|gradient| gradient.to_vec::<f32>());
    lists.map(f64::from).collect()
}

fn scale(parameters: &[Parameter], factor: f64) {
    for gradient in gradients(parameters) {
        gradient.copy_(&gradient.mul_scalar(factor));
    }
}

/// Right, but for the norm.
fn by_norm(parameters: &[Parameter], max_norm: f64, norm: f64) -> f64 {
    let factor = max_norm / (norm + 1e-6);
    if factor.is_nan() || factor < 1.0 {
        scale(parameters, factor);
    }
    norm
}

fn root_of_squares(numbers: &[f64]) -> f64 {
    numbers.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn of_the_norm() -> Vec<Wrong> {
    vec![
        clip("4.4-no-root", "no root", |parameters, max_norm| {
            let norm = numbers(parameters).iter().map(|x| x * x).sum();
            by_norm(parameters, max_norm, norm)
        }),
        clip("4.4-squares-in-f32", "squares in f32", |parameters, max_norm| {
            let numbers = numbers(parameters);
            let squares: f32 = numbers.iter().map(|&x| x as f32 * x as f32).sum();
            by_norm(parameters, max_norm, f64::from(squares.sqrt()))
        }),
        clip("4.4-each-by-itself", "one norm each", |parameters, max_norm| {
            let norm = root_of_squares(&numbers(parameters));
            for parameter in parameters {
                solution::clip_grad_norm(std::slice::from_ref(parameter), max_norm);
            }
            norm
        }),
        clip("4.4-norm-after", "the norm after", |parameters, max_norm| {
            solution::clip_grad_norm(parameters, max_norm);
            root_of_squares(&numbers(parameters))
        }),
        clip("4.4-none-unwrapped", "unwraps", |parameters, max_norm| {
            let all = parameters.iter().map(|parameter| parameter.get().grad().unwrap());
            assert_eq!(all.count(), parameters.len());
            solution::clip_grad_norm(parameters, max_norm)
        }),
    ]
}

fn of_the_factor() -> Vec<Wrong> {
    vec![
        clip("4.4-scaled-up", "no limit of 1", |parameters, max_norm| {
            let norm = root_of_squares(&numbers(parameters));
            scale(parameters, max_norm / (norm + 1e-6));
            norm
        }),
        clip("4.4-no-millionth", "max_norm / norm", |parameters, max_norm| {
            let norm = root_of_squares(&numbers(parameters));
            let factor = max_norm / norm;
            if factor.is_nan() || factor < 1.0 {
                scale(parameters, factor);
            }
            norm
        }),
        clip("4.4-not-in-place", "mul_scalar alone", |parameters, max_norm| {
            let norm = root_of_squares(&numbers(parameters));
            for gradient in gradients(parameters) {
                gradient.mul_scalar(max_norm / (norm + 1e-6));
            }
            norm
        }),
        clip("4.4-each-number", "clamp", |parameters, max_norm| {
            let norm = root_of_squares(&numbers(parameters));
            for gradient in gradients(parameters) {
                gradient.copy_(&gradient.clamp(-max_norm, max_norm));
            }
            norm
        }),
        clip("4.4-nan-lost", "f64::min", |parameters, max_norm| {
            let norm = root_of_squares(&numbers(parameters));
            scale(parameters, f64::min(1.0, max_norm / (norm + 1e-6)));
            norm
        }),
        clip("4.4-not-finite-left-alone", "returns if not finite", |parameters, max_norm| {
            let norm = root_of_squares(&numbers(parameters));
            if norm.is_finite() { by_norm(parameters, max_norm, norm) } else { norm }
        }),
    ]
}

type Scale = fn(&mut LossScaler, &[Parameter], &mut dyn Optimizer) -> bool;

fn scaler(diagnosis: &'static str, name: &'static str, f: Scale) -> Wrong {
    wrong("4.5", diagnosis, name, |table| table.scaler_step = f)
}

fn overflows(parameters: &[Parameter]) -> bool {
    numbers(parameters).iter().any(|x| !x.is_finite())
}

fn back_off(scaler: &mut LossScaler) -> bool {
    scaler.scale *= scaler.backoff_factor;
    scaler.growth_tracker = 0;
    false
}

fn count(scaler: &mut LossScaler) -> bool {
    scaler.growth_tracker += 1;
    if scaler.growth_tracker == scaler.growth_interval {
        scaler.growth_tracker = 0;
        let grown = scaler.scale * scaler.growth_factor;
        scaler.scale = if grown.is_finite() { grown } else { scaler.scale };
    }
    true
}

/// Right, but for what counts as overflow.
fn judged(scaler: &mut LossScaler, optimizer: &mut dyn Optimizer, overflow: bool) -> bool {
    if overflow {
        return back_off(scaler);
    }
    optimizer.step_scaled(1.0 / f64::from(scaler.scale));
    count(scaler)
}

fn of_the_step() -> Vec<Wrong> {
    vec![
        scaler("4.5-steps-anyway", "steps anyway", |scaler, parameters, optimizer| {
            optimizer.step_scaled(1.0 / f64::from(scaler.scale));
            if overflows(parameters) {
                back_off(scaler);
                return true;
            }
            count(scaler)
        }),
        scaler("4.5-not-unscaled", "step()", |scaler, parameters, optimizer| {
            if overflows(parameters) {
                return back_off(scaler);
            }
            optimizer.step();
            count(scaler)
        }),
        scaler("4.5-divided-twice", "both ways", |scaler, parameters, optimizer| {
            if overflows(parameters) {
                return back_off(scaler);
            }
            scale(parameters, 1.0 / f64::from(scaler.scale));
            optimizer.step_scaled(1.0 / f64::from(scaler.scale));
            count(scaler)
        }),
        scaler("4.5-divided-by-the-new-scale", "grows first", |scaler, parameters, optimizer| {
            if overflows(parameters) {
                return back_off(scaler);
            }
            count(scaler);
            optimizer.step_scaled(1.0 / f64::from(scaler.scale));
            true
        }),
        scaler("4.5-nan-missed", "is_infinite", |scaler, parameters, optimizer| {
            let overflow = numbers(parameters).iter().any(|x| x.is_infinite());
            judged(scaler, optimizer, overflow)
        }),
    ]
}

fn of_the_overflow() -> Vec<Wrong> {
    vec![
        scaler("4.5-first-parameter-only", "the first", |scaler, parameters, optimizer| {
            judged(scaler, optimizer, overflows(&parameters[..1]))
        }),
        scaler("4.5-sum-overflows", "asks the sum", |scaler, parameters, optimizer| {
            let bad = |gradient: &Tensor| !gradient.sum().item().is_finite();
            judged(scaler, optimizer, gradients(parameters).iter().any(bad))
        }),
        scaler("4.5-none-unwrapped", "unwraps", |scaler, parameters, optimizer| {
            let all = parameters.iter().map(|parameter| parameter.get().grad().unwrap());
            assert_eq!(all.count(), parameters.len());
            judged(scaler, optimizer, overflows(parameters))
        }),
    ]
}

fn of_the_scale() -> Vec<Wrong> {
    vec![
        scaler("4.5-tracker-after-overflow", "tracker stays", |scaler, parameters, optimizer| {
            let tracker = scaler.growth_tracker;
            let stepped = solution::scaler_step(scaler, parameters, optimizer);
            scaler.growth_tracker = if stepped { scaler.growth_tracker } else { tracker };
            stepped
        }),
        scaler("4.5-grows-late", "beyond the interval", |scaler, parameters, optimizer| {
            if overflows(parameters) {
                return back_off(scaler);
            }
            optimizer.step_scaled(1.0 / f64::from(scaler.scale));
            scaler.growth_tracker += 1;
            if scaler.growth_tracker > scaler.growth_interval {
                scaler.growth_tracker = 0;
                scaler.scale *= scaler.growth_factor;
            }
            true
        }),
        scaler("4.5-tracker-after-growth", "every n-th", |scaler, parameters, optimizer| {
            if overflows(parameters) {
                return back_off(scaler);
            }
            optimizer.step_scaled(1.0 / f64::from(scaler.scale));
            scaler.growth_tracker += 1;
            if scaler.growth_tracker % scaler.growth_interval == 0 {
                scaler.scale *= scaler.growth_factor;
            }
            true
        }),
        scaler("4.5-grows-to-infinity", "without limit", |scaler, parameters, optimizer| {
            let before = *scaler;
            let stepped = solution::scaler_step(scaler, parameters, optimizer);
            if stepped && before.growth_tracker + 1 == before.growth_interval {
                scaler.scale = before.scale * before.growth_factor;
            }
            stepped
        }),
        scaler("4.5-says-overflow", "returns found_inf", |scaler, parameters, optimizer| {
            !solution::scaler_step(scaler, parameters, optimizer)
        }),
    ]
}
