//! Loops of 7.6 that are still slow, or fast and wrong.

use engine_room::nn::Module;
use engine_room::optim::{Optimizer, Sgd};
use engine_room::{Device, Tensor, memory};

use super::super::training::Training;
use super::{Wrong, wrong};

/// What a loop does where, and how.
#[derive(Clone, Copy)]
struct Loop {
    packs: Packs,
    /// How the mean gets to the device.
    mean: Mean,
    loss: Loss,
    reads: Reads,
    cache: Cache,
    trains: Trains,
    batches: Batches,
}

#[derive(Clone, Copy, PartialEq)]
enum Packs {
    Once,
    EachStep,
    /// In each step, by `copy`.
    CopiedEachStep,
    /// The readings are not put channel by channel.
    Never,
    /// And the targets are not either.
    NeverEither,
}

#[derive(Clone, Copy, PartialEq)]
enum Mean {
    Once,
    EachStep,
    /// From pinned memory.
    PinnedEachStep,
    Forgotten,
}

#[derive(Clone, Copy, PartialEq)]
enum Loss {
    OfAll,
    /// The squares are viewed, not the differences.
    SquaresViewed,
    ByChannel,
    /// By channel, in operations on all samples that were cut up once.
    OneChannelLess,
    Unweighted,
    MeanOfChannels,
    WeightOfFirst,
    /// The mean of all, with the sum of the weights.
    WeightsSummed,
    /// The times before the channels.
    TimesFirst,
    /// In the host's memory.
    OnHost,
}

#[derive(Clone, Copy, PartialEq)]
enum Reads {
    AtTheEnd,
    EachStep,
    /// The host waits, and reads at the end all the same.
    WaitsEachStep,
    LastOnly,
    OfEpochs,
    MeansOfEpochs,
    Running,
    Never,
}

#[derive(Clone, Copy, PartialEq)]
enum Cache {
    Kept,
    EmptiedEachStep,
}

#[derive(Clone, Copy, PartialEq)]
enum Trains {
    Fully,
    WithoutStep,
    WithoutZeroing,
}

#[derive(Clone, Copy, PartialEq)]
enum Batches {
    All,
    First,
    Full,
}

/// As it should be.
const GOOD: Loop = Loop {
    packs: Packs::Once,
    mean: Mean::Once,
    loss: Loss::OfAll,
    reads: Reads::AtTheEnd,
    cache: Cache::Kept,
    trains: Trains::Fully,
    batches: Batches::All,
};

fn train(run: &Training, way: Loop) -> Vec<f32> {
    let samples = run.readings.shape()[0];
    let mut optimizer = Sgd::new(run.model.parameters(), run.rate);
    let once = (packed(run, &run.readings, way.packs), run.mean.to(run.device));
    let of_targets = if way.packs == Packs::NeverEither { Packs::NeverEither } else { Packs::Once };
    let targets = packed(run, &run.targets, of_targets);
    let weights = weights(run);
    let mut epochs = Vec::new();
    for _ in 0..run.epochs {
        let mut losses = Vec::new();
        for first in (0..samples).step_by(run.batch) {
            let count = run.batch.min(samples - first);
            if way.trains != Trains::WithoutZeroing {
                optimizer.zero_grad(true);
            }
            if way.cache == Cache::EmptiedEachStep {
                memory::empty_cache(run.device);
            }
            if way.batches == Batches::Full && count < run.batch {
                continue;
            }
            let (first, count) =
                if way.batches == Batches::First { (0, run.batch) } else { (first, count) };
            let x = match way.packs {
                Packs::EachStep => packed(run, &run.readings.narrow(0, first, count), Packs::Once),
                Packs::CopiedEachStep => {
                    let turned = run.readings.narrow(0, first, count).permute(&[0, 2, 1]).copy();
                    turned.view(&[count, run.mean.numel()])
                }
                _ => once.0.narrow(0, first, count),
            };
            let x = match way.mean {
                Mean::Once => x.sub(&once.1),
                Mean::EachStep => x.sub(&run.mean.to(run.device)),
                Mean::PinnedEachStep => x.sub(&run.mean.pin_memory().to_non_blocking(run.device)),
                Mean::Forgotten => x,
            };
            let wrong = run.model.forward(&x).sub(&targets.narrow(0, first, count));
            let loss = loss(run, &wrong, &weights, way.loss);
            loss.backward();
            if way.trains != Trains::WithoutStep {
                optimizer.step();
            }
            losses.push(kept(run, &loss, way.reads));
        }
        epochs.push(losses);
    }
    read(&epochs, way.reads)
}

/// The readings channel by channel.
fn packed(run: &Training, readings: &Tensor, packs: Packs) -> Tensor {
    let (samples, width) = (readings.shape()[0], run.mean.numel());
    match packs {
        Packs::Never | Packs::NeverEither => readings.reshape(&[samples, width]),
        Packs::EachStep | Packs::CopiedEachStep => readings.clone(),
        _ => readings.permute(&[0, 2, 1]).reshape(&[samples, width]),
    }
}

fn weights(run: &Training) -> Tensor {
    Tensor::from_vec(run.importance.clone(), &[run.importance.len()]).to(run.device)
}

fn loss(run: &Training, wrong: &Tensor, weights: &Tensor, way: Loss) -> Tensor {
    let channels = run.importance.len();
    let (count, times) = (wrong.shape()[0], wrong.shape()[1] / channels);
    let of_channels = || {
        let wrong = wrong.view(&[count, channels, times]);
        wrong.mul(&wrong).mean_dims(&[0, 2], false)
    };
    match way {
        Loss::OfAll => of_channels().mul(weights).sum(),
        Loss::SquaresViewed => {
            let squares = wrong.mul(wrong).view(&[count, channels, times]);
            squares.mean_dims(&[0, 2], false).mul(weights).sum()
        }
        Loss::TimesFirst => {
            let wrong = wrong.view(&[count, times, channels]);
            wrong.mul(&wrong).mean_dims(&[0, 1], false).mul(weights).sum()
        }
        Loss::WeightsSummed => of_channels().mean().mul(&weights.sum()),
        Loss::Unweighted => of_channels().sum(),
        Loss::MeanOfChannels => of_channels().mul(weights).mean(),
        Loss::WeightOfFirst => of_channels().mul_scalar(run.importance[0]).sum(),
        Loss::OnHost => {
            let wrong = wrong.to(Device::Cpu).view(&[count, channels, times]);
            let weights = weights.to(Device::Cpu);
            wrong.mul(&wrong).mean_dims(&[0, 2], false).mul(&weights).sum()
        }
        Loss::ByChannel | Loss::OneChannelLess => {
            let mut parts = Vec::new();
            for channel in 0..channels - usize::from(way == Loss::OneChannelLess) {
                let wrong = wrong.narrow(1, channel * times, times);
                parts.push(wrong.mul(&wrong).mean().mul_scalar(run.importance[channel]));
            }
            Tensor::stack(&parts.iter().collect::<Vec<_>>(), 0).sum()
        }
    }
}

/// What is kept of a loss until the end of the loop.
fn kept(run: &Training, loss: &Tensor, reads: Reads) -> Tensor {
    match reads {
        Reads::EachStep => loss.detach().to(Device::Cpu),
        Reads::WaitsEachStep => {
            run.device.synchronize().expect("the device works");
            loss.detach()
        }
        _ => loss.detach(),
    }
}

fn read(epochs: &[Vec<Tensor>], reads: Reads) -> Vec<f32> {
    let all: Vec<f32> = epochs.iter().flatten().map(Tensor::item).collect();
    let steps = epochs[0].len();
    match reads {
        Reads::Never => Vec::new(),
        Reads::LastOnly => vec![all[all.len() - 1]; all.len()],
        Reads::OfEpochs => all.chunks(steps).map(|losses| losses[steps - 1]).collect(),
        Reads::MeansOfEpochs => {
            all.chunks(steps).map(|losses| losses.iter().sum::<f32>() / steps as f32).collect()
        }
        Reads::Running => (1..=all.len()).map(|n| all[..n].iter().sum()).collect(),
        _ => all,
    }
}

fn loops(diagnosis: &'static str, name: &'static str, train: fn(&Training) -> Vec<f32>) -> Wrong {
    wrong("7.6", diagnosis, name, |table| table.train = train)
}

pub fn mistakes() -> Vec<Wrong> {
    let mut all = slow();
    all.extend(wrong_losses());
    all.extend(wrong_steps());
    all
}

/// One fault, or two, are left.
fn slow() -> Vec<Wrong> {
    vec![
        loops("7.6-hidden-copy", "packs each batch", |run| {
            train(run, Loop { packs: Packs::EachStep, ..GOOD })
        }),
        loops("7.6-copied", "copies each batch", |run| {
            train(run, Loop { packs: Packs::CopiedEachStep, ..GOOD })
        }),
        loops("7.6-gradient-packed", "views the squares", |run| {
            train(run, Loop { loss: Loss::SquaresViewed, ..GOOD })
        }),
        loops("7.6-transfer", "sends the mean in each step", |run| {
            train(run, Loop { mean: Mean::EachStep, ..GOOD })
        }),
        loops("7.6-pinned", "sends the mean from pinned memory in each step", |run| {
            train(run, Loop { mean: Mean::PinnedEachStep, ..GOOD })
        }),
        loops("7.6-launches", "channel by channel", |run| {
            train(run, Loop { loss: Loss::ByChannel, ..GOOD })
        }),
        loops("7.6-waits", "reads each loss", |run| {
            train(run, Loop { reads: Reads::EachStep, ..GOOD })
        }),
        loops("7.6-synchronize", "waits in each step, and reads at the end", |run| {
            train(run, Loop { reads: Reads::WaitsEachStep, ..GOOD })
        }),
        loops("7.6-driver", "empties the cache in each step", |run| {
            train(run, Loop { cache: Cache::EmptiedEachStep, ..GOOD })
        }),
        loops("7.6-on-host", "computes the loss on the host", |run| {
            train(run, Loop { loss: Loss::OnHost, ..GOOD })
        }),
    ]
}

/// Something else was taken out of the loss.
fn wrong_losses() -> Vec<Wrong> {
    vec![
        loops("7.6-not-by-channel", "the permute is gone", |run| {
            train(run, Loop { packs: Packs::Never, ..GOOD })
        }),
        loops("7.6-neither-by-channel", "both permutes are gone", |run| {
            train(run, Loop { packs: Packs::NeverEither, ..GOOD })
        }),
        loops("7.6-not-by-channel-in-loss", "a view with the times first", |run| {
            train(run, Loop { loss: Loss::TimesFirst, ..GOOD })
        }),
        loops("7.6-importance-summed", "the sum of the importances", |run| {
            train(run, Loop { loss: Loss::WeightsSummed, ..GOOD })
        }),
        loops("7.6-not-centred", "the mean is gone", |run| {
            train(run, Loop { mean: Mean::Forgotten, ..GOOD })
        }),
        loops("7.6-importance-lost", "the importance is gone", |run| {
            train(run, Loop { loss: Loss::Unweighted, ..GOOD })
        }),
        loops("7.6-importance-of-first", "one importance for all", |run| {
            train(run, Loop { loss: Loss::WeightOfFirst, ..GOOD })
        }),
        loops("7.6-mean-of-channels", "a mean of channels", |run| {
            train(run, Loop { loss: Loss::MeanOfChannels, ..GOOD })
        }),
        loops("7.6-channel-left-out", "one channel less", |run| {
            train(run, Loop { loss: Loss::OneChannelLess, ..GOOD })
        }),
    ]
}

/// Something else was taken out of the steps, or of what is kept of them.
fn wrong_steps() -> Vec<Wrong> {
    vec![
        loops("7.6-first-batch-again", "the first batch in each step", |run| {
            train(run, Loop { batches: Batches::First, ..GOOD })
        }),
        loops("7.6-short-batch-dropped", "full batches only", |run| {
            train(run, Loop { batches: Batches::Full, ..GOOD })
        }),
        loops("7.6-gradients-pile-up", "no zero_grad", |run| {
            train(run, Loop { trains: Trains::WithoutZeroing, ..GOOD })
        }),
        loops("7.6-no-step", "no step", |run| {
            train(run, Loop { trains: Trains::WithoutStep, ..GOOD })
        }),
        loops("7.6-last-loss-only", "the last loss only", |run| {
            train(run, Loop { reads: Reads::LastOnly, ..GOOD })
        }),
        loops("7.6-loss-of-epochs", "the last loss of each epoch", |run| {
            train(run, Loop { reads: Reads::OfEpochs, ..GOOD })
        }),
        loops("7.6-mean-of-epochs", "the mean loss of each epoch", |run| {
            train(run, Loop { reads: Reads::MeansOfEpochs, ..GOOD })
        }),
        loops("7.6-running-loss", "a running sum", |run| {
            train(run, Loop { reads: Reads::Running, ..GOOD })
        }),
        loops("7.6-no-losses", "no losses", |run| train(run, Loop { reads: Reads::Never, ..GOOD })),
    ]
}
