//! The programs whose snapshots 6.4 is asked about: they run on simulated GPUs with little memory.

use engine_room::memory::{Action, Snapshot, empty_cache, memory_snapshot, record_memory_history};
use engine_room::nn::{Linear, Module, Relu, Sequential};
use engine_room::optim::{AdamW, Optimizer};
use engine_room::rng::Generator;
use engine_room::{Device, Reduction, Tensor, catch, no_grad, sim};

use super::super::table::{Asked, MemoryTable};

const MIB: u64 = 1 << 20;

/// What a program keeps from one step to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Keeps {
    Nothing,
    /// Losses, computed without a graph.
    Numbers,
    /// Outputs of the model, computed without a graph.
    Outputs,
    /// Gradients: they are never set to `None`.
    Gradients,
    /// Losses with their graphs.
    Losses,
    /// The running mean of losses with graphs.
    Mean,
    /// The sum of losses with graphs.
    Sum,
}

/// What a program is like.
#[derive(Debug, Clone, Copy)]
pub struct Program {
    pub keeps: Keeps,
    /// The loss: `mse_loss`, or else `cross_entropy`.
    pub mse: bool,
    /// Whether the images lie on the device from before the first step on, or come anew in each.
    pub images_stay: bool,
    /// Whether the snapshot is taken between forward and backward pass of the last step.
    pub in_the_middle: bool,
    /// Whether a variable still holds the last loss.
    pub loss_alive: bool,
    pub steps: usize,
}

/// The memory of a device at one moment, with its history.
pub struct Run {
    pub snapshot: Snapshot,
    pub steps: Vec<usize>,
    pub capacity: u64,
    pub loss_op: String,
}

impl Run {
    pub fn table(&self, asked: Asked) -> MemoryTable {
        MemoryTable::of(&self.snapshot, &self.steps, self.capacity, &self.loss_op, asked)
    }
}

/// Where trainings run, one after the other: a device loads each kernel once.
const TRAINED: usize = 0;
/// Where large tensors come and go. No kernel runs here: what those keep for themselves is in no
/// segment, and no table says so.
const IN_PIECES: usize = 1;

/// Gives a GPU so much memory, holds nothing, and begins a new history.
fn begin(number: usize, capacity: u64) -> Device {
    let device = Device::Sim(number);
    empty_cache(device);
    sim::set_capacity(number, capacity);
    record_memory_history(device, 1_000_000);
    device
}

fn history(device: Device) -> usize {
    memory_snapshot(device).trace.len()
}

/// The operation that makes the tensor which `f` returns.
fn last_op(device: Device, f: impl FnOnce() -> Tensor) -> String {
    let x = f();
    let trace = memory_snapshot(device).trace;
    let made = trace.iter().rfind(|entry| entry.action == Action::Alloc);
    drop(x);
    made.expect("it is on the device").label.op.to_string()
}

/// Trains a small network and evaluates it after each step.
pub fn trained(program: Program, rng: &mut Generator) -> Run {
    let capacity = 2 * MIB * (6 + rng.below(8) as u64);
    let device = begin(TRAINED, capacity);
    let [batch, inputs] = [6 + rng.below(20), 4 + rng.below(12)];
    let [hidden, classes] = [10 + rng.below(40), 3 + rng.below(6)];
    let model = Sequential::new()
        .append(Linear::new(inputs, hidden, true, rng))
        .append(Relu)
        .append(Linear::new(hidden, classes, true, rng));
    model.to_device(device);
    let mut optimizer = AdamW::new(model.parameters(), 0.01);
    let images = Tensor::rand(&[batch, inputs], rng);
    let targets = match program.mse {
        true => Tensor::rand(&[batch, classes], rng).to(device),
        false => {
            let labels = (0..batch).map(|_| rng.below(classes) as i64).collect();
            Tensor::from_vec(labels, &[batch]).to(device)
        }
    };
    let stay = images.to(device);
    let loss = |x: &Tensor| match program.mse {
        true => model.forward(x).mse_loss(&targets, Reduction::Mean),
        false => model.forward(x).cross_entropy(&targets),
    };
    let loss_op = last_op(device, || no_grad(|| loss(&stay)));
    let (mut steps, mut kept, mut carried) = (Vec::new(), Vec::new(), None);
    // What variables still hold when the snapshot is taken.
    let mut held = Vec::new();
    for step in 1..=program.steps {
        steps.push(history(device));
        let x = if program.images_stay { stay.clone() } else { images.to(device) };
        if program.keeps != Keeps::Gradients {
            optimizer.zero_grad(true);
        }
        let training = loss(&x);
        if program.in_the_middle && step == program.steps {
            held.push(training);
            break;
        }
        training.backward();
        optimizer.step();
        let last = evaluated(program.keeps, &model, &x, &loss, &mut kept, &mut carried);
        if program.loss_alive && step == program.steps {
            held.extend(last);
        }
    }
    Run { snapshot: memory_snapshot(device), steps, capacity, loss_op }
}

/// Evaluates the model and keeps what is kept. Returns the loss, if there is one.
fn evaluated(
    keeps: Keeps,
    model: &Sequential,
    x: &Tensor,
    loss: &impl Fn(&Tensor) -> Tensor,
    kept: &mut Vec<Tensor>,
    carried: &mut Option<Tensor>,
) -> Option<Tensor> {
    match keeps {
        Keeps::Nothing | Keeps::Gradients => return Some(no_grad(|| loss(x))),
        Keeps::Numbers => kept.push(no_grad(|| loss(x))),
        Keeps::Outputs => kept.push(no_grad(|| model.forward(x))),
        Keeps::Losses => kept.push(loss(x)),
        Keeps::Mean | Keeps::Sum => {
            let loss = loss(x);
            *carried = Some(match carried.take() {
                None => loss.add_scalar(0.0),
                Some(sum) if keeps == Keeps::Sum => sum.add(&loss),
                Some(mean) => mean.add(&loss.sub(&mean).mul_scalar(0.5)),
            });
            return Some(loss);
        }
    }
    None
}

/// A program that takes large tensors and drops some of them, from full to nearly empty.
pub struct Pieces {
    pub moments: Vec<Run>,
    /// What is still alive at the last of the moments.
    _live: Vec<Tensor>,
}

/// Puts so many large tensors on a device, or as many as fit, and drops them in a random order.
pub fn in_pieces(tensors: usize, rng: &mut Generator) -> Pieces {
    let capacity = 2 * MIB * (15 + rng.below(8) as u64);
    let device = begin(IN_PIECES, capacity);
    let mut live = Vec::new();
    for _ in 0..tensors {
        let bytes = (2 + rng.below(11)) * MIB as usize - 4096 * rng.below(3);
        match placed(bytes, device) {
            Some(x) => live.push(x),
            None => break,
        }
    }
    let mut moments = Vec::new();
    while live.len() > 1 {
        drop(live.swap_remove(rng.below(live.len())));
        moments.push(moment(device, capacity, rng));
    }
    Pieces { moments, _live: live }
}

/// One tensor keeps a segment that nearly fills the device.
pub fn one_survivor(rng: &mut Generator) -> Pieces {
    let capacity = 2 * MIB * (10 + rng.below(4) as u64);
    let device = begin(IN_PIECES, capacity);
    let live = Vec::from_iter(placed((2 + rng.below(7)) * MIB as usize, device));
    Pieces { moments: vec![moment(device, capacity, rng)], _live: live }
}

/// Two segments that nobody uses, beside one in use.
pub fn two_cached(rng: &mut Generator) -> Pieces {
    let large = [0; 2].map(|_| (10 + 2 * rng.below(4)) * MIB as usize);
    let capacity = (large[0] + large[1]) as u64 + 2 * MIB * (10 + rng.below(3) as u64);
    let device = begin(IN_PIECES, capacity);
    let live = Vec::from_iter(placed((2 + rng.below(7)) * MIB as usize, device));
    drop(large.map(|bytes| placed(bytes, device)));
    Pieces { moments: vec![moment(device, capacity, rng)], _live: live }
}

/// Two segments in use, the one with the larger hole at the lower address.
pub fn two_holes(rng: &mut Generator) -> Pieces {
    let capacity = 2 * MIB * (20 + rng.below(3) as u64);
    let device = begin(IN_PIECES, capacity);
    let [first, second] = [2 + rng.below(3), 7 + rng.below(3)].map(|mib| mib * MIB as usize);
    let first_of_all = placed(first, device);
    let hole = placed(20 * MIB as usize - first, device);
    let live = first_of_all.into_iter().chain(placed(second, device)).collect();
    drop(hole);
    Pieces { moments: vec![moment(device, capacity, rng)], _live: live }
}

fn moment(device: Device, capacity: u64, rng: &mut Generator) -> Run {
    let steps = vec![0, rng.below(history(device))];
    let snapshot = memory_snapshot(device);
    Run { snapshot, steps, capacity, loss_op: "neg".to_string() }
}

/// A tensor of so many bytes on the device, if it has room.
fn placed(bytes: usize, device: Device) -> Option<Tensor> {
    let x = Tensor::from_vec(vec![0_u8; bytes], &[bytes]);
    catch(|| x.to(device)).ok()
}

impl Pieces {
    /// Whether a tensor of so many bytes gets them now; this changes what is cached.
    pub fn gets(&self, bytes: u64) -> bool {
        placed(bytes as usize, Device::Sim(IN_PIECES)).is_some()
    }
}
