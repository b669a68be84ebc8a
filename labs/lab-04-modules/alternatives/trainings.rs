//! Other right training loops and predictions: 4.6 and 4.7.

use engine_room::memory::memory_allocated;
use engine_room::nn::Module;
use engine_room::optim::Optimizer;
use engine_room::{DType, Device, Tensor, no_grad};

use super::super::recipe::{Recipe, RoleBytes, Rule};
use super::super::training::{Batch, Epoch, Plan};
use super::{Other, other};

pub fn alternatives() -> Vec<Other> {
    vec![
        other("4.6", "scales the step", |table| table.train = scales_the_step),
        other("4.6", "one loss for a step", |table| table.train = one_loss),
        other("4.6", "backward with a share", |table| table.train = with_a_share),
        other("4.7", "bytes of one weight", |table| table.training_bytes = of_one_weight),
        other("4.7", "a table", |table| table.training_bytes = table_of_recipes),
    ]
}

fn loss(model: &dyn Module, batch: &Batch) -> Tensor {
    model.forward(&batch.images).cross_entropy(&batch.labels)
}

fn held_out_loss(model: &dyn Module, batch: &Batch) -> f64 {
    model.eval();
    f64::from(no_grad(|| loss(model, batch).item()))
}

/// The sum is left as it is, and the optimizer takes its share.
fn scales_the_step(
    model: &dyn Module,
    optimizer: &mut dyn Optimizer,
    batches: &[Batch],
    held_out: &Batch,
    plan: &Plan,
) -> Vec<Epoch> {
    let epoch = |_| {
        model.train(true);
        let mut train_loss = 0.0;
        for group in batches.chunks(plan.accumulate) {
            for batch in group {
                let loss = loss(model, batch);
                loss.backward();
                train_loss += f64::from(loss.item()) / batches.len() as f64;
            }
            optimizer.step_scaled(1.0 / group.len() as f64);
            model.zero_grad(true);
        }
        let held_out_loss = held_out_loss(model, held_out);
        Epoch { train_loss, held_out_loss, live_bytes: memory_allocated(Device::Cpu) }
    };
    (0..plan.epochs).map(epoch).collect()
}

/// The mean is built as a tensor, with one backward pass for all batches of a step.
fn one_loss(
    model: &dyn Module,
    optimizer: &mut dyn Optimizer,
    batches: &[Batch],
    held_out: &Batch,
    plan: &Plan,
) -> Vec<Epoch> {
    let mut epochs = Vec::new();
    while epochs.len() < plan.epochs {
        model.train(true);
        let mut losses = Vec::new();
        for group in batches.chunks(plan.accumulate) {
            optimizer.zero_grad(false);
            let parts: Vec<Tensor> = group.iter().map(|batch| loss(model, batch)).collect();
            Tensor::stack(&parts.iter().collect::<Vec<&Tensor>>(), 0).mean().backward();
            losses.extend(parts.iter().map(|part| f64::from(part.item())));
            optimizer.step();
        }
        let held_out_loss = held_out_loss(model, held_out);
        let live_bytes = memory_allocated(Device::Cpu);
        let train_loss = losses.iter().sum::<f64>() / losses.len() as f64;
        epochs.push(Epoch { train_loss, held_out_loss, live_bytes });
    }
    epochs
}

fn with_a_share(
    model: &dyn Module,
    optimizer: &mut dyn Optimizer,
    batches: &[Batch],
    held_out: &Batch,
    plan: &Plan,
) -> Vec<Epoch> {
    let mut epochs = Vec::new();
    for _ in 0..plan.epochs {
        let mut losses = Tensor::zeros(&[]);
        for group in batches.chunks(plan.accumulate) {
            optimizer.zero_grad(true);
            let share = Tensor::full(&[], 1.0 / group.len() as f32);
            for batch in group {
                model.train(true);
                let loss = loss(model, batch);
                loss.backward_with(&share);
                // With its graph, which nobody holds beyond the epoch.
                losses = losses.add(&loss);
            }
            optimizer.step();
        }
        model.train(false);
        let held_out_loss = f64::from(loss(model, held_out).item());
        epochs.push(Epoch {
            train_loss: f64::from(losses.item()) / batches.len() as f64,
            held_out_loss,
            live_bytes: memory_allocated(Device::Cpu),
        });
    }
    epochs
}

fn of_one_weight(recipe: &Recipe, trained: u64, frozen: u64) -> RoleBytes {
    let size: u64 = if recipe.weights == DType::F32 { 4 } else { 2 };
    let state = match (size, recipe.master_weights, recipe.rule) {
        (2, true, Rule::AdamW) => 12,
        (2, true, Rule::SgdMomentum) => 8,
        (2, true, Rule::Sgd) => 4,
        (size, _, Rule::AdamW) => 2 * size,
        (size, _, Rule::SgdMomentum) => size,
        (_, _, Rule::Sgd) => 0,
    };
    let of_trained = [size, size, state].map(|bytes| bytes * trained);
    RoleBytes {
        parameters: of_trained[0] + size * frozen,
        gradients: of_trained[1],
        optimizer: of_trained[2],
    }
}

fn table_of_recipes(recipe: &Recipe, trained: u64, frozen: u64) -> RoleBytes {
    let (weight, optimizer): (u64, [u64; 3]) = match (recipe.weights, recipe.master_weights) {
        (DType::F32, _) => (4, [0, 4, 8]),
        (_, true) => (2, [4, 8, 12]),
        (_, false) => (2, [0, 2, 4]),
    };
    RoleBytes {
        parameters: weight * (trained + frozen),
        gradients: weight * trained,
        optimizer: trained * optimizer[recipe.rule as usize],
    }
}
