//! The curves of the training loop of 4.6: as it was handed out, or with `--mine` as it is now.

use engine_room::Device;
use engine_room::memory::memory_allocated;
use engine_room::nn::{Dropout, Linear, Module, Relu, Sequential};
use engine_room::optim::{Sgd, clip_grad_norm_};
use engine_room::rng::{Generator, manual_seed};
use engine_room_labs::{Cell, Digits, LabArgs, Output, Plot, Split, Table};

use crate::experiments::training::{BATCH, SIZES};
use crate::training::{Batch, Epoch, Plan};
use crate::{exercise, stub};

const EPOCHS: usize = 10;
const DROPOUT: f64 = 0.5;

/// A training's curves.
struct Curves {
    epochs: Vec<Epoch>,
    /// The norm of the gradient that the last step was taken with.
    norm: f64,
    /// Live bytes before the first epoch.
    before: u64,
}

/// Prints a row an epoch, and draws losses and live bytes.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.measured();
    let whose = if args.mine { "your loop" } else { "the loop as it is handed out" };
    output.say(&format!(
        "An MLP of {SIZES:?} with dropout {DROPOUT} on digits, SGD with momentum, trained \
         by\n{whose}, one batch of {BATCH} a step:\n"
    ));
    let split = Digits::load()?.split(args.seed);
    let plan = Plan { epochs: EPOCHS, accumulate: 1 };
    let one = curves(args, &split, 0.05, &plan);
    output.table("rows", &table(&one));
    output.say("The norm of a gradient before anything is learned, by batches a step:\n");
    let mut norms = Table::new().column("batches", "batches", "").column("norm", "norm", "");
    for accumulate in [1, 2, 4] {
        let norm = curves(args, &split, 0.0, &Plan { epochs: 1, accumulate }).norm;
        norms.row([Cell::Count(accumulate as u64), Cell::Number(norm)]);
    }
    output.table("norms", &norms);
    if args.plot.is_some() { output.figure(&figure(&one)?) } else { Ok(()) }
}

fn table(curves: &Curves) -> Table {
    let mut table = Table::new()
        .column("epoch", "epoch", "")
        .column("train_loss", "training loss", "")
        .column("held_out_loss", "held-out loss", "")
        .column("live", "live", "bytes");
    for (i, epoch) in (1..).zip(&curves.epochs) {
        table.row([
            Cell::Count(i),
            Cell::Number(epoch.train_loss),
            Cell::Number(epoch.held_out_loss),
            Cell::Bytes(epoch.live_bytes - curves.before),
        ]);
    }
    table
}

/// Trains at this learning rate, with so many batches a step.
fn curves(args: &LabArgs, split: &Split, lr: f64, plan: &Plan) -> Curves {
    let mut generator = Generator::new(args.seed);
    manual_seed(args.seed);
    let model = network(&mut generator);
    let order = generator.permutation(split.train.len());
    let batches: Vec<Batch> =
        order.chunks_exact(BATCH).map(|numbers| batch(&split.train.select(numbers))).collect();
    let held_out = batch(&split.test);
    let mut optimizer = Sgd::new(model.parameters(), lr).momentum(0.9);
    let before = memory_allocated(Device::Cpu);
    let train = if args.mine { exercise::train } else { stub::train };
    let epochs = train(&model, &mut optimizer, &batches[..20], &held_out, plan);
    let norm = clip_grad_norm_(&model.parameters(), f64::INFINITY, 2.0, false);
    Curves { epochs, norm: norm.unwrap_or(f64::NAN), before }
}

fn network(generator: &mut Generator) -> Sequential {
    let mut layer = |i: usize| Linear::new(SIZES[i], SIZES[i + 1], true, generator);
    Sequential::new()
        .append(layer(0))
        .append(Relu)
        .append(Dropout::new(DROPOUT))
        .append(layer(1))
        .append(Relu)
        .append(Dropout::new(DROPOUT))
        .append(layer(2))
}

fn batch(images: &Digits) -> Batch {
    let (images, labels) = images.tensors();
    Batch { images, labels }
}

fn figure(curves: &Curves) -> Result<String, String> {
    let points = |of: fn(&Epoch) -> f64| {
        let epochs = curves.epochs.iter().enumerate();
        epochs.map(move |(i, epoch)| (i as f64 + 1.0, of(epoch)))
    };
    let mut losses = Plot::lines("Losses", ("epoch", ""), ("mean loss", "nats")).log_y();
    losses.series("training", points(|epoch| epoch.train_loss));
    losses.series("held out", points(|epoch| epoch.held_out_loss));
    let mut bytes = Plot::lines("Live bytes", ("epoch", ""), ("live", "bytes"));
    let grown = points(|epoch| epoch.live_bytes as f64);
    bytes.series("at the end of the epoch", grown.map(|(x, y)| (x, y - curves.before as f64)));
    Plot::stacked(&[losses, bytes])
}
