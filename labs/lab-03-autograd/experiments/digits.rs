//! Training on handwritten digits, with an eye on the bytes that each step keeps.

use engine_room::autograd::Graph;
use engine_room::memory::{bytes_by_role, max_memory_allocated, reset_peak_memory_stats};
use engine_room::rng::Generator;
use engine_room::{Device, no_grad};
use engine_room_labs::{Cell, Digits, LabArgs, Output, Plot, Progress, Table};

use crate::experiments::{loss, mine};
use crate::network::{Network, Sizes};

const SIZES: Sizes = Sizes { batch: 64, inputs: 64, width: 64, depth: 1, classes: 10 };
const EPOCHS: usize = 30;
const LEARNING_RATE: f32 = 0.2;

/// Trains, prints a row every few epochs, and draws the loss.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let split = Digits::load()?.split(args.seed);
    let mut generator = Generator::new(args.seed);
    let device = output.device()?;
    let network = Network::new(&SIZES, &mut generator).to(device);
    let Sizes { batch, width, .. } = SIZES;
    output.say(&format!(
        "{} images to train with, {} held out, batches of {batch}, one hidden layer of {width}.\n",
        split.train.len(),
        split.test.len()
    ));
    let mut table = Table::new()
        .column("epoch", "epoch", "")
        .column("loss", "mean loss", "")
        .column("accuracy", "held out", "")
        .column("kept", "a step keeps", "bytes")
        .column("peak", "peak", "bytes");
    let mut losses = Vec::new();
    let mut accuracy = 0.0;
    let progress = Progress::new(args, "training", EPOCHS as u64);
    for epoch in 1..=EPOCHS {
        reset_peak_memory_stats(device);
        let order = generator.permutation(split.train.len());
        let (loss, kept) = Step { args, network: &network, device }.take_all(&split.train, &order);
        accuracy = share_right(&network, &split.test, device);
        progress.step(format!("loss {loss:.3}, a step keeps {kept} bytes"));
        losses.push((epoch as f64, loss));
        if epoch == 1 || epoch % 10 == 0 {
            let peak = Cell::Bytes(max_memory_allocated(device));
            let kept = Cell::Bytes(kept);
            table.row([
                Cell::Count(epoch as u64),
                Cell::Number(loss),
                Cell::Share(accuracy),
                kept,
                peak,
            ]);
        }
    }
    drop(progress);
    output.table("rows", &table);
    output.value("accuracy", accuracy);
    output.say("Live bytes by role when the training is over:\n");
    output.table("roles", &roles(device));
    let mut plot = Plot::lines("Training on digits", ("epoch", ""), ("mean loss", ""));
    plot.series("training", losses);
    output.plot(&plot)
}

struct Step<'a> {
    args: &'a LabArgs,
    network: &'a Network,
    device: Device,
}

impl Step<'_> {
    /// One step for each whole batch. Returns the mean loss and the bytes that the last graph kept.
    fn take_all(&self, images: &Digits, order: &[usize]) -> (f64, u64) {
        let (mut sum, mut kept) = (0.0, 0);
        for batch in order.chunks_exact(SIZES.batch) {
            let (loss, bytes) = self.take(&images.select(batch));
            (sum, kept) = (sum + loss as f64, bytes);
        }
        (sum / (order.len() / SIZES.batch) as f64, kept)
    }

    /// One step of gradient descent. Returns the loss and the bytes that its graph kept.
    fn take(&self, batch: &Digits) -> (f32, u64) {
        let (images, labels) = batch.tensors();
        let (images, labels) = (images.to(self.device), labels.to(self.device));
        let loss = loss::of(self.args, self.network, &images, &labels);
        let kept = Graph::of(&loss).activation_bytes();
        if self.args.mine {
            mine::step(self.network, &loss, LEARNING_RATE);
        } else {
            loss.backward();
            self.network.step(LEARNING_RATE);
        }
        (loss.item(), kept)
    }
}

/// The share of images whose highest score is their label.
fn share_right(network: &Network, digits: &Digits, device: Device) -> f64 {
    let (images, labels) = digits.tensors();
    let guesses = no_grad(|| network.forward(&images.to(device))).argmax(1).to_vec::<i64>();
    let right = guesses.iter().zip(labels.to_vec::<i64>()).filter(|(guess, label)| *guess == label);
    right.count() as f64 / digits.len() as f64
}

fn roles(device: Device) -> Table {
    let mut table = Table::new().column("role", "role", "").column("bytes", "live", "bytes");
    for (role, bytes) in bytes_by_role(device) {
        table.row([role.name().into(), Cell::Bytes(bytes)]);
    }
    table
}
