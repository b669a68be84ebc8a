//! The training loop line by line: what is alive after each, and how much was alive meanwhile.

use engine_room::Device;
use engine_room::memory::{Role, bytes_by_role, max_memory_allocated, reset_peak_memory_stats};
use engine_room::nn::{Mlp, Module};
use engine_room::optim::{AdamW, Optimizer};
use engine_room::rng::Generator;
use engine_room_labs::{Cell, Digits, LabArgs, Output, Plot, Table};

use crate::experiments::training::SIZES;

const BATCH: usize = 256;
const SHOWN: [(Role, &str); 5] = [
    (Role::Parameter, "weights"),
    (Role::Gradient, "gradients"),
    (Role::Optimizer, "optimizer"),
    (Role::Activation, "activations"),
    (Role::Other, "other"),
];

/// Where a loop drops its gradients.
#[derive(Clone, Copy, PartialEq)]
enum Drop {
    /// In its first line; the flag is `set_to_none`.
    First(bool),
    /// Right before the backward pass.
    BeforeBackward,
    /// In its last line.
    Last,
}

const DROPS: [(Drop, &str); 4] = [
    (Drop::First(true), "first line"),
    (Drop::First(false), "first line, set_to_none=False"),
    (Drop::BeforeBackward, "right before backward()"),
    (Drop::Last, "last line"),
];

/// Prints a row a line.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let device = output.device()?;
    let Recorder { points, .. } = two_iterations(args.seed, device, Drop::First(true))?;
    output.say(&format!(
        "An MLP of {SIZES:?} with AdamW and batches of {BATCH} images. Bytes alive after each \
         line, and\nthe most that were alive while it ran:\n"
    ));
    output.table("rows", &table(&points));
    output.plot(&figure(&points))
}

/// Prints the peaks of loops that drop their gradients at other places.
pub fn places(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let device = output.device()?;
    output.say("The same training. The peaks of both iterations, by the place of zero_grad():\n");
    let mut table = Table::new()
        .column("place", "zero_grad() stands", "")
        .column("first", "first iteration", "bytes")
        .column("second", "second iteration", "bytes");
    for (drop, name) in DROPS {
        let recorder = two_iterations(args.seed, device, drop)?;
        let peaks = [1, 2].map(|iteration| Cell::Bytes(recorder.peak_of(iteration)));
        table.row([name.into()].into_iter().chain(peaks));
    }
    output.table("rows", &table);
    Ok(())
}

/// A line of the loop: bytes alive after it, by role, and the most while it ran.
struct Point {
    iteration: u64,
    line: &'static str,
    live: [u64; SHOWN.len()],
    peak: u64,
}

/// Runs lines and notes what they leave.
struct Recorder {
    device: Device,
    /// Bytes of each role that were alive before there was a model.
    before: [u64; SHOWN.len()],
    iteration: u64,
    points: Vec<Point>,
}

impl Recorder {
    fn line<T>(&mut self, line: &'static str, f: impl FnOnce() -> T) -> T {
        reset_peak_memory_stats(self.device);
        let result = f();
        let mut live = live(self.device);
        live.iter_mut().zip(self.before).for_each(|(bytes, before)| *bytes -= before);
        let peak = max_memory_allocated(self.device) - self.before.iter().sum::<u64>();
        self.points.push(Point { iteration: self.iteration, line, live, peak });
        result
    }

    fn peak_of(&self, iteration: u64) -> u64 {
        let points = self.points.iter().filter(|point| point.iteration == iteration);
        points.map(|point| point.peak).max().unwrap_or(0)
    }
}

fn live(device: Device) -> [u64; SHOWN.len()] {
    let roles = bytes_by_role(device);
    SHOWN.map(|(role, _)| roles[role as usize].1)
}

/// The first two iterations of a training.
fn two_iterations(seed: u64, device: Device, drop: Drop) -> Result<Recorder, String> {
    let images = Digits::load()?;
    let mut recorder = Recorder { device, before: live(device), iteration: 0, points: Vec::new() };
    let model = Mlp::new(&SIZES, &mut Generator::new(seed));
    model.to_device(device);
    let mut optimizer = AdamW::new(model.parameters(), 1e-3);
    for iteration in [1, 2] {
        recorder.iteration = iteration;
        let first = (iteration as usize - 1) * BATCH;
        let numbers: Vec<usize> = (first..first + BATCH).collect();
        iterate(&mut recorder, &model, &mut optimizer, &images.select(&numbers), drop);
    }
    Ok(recorder)
}

/// One iteration, with each line through the recorder. What it has made is dropped at its end,
/// where Python's variables would live on into the next one.
fn iterate(
    recorder: &mut Recorder,
    model: &Mlp,
    optimizer: &mut AdamW,
    images: &Digits,
    drop: Drop,
) {
    let device = recorder.device;
    let [x, y] = recorder.line("x, y = next(batches)", || {
        let (x, y) = images.tensors();
        [x, y].map(|x| x.to(device))
    });
    if let Drop::First(set_to_none) = drop {
        recorder.line("optimizer.zero_grad()", || optimizer.zero_grad(set_to_none));
    }
    let scores = recorder.line("scores = model(x)", || model.forward(&x));
    let loss = recorder.line("loss = loss_fn(scores, y)", || scores.cross_entropy(&y));
    if drop == Drop::BeforeBackward {
        recorder.line("optimizer.zero_grad()", || optimizer.zero_grad(true));
    }
    recorder.line("loss.backward()", || loss.backward());
    recorder.line("optimizer.step()", || optimizer.step());
    if drop == Drop::Last {
        recorder.line("optimizer.zero_grad()", || optimizer.zero_grad(true));
    }
}

fn table(points: &[Point]) -> Table {
    let mut table = Table::new().column("iteration", "#", "").column("line", "after", "");
    for (_, name) in SHOWN {
        table = table.column(name, name, "");
    }
    table = table.column("peak", "peak", "");
    for Point { iteration, line, live, peak } in points {
        let row = [Cell::Count(*iteration), (*line).into()].into_iter();
        let row = row.chain(live.iter().copied().map(Cell::Bytes));
        table.row(row.chain([Cell::Bytes(*peak)]));
    }
    table
}

/// One line a role, one point a line of the loop.
fn figure(points: &[Point]) -> Plot {
    let mut plot = Plot::lines(
        "What is alive after each line, in two iterations",
        ("line: 1 batch, 2 zero_grad, 3 model, 4 loss, 5 backward, 6 step, and again from 7", ""),
        ("alive", "bytes"),
    );
    for (role, (_, name)) in SHOWN.into_iter().enumerate().take(4) {
        let bytes = points.iter().enumerate();
        plot.series(name, bytes.map(|(i, point)| (i as f64 + 1.0, point.live[role] as f64)));
    }
    plot
}
