//! A training loop without `zero_grad`: each step follows the sum of all gradients so far.

use engine_room::data::{DataLoader, Sampler, TensorDataset};
use engine_room::nn::Module;
use engine_room::rng::Generator;
use engine_room_labs::metrics::{Mean, accuracy};
use engine_room_labs::{Cell, Digits, LabArgs, Output, Split, Table};

use crate::experiments::training::{BATCH, F32, SIZES};

const EPOCHS: usize = 12;
const SHOWN: [usize; 7] = [1, 2, 3, 4, 6, 8, 12];

/// Prints the loss of some epochs, with the line and without it.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.measured();
    output.say(&format!("An MLP of {SIZES:?} on digits, AdamW. Mean loss of the epoch:\n"));
    let split = Digits::load()?.split(args.seed);
    let [with, without] = [true, false].map(|zero| train(&split, zero, args.seed));
    let mut table = Table::new()
        .column("epoch", "epoch", "")
        .column("with", "with zero_grad()", "")
        .column("without", "without", "");
    for epoch in SHOWN {
        let losses = [&with, &without].map(|(losses, _)| Cell::Number(losses[epoch - 1]));
        table.row([Cell::Count(epoch as u64)].into_iter().chain(losses));
    }
    output.table("rows", &table);
    let [with, without] = [with.1, without.1].map(|share| Cell::Share(share).text());
    output.say(&format!("Held-out images that are read right: {with} with, {without} without."));
    Ok(())
}

/// The loss of each epoch, and the share of held-out images that are read right.
fn train(split: &Split, zero: bool, seed: u64) -> (Vec<f64>, f64) {
    let model = F32.model(&mut Generator::new(seed));
    let mut optimizer = F32.optimizer(&model, 1e-3);
    let (x, y) = split.train.tensors();
    let sampler = Sampler::random(split.train.len(), seed);
    let mut loader = DataLoader::new(TensorDataset::new(vec![x, y]), sampler, BATCH);
    let mut losses = Vec::new();
    for _ in 0..EPOCHS {
        let mut mean = Mean::default();
        for batch in &mut loader {
            if zero {
                optimizer.zero_grad(true);
            }
            let loss = F32.loss(&model, &batch);
            loss.backward();
            optimizer.step();
            mean.add(loss.item().into(), batch[1].numel());
        }
        losses.push(mean.value());
    }
    let (x, y) = split.test.tensors();
    (losses, accuracy(&model.forward(&x), &y))
}
