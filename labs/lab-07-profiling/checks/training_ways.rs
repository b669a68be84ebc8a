//! The loop of 7.6 on the CPU, step by step as its comments say, and what becomes of it if one
//! thing is left out.

use engine_room::nn::Module;
use engine_room::optim::{Optimizer, Sgd};
use engine_room::{Device, Tensor};

use super::super::training::{Size, Training};
use super::thoughts::{Known, explained as first_that_agrees};
use super::training::{Ran, agrees, norm};

/// What a loop does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    order: Order,
    /// Subtracts the mean of the readings.
    centred: bool,
    importance: Importance,
    batches: Batches,
    /// Drops the old gradients.
    zeroes: bool,
    /// Moves the parameters.
    steps: bool,
    losses: Losses,
}

/// What is put channel by channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Both,
    OnlyTargets,
    Neither,
    /// Both, and the loss cuts the numbers up as if they were time by time.
    ButTheLoss,
}

/// What the errors of the channels are multiplied with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Importance {
    Given,
    One,
    /// The importance over the number of channels: a mean where a sum is wanted.
    Averaged,
    /// The sum of all, with the mean of all channels.
    Summed,
    /// One of the first channel for all of them.
    OfFirst,
    /// The last channel is left out.
    ButTheLast,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Batches {
    All,
    /// The first one in every step.
    First,
    /// Without the short one at the end.
    Full,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Losses {
    Each,
    /// That of the last step, for every step.
    Last,
    /// One for each epoch: that of its last step.
    OfEpochs,
    /// One for each epoch: the mean.
    MeansOfEpochs,
    /// The sum of all so far.
    Running,
}

impl Way {
    /// As it should be.
    pub const RIGHT: Way = Way {
        order: Order::Both,
        centred: true,
        importance: Importance::Given,
        batches: Batches::All,
        zeroes: true,
        steps: true,
        losses: Losses::Each,
    };
}

/// The losses, and the norm of the parameters at the end.
pub fn run(size: &Size, seed: u64, way: Way) -> (Vec<f32>, f32) {
    let run = Training::new(size, Device::Cpu, seed);
    let mut optimizer = Sgd::new(run.model.parameters(), run.rate);
    let mut epochs = Vec::new();
    for _ in 0..run.epochs {
        let mut losses = Vec::new();
        for first in (0..size.samples).step_by(run.batch) {
            let count = run.batch.min(size.samples - first);
            if way.batches == Batches::Full && count < run.batch {
                continue;
            }
            let (first, count) = match way.batches {
                Batches::First => (0, run.batch),
                _ => (first, count),
            };
            let loss = loss(&run, size, (first, count), way);
            if way.zeroes {
                optimizer.zero_grad(true);
            }
            loss.backward();
            if way.steps {
                optimizer.step();
            }
            losses.push(loss.item());
        }
        epochs.push(losses);
    }
    (reported(&epochs, way.losses), norm(&run))
}

fn loss(run: &Training, size: &Size, (first, count): (usize, usize), way: Way) -> Tensor {
    let Size { times, channels, .. } = *size;
    let width = times * channels;
    let readings = run.readings.narrow(0, first, count);
    let targets = run.targets.narrow(0, first, count);
    let turned = |x: &Tensor| x.permute(&[0, 2, 1]).reshape(&[count, width]);
    let mut x = match way.order {
        Order::OnlyTargets | Order::Neither => readings.reshape(&[count, width]),
        _ => turned(&readings),
    };
    if way.centred {
        x = x.sub(&run.mean);
    }
    let targets = match way.order {
        Order::Neither => targets.reshape(&[count, width]),
        _ => turned(&targets),
    };
    let wrong = run.model.forward(&x).sub(&targets);
    let wrong = match way.order {
        Order::ButTheLoss => turned(&wrong.reshape(&[count, times, channels])),
        _ => wrong,
    };
    let mut loss = Tensor::scalar(0.0);
    for channel in 0..channels {
        let wrong = wrong.narrow(1, channel * times, times);
        let counts = match way.importance {
            Importance::Given => run.importance[channel],
            Importance::One => 1.0,
            Importance::Averaged => run.importance[channel] / channels as f32,
            Importance::Summed => run.importance.iter().sum::<f32>() / channels as f32,
            Importance::OfFirst => run.importance[0],
            Importance::ButTheLast if channel + 1 == channels => 0.0,
            Importance::ButTheLast => run.importance[channel],
        };
        loss = loss.add(&wrong.mul(&wrong).mean().mul_scalar(counts));
    }
    loss
}

fn reported(epochs: &[Vec<f32>], losses: Losses) -> Vec<f32> {
    let all: Vec<f32> = epochs.concat();
    let sum = |losses: &[f32]| losses.iter().sum::<f32>();
    match losses {
        Losses::Each => all,
        Losses::Last => vec![*all.last().expect("there are steps"); all.len()],
        Losses::OfEpochs => epochs.iter().filter_map(|losses| losses.last().copied()).collect(),
        Losses::MeansOfEpochs => epochs.iter().map(|it| sum(it) / it.len() as f32).collect(),
        Losses::Running => (1..=all.len()).map(|n| sum(&all[..n])).collect(),
    }
}

const R: Way = Way::RIGHT;

/// What somebody may have left out while mending.
const THOUGHTS: &[Known<Way>] = &[
    (
        Way { order: Order::OnlyTargets, ..R },
        "7.6-not-by-channel",
        "The permute is gone along with its copy. The model and the targets want the readings \
         channel by channel, so they have to be put so. Once is enough: before the loop.",
    ),
    (
        Way { order: Order::Neither, ..R },
        "7.6-neither-by-channel",
        "Neither the readings nor the targets are put channel by channel. Then the mean, which is, \
         goes to the wrong readings, and the parts of the loss are no channels.",
    ),
    (
        Way { order: Order::ButTheLoss, ..R },
        "7.6-not-by-channel-in-loss",
        "The forecast has all times of the first channel first. A view has to say so, with the \
         channels before the times. The other way round each part of the loss mixes all channels.",
    ),
    (
        Way { centred: false, ..R },
        "7.6-not-centred",
        "The mean is no longer subtracted. What is too much is the journey of the mean in each \
         step, not the subtraction.",
    ),
    (
        Way { importance: Importance::One, ..R },
        "7.6-importance-lost",
        "Every channel counts the same here. One operation for all channels still has to multiply \
         each with its importance, which can be a tensor on the device.",
    ),
    (
        Way { importance: Importance::Summed, ..R },
        "7.6-importance-summed",
        "The mean of all channels is multiplied with the sum of all importances, so every channel \
         counts the same. Multiply the mean of each channel with its own, and then add up.",
    ),
    (
        Way { importance: Importance::OfFirst, ..R },
        "7.6-importance-of-first",
        "Every channel counts as much as the first one. `run.importance` has a number for each.",
    ),
    (
        Way { importance: Importance::Averaged, ..R },
        "7.6-mean-of-channels",
        "The loss is the sum over the channels. Here it is their mean, so that all gradients are \
         too small by the number of channels.",
    ),
    (
        Way { importance: Importance::ButTheLast, ..R },
        "7.6-channel-left-out",
        "The last channel is missing from the loss.",
    ),
    (
        Way { batches: Batches::First, ..R },
        "7.6-first-batch-again",
        "Every step trains on the first samples. What was taken out of the loop must not take the \
         choice of the batch along.",
    ),
    (
        Way { batches: Batches::Full, ..R },
        "7.6-short-batch-dropped",
        "The last step of an epoch has fewer samples, and it is left out here. The work is less, \
         and it is not the same work.",
    ),
    (
        Way { zeroes: false, ..R },
        "7.6-gradients-pile-up",
        "The gradients of all steps add up, since nobody drops the old ones.",
    ),
    (
        Way { steps: false, ..R },
        "7.6-no-step",
        "The parameters stay as they were. A loop that does not train is fast.",
    ),
    (
        Way { losses: Losses::Last, ..R },
        "7.6-last-loss-only",
        "Every entry is the loss of the last step. Keep a tensor for each step, and read them at \
         the end.",
    ),
    (
        Way { losses: Losses::OfEpochs, ..R },
        "7.6-loss-of-epochs",
        "One loss an epoch came back, and one a step is wanted. They need not be read in the loop \
         to \
         be kept.",
    ),
    (
        Way { losses: Losses::MeansOfEpochs, ..R },
        "7.6-mean-of-epochs",
        "The mean loss of each epoch came back, and one a step is wanted. They need not be read in \
         the loop to be kept.",
    ),
    (
        Way { losses: Losses::Running, ..R },
        "7.6-running-loss",
        "Each entry is the sum of all losses so far, and the loss of its own step is wanted.",
    ),
];

/// Key and words for what was left out.
pub fn explained(ran: &[Ran]) -> (&'static str, &'static str) {
    if ran.iter().all(|it| it.losses.is_empty()) {
        return (
            "7.6-no-losses",
            "No losses came back. The host must not wait for them in the loop, and somebody wants \
             to see them: keep the tensors, and read them at the end.",
        );
    }
    first_that_agrees(THOUGHTS, |way| ran.iter().all(|it| agrees(it, &run(&it.size, it.seed, way))))
}
