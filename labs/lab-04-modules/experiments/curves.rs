//! The curves of the training loop of 4.6: as it was handed out, or with `--mine` as it is now.

use engine_room::nn::{Dropout, Linear, Module, Relu, Sequential};
use engine_room::optim::{Optimizer, OptimizerState, ParamGroup, Sgd, clip_grad_norm_};
use engine_room::rng::{Generator, manual_seed};
use engine_room::{Device, Error, memory::memory_allocated};
use engine_room_labs::{Cell, Digits, LabArgs, Output, Plot, Split, Table};

use crate::experiments::training::{BATCH, SIZES};
use crate::training::{Batch, Epoch, Plan};
use crate::{exercise, stub};

const EPOCHS: usize = 10;
const DROPOUT: f64 = 0.5;

/// A training's curves.
struct Curves {
    epochs: Vec<Epoch>,
    /// The norm of the gradient that arrives at the optimizer for its first step.
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
    let [one, four] = [1, 4].map(|accumulate| curves(args, &split, accumulate));
    output.table("rows", &table(&one));
    let mut norms = Table::new().column("batches", "batches a step", "").column(
        "norm",
        "norm of the first gradient",
        "",
    );
    for (batches, curves) in [(1, &one), (4, &four)] {
        norms.row([Cell::Count(batches), Cell::Number(curves.norm)]);
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

fn curves(args: &LabArgs, split: &Split, accumulate: usize) -> Curves {
    let mut generator = Generator::new(args.seed);
    manual_seed(args.seed);
    let model = network(&mut generator);
    let order = generator.permutation(split.train.len());
    let batches: Vec<Batch> =
        order.chunks_exact(BATCH).map(|numbers| batch(&split.train.select(numbers))).collect();
    let held_out = batch(&split.test);
    let sgd = Sgd::new(model.parameters(), 0.05).momentum(0.9);
    let mut optimizer = Watched { sgd, norms: Vec::new() };
    let plan = Plan { epochs: EPOCHS, accumulate };
    let before = memory_allocated(Device::Cpu);
    let train = if args.mine { exercise::train } else { stub::train };
    let epochs = train(&model, &mut optimizer, &batches, &held_out, &plan);
    Curves { epochs, norm: optimizer.norms[0], before }
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

/// SGD that notes the norm of the gradient before each step.
struct Watched {
    sgd: Sgd,
    norms: Vec<f64>,
}

impl Optimizer for Watched {
    fn step_scaled(&mut self, factor: f64) {
        let params = &self.sgd.groups()[0].params;
        let norm = clip_grad_norm_(params, f64::INFINITY, 2.0, false);
        self.norms.extend(norm.map(|norm| norm * factor));
        self.sgd.step_scaled(factor);
    }

    fn groups(&self) -> &[ParamGroup] {
        self.sgd.groups()
    }

    fn groups_mut(&mut self) -> &mut [ParamGroup] {
        self.sgd.groups_mut()
    }

    fn state_dict(&self) -> OptimizerState {
        self.sgd.state_dict()
    }

    fn load_state_dict(&mut self, state: &OptimizerState) -> Result<(), Error> {
        self.sgd.load_state_dict(state)
    }
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
