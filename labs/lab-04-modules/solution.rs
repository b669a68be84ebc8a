//! Lab 04, Modules. Seven exercises, one function each (4.1 has two).
//!
//! Replace each `exercise!(..)` by your code, and mend the loop of 4.6. Grade with
//! `cargo test --test lab-04-modules`, ask for a hint with `cargo run --bin course -- hint 4.1`.
#![allow(dead_code, unused_imports, unused_variables)] // what you have not begun is silent

use engine_room::memory::memory_allocated;
use engine_room::nn::{Linear, Module, Parameter};
use engine_room::optim::Optimizer;
use engine_room::rng::Generator;
use engine_room::{DType, Device, Tensor, no_grad};
// STUB use grading::exercise;

use super::module_tree::ModuleTree;
use super::recipe::{Recipe, RoleBytes, Rule};
use super::state::{AdamSettings, AdamState, LossScaler};
use super::training::{Batch, Epoch, Plan};

/// 4.1 A new linear layer with the random numbers that PyTorch begins with: a weight of shape
/// `(outputs, inputs)`, and a bias of shape `(outputs)` if one is wanted.
pub fn linear_new(inputs: usize, outputs: usize, bias: bool, generator: &mut Generator) -> Linear {
    // SOLUTION 4.1
    let bound = 1.0 / (inputs as f32).sqrt();
    let weight = Tensor::rand(&[outputs, inputs], generator);
    let weight = weight.mul_scalar(2.0 * bound).add_scalar(-bound);
    let mut layer = Linear { weight: Parameter::new(weight), bias: None };
    if bias {
        let values = Tensor::rand(&[outputs], generator);
        let values = values.mul_scalar(2.0 * bound).add_scalar(-bound);
        layer.bias = Some(Parameter::new(values));
    }
    layer
    // END
}

/// 4.1 What the layer computes: `(.., inputs) → (.., outputs)`.
pub fn linear_forward(layer: &Linear, x: &Tensor) -> Tensor {
    // SOLUTION 4.1
    let y = x.matmul(&layer.weight.get().transpose(0, 1));
    match &layer.bias {
        Some(bias) => y.add(&bias.get()),
        None => y,
    }
    // END
}

/// 4.2 Every parameter of a module and of all modules inside it, each with its full name, in
/// PyTorch's order. A parameter that is shared is listed once, under its first name.
pub fn named_parameters(module: &ModuleTree) -> Vec<(String, Parameter)> {
    // SOLUTION 4.2
    let mut found: Vec<(String, Parameter)> = module.parameters.clone();
    for (name, child) in &module.children {
        for (inner, parameter) in named_parameters(child) {
            found.push((format!("{name}.{inner}"), parameter));
        }
    }
    let mut once: Vec<(String, Parameter)> = Vec::new();
    for (name, parameter) in found {
        if !once.iter().any(|(_, other)| other.is(&parameter)) {
            once.push((name, parameter));
        }
    }
    once
    // END
}

/// 4.3 One step of AdamW for one parameter, in place. Without a gradient nothing happens.
pub fn adamw_step(
    weights: &mut [f32],
    gradient: Option<&[f32]>,
    state: &mut AdamState,
    settings: &AdamSettings,
) {
    // SOLUTION 4.3
    let Some(gradient) = gradient else { return };
    let AdamSettings { lr, beta1, beta2, eps, weight_decay } = *settings;
    state.step += 1;
    let steps = state.step as i32;
    for i in 0..weights.len() {
        let g = f64::from(gradient[i]);
        let m = beta1 * f64::from(state.m[i]) + (1.0 - beta1) * g;
        let v = beta2 * f64::from(state.v[i]) + (1.0 - beta2) * g * g;
        let m_hat = m / (1.0 - beta1.powi(steps));
        let v_hat = v / (1.0 - beta2.powi(steps));
        let decayed = f64::from(weights[i]) * (1.0 - lr * weight_decay);
        weights[i] = (decayed - lr * m_hat / (v_hat.sqrt() + eps)) as f32;
        state.m[i] = m as f32;
        state.v[i] = v as f32;
    }
    // END
}

/// 4.4 Scales all gradients down together, in place, so that their norm is at most `max_norm`, and
/// returns the norm that they had.
pub fn clip_grad_norm(parameters: &[Parameter], max_norm: f64) -> f64 {
    // SOLUTION 4.4
    let mut squares = 0.0;
    for parameter in parameters {
        if let Some(gradient) = parameter.get().grad() {
            for number in gradient.to_vec::<f32>() {
                squares += f64::from(number) * f64::from(number);
            }
        }
    }
    let norm = squares.sqrt();
    let factor = max_norm / (norm + 1e-6);
    // Asked this way round, a factor of NaN is used: every comparison with it is false.
    let short_enough = factor >= 1.0;
    if !short_enough {
        for parameter in parameters {
            if let Some(gradient) = parameter.get().grad() {
                gradient.copy_(&gradient.mul_scalar(factor));
            }
        }
    }
    norm
    // END
}

/// 4.5 What `GradScaler` does after the backward pass of a scaled loss: a step with the unscaled
/// gradients, or none if one of them overflowed, and then the scale for the next loss. Returns
/// whether the optimizer has stepped.
pub fn scaler_step(
    scaler: &mut LossScaler,
    parameters: &[Parameter],
    optimizer: &mut dyn Optimizer,
) -> bool {
    // SOLUTION 4.5
    let mut overflow = false;
    for parameter in parameters {
        if let Some(gradient) = parameter.get().grad() {
            let finite = gradient.to_vec::<f32>().iter().all(|number| number.is_finite());
            overflow = overflow || !finite;
        }
    }
    if overflow {
        scaler.scale *= scaler.backoff_factor;
        scaler.growth_tracker = 0;
        return false;
    }
    for parameter in parameters {
        if let Some(gradient) = parameter.get().grad() {
            gradient.copy_(&gradient.mul_scalar(1.0 / scaler.scale));
        }
    }
    optimizer.step();
    scaler.growth_tracker += 1;
    if scaler.growth_tracker == scaler.growth_interval {
        let grown = scaler.scale * scaler.growth_factor;
        if grown.is_finite() {
            scaler.scale = grown;
        }
        scaler.growth_tracker = 0;
    }
    true
    // END
}

/// 4.6 Trains a model and returns one point of each curve for every epoch. As handed out it is
/// wrong in three places, and none of them raises an error.
pub fn train(
    model: &dyn Module,
    optimizer: &mut dyn Optimizer,
    batches: &[Batch],
    held_out: &Batch,
    plan: &Plan,
) -> Vec<Epoch> {
    let mut epochs = Vec::new();
    // SOLUTION 4.6
    // STUB // Reading a number waits for the device, so these losses are read once, at the end.
    // STUB let mut held_out_losses = Vec::new();
    // STUB model.train(true);
    // END
    for _ in 0..plan.epochs {
        // SOLUTION
        model.train(true);
        // END
        let mut sum = 0.0;
        for group in batches.chunks(plan.accumulate) {
            optimizer.zero_grad(true);
            for batch in group {
                let loss = model.forward(&batch.images).cross_entropy(&batch.labels);
                // SOLUTION
                loss.mul_scalar(1.0 / group.len() as f64).backward();
                // STUB loss.backward();
                // END
                sum += f64::from(loss.item());
            }
            optimizer.step();
        }
        let train_loss = sum / batches.len() as f64;
        model.eval();
        // SOLUTION
        let loss = no_grad(|| model.forward(&held_out.images).cross_entropy(&held_out.labels));
        let held_out_loss = f64::from(loss.item());
        // STUB let loss = model.forward(&held_out.images).cross_entropy(&held_out.labels);
        // STUB held_out_losses.push(loss);
        // STUB let held_out_loss = 0.0; // until it is read
        // END
        let live_bytes = memory_allocated(Device::Cpu);
        epochs.push(Epoch { train_loss, held_out_loss, live_bytes });
    }
    // SOLUTION
    // STUB for (epoch, loss) in epochs.iter_mut().zip(&held_out_losses) {
    // STUB     epoch.held_out_loss = f64::from(loss.item());
    // STUB }
    // END
    epochs
}

/// 4.7 Predict the bytes of a model in training, between `optimizer.step()` and `zero_grad`.
/// `trained` weights are trained and `frozen` ones are not.
pub fn training_bytes(recipe: &Recipe, trained: u64, frozen: u64) -> RoleBytes {
    // SOLUTION 4.7
    let weight = recipe.weights.size() as u64;
    let in_f32 = recipe.master_weights && recipe.weights != DType::F32;
    let master = if in_f32 { 4 } else { 0 };
    let number = if in_f32 { 4 } else { weight };
    let numbers = match recipe.rule {
        Rule::Sgd => 0,
        Rule::SgdMomentum => 1,
        Rule::AdamW => 2,
    };
    RoleBytes {
        parameters: (trained + frozen) * weight,
        gradients: trained * weight,
        optimizer: trained * (master + numbers * number),
    }
    // END
}
