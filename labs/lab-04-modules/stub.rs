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
use grading::exercise;

use super::module_tree::ModuleTree;
use super::recipe::{Recipe, RoleBytes, Rule};
use super::state::{AdamSettings, AdamState, LossScaler};
use super::training::{Batch, Epoch, Plan};

/// 4.1 A new linear layer with the random numbers that PyTorch begins with: a weight of shape
/// `(outputs, inputs)`, and a bias of shape `(outputs)` if one is wanted.
pub fn linear_new(inputs: usize, outputs: usize, bias: bool, generator: &mut Generator) -> Linear {
    exercise!("4.1")
}

/// 4.1 What the layer computes: `(.., inputs) → (.., outputs)`.
pub fn linear_forward(layer: &Linear, x: &Tensor) -> Tensor {
    exercise!("4.1")
}

/// 4.2 Every parameter of a module and of all modules inside it, each with its full name, in
/// PyTorch's order. A parameter that is shared is listed once, under its first name.
pub fn named_parameters(module: &ModuleTree) -> Vec<(String, Parameter)> {
    exercise!("4.2")
}

/// 4.3 One step of AdamW for one parameter, in place. Without a gradient nothing happens.
pub fn adamw_step(
    weights: &mut [f32],
    gradient: Option<&[f32]>,
    state: &mut AdamState,
    settings: &AdamSettings,
) {
    exercise!("4.3")
}

/// 4.4 Scales all gradients down together, in place, so that their norm is at most `max_norm`, and
/// returns the norm that they had.
pub fn clip_grad_norm(parameters: &[Parameter], max_norm: f64) -> f64 {
    exercise!("4.4")
}

/// 4.5 What `GradScaler` does after the backward pass of a scaled loss: a step with the unscaled
/// gradients, or none if one of them overflowed, and then the scale for the next loss. Returns
/// whether the optimizer has stepped.
pub fn scaler_step(
    scaler: &mut LossScaler,
    parameters: &[Parameter],
    optimizer: &mut dyn Optimizer,
) -> bool {
    exercise!("4.5")
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
    // Reading a number waits for the device, so these losses are read once, at the end.
    let mut held_out_losses = Vec::new();
    model.train(true);
    for _ in 0..plan.epochs {
        let mut sum = 0.0;
        for group in batches.chunks(plan.accumulate) {
            optimizer.zero_grad(true);
            for batch in group {
                let loss = model.forward(&batch.images).cross_entropy(&batch.labels);
                loss.backward();
                sum += f64::from(loss.item());
            }
            optimizer.step();
        }
        let train_loss = sum / batches.len() as f64;
        model.eval();
        let loss = model.forward(&held_out.images).cross_entropy(&held_out.labels);
        held_out_losses.push(loss);
        let held_out_loss = 0.0; // until it is read
        let live_bytes = memory_allocated(Device::Cpu);
        epochs.push(Epoch { train_loss, held_out_loss, live_bytes });
    }
    for (epoch, loss) in epochs.iter_mut().zip(&held_out_losses) {
        epoch.held_out_loss = f64::from(loss.item());
    }
    epochs
}

/// 4.7 Predict the bytes of a model in training, between `optimizer.step()` and `zero_grad`.
/// `trained` weights are trained and `frozen` ones are not.
pub fn training_bytes(recipe: &Recipe, trained: u64, frozen: u64) -> RoleBytes {
    exercise!("4.7")
}
