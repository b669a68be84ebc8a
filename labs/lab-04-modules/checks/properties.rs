//! 4.6: the three properties of a right training loop, and what it returns.

use grading::diagnosis::key;

use super::epochs::{Seen, SeenEpoch};
use super::softmax::{Sloped, sloped};
use super::watched::Stepped;

/// Live bytes that an epoch may leave behind: room for a few numbers, not for a graph.
const SLACK: u64 = 1_000;

/// No known thought.
const GENERIC: (&str, &str) = (key::WRONG_VALUE, "");

/// Why a property does not hold.
pub struct Fault {
    /// Of the diagnosis.
    pub key: &'static str,
    /// What was called.
    pub called: String,
    /// What was seen.
    pub got: String,
    /// What is right.
    pub expected: String,
    /// The thought behind it.
    pub thought: &'static str,
}

fn fault(
    run: &Seen,
    (key, thought): (&'static str, &'static str),
    got: String,
    expected: String,
) -> Option<Fault> {
    Some(Fault { key, called: run.called.clone(), got, expected, thought })
}

/// The gradient of every step is the mean of those of its batches.
pub fn gradients(run: &Seen) -> Option<Fault> {
    let mut before: Option<Vec<f64>> = None;
    for (number, epoch) in (1..).zip(&run.epochs) {
        for (at, step) in epoch.steps.iter().enumerate() {
            let single = singles(run, at, step);
            let parts = single.len() as f64;
            let mean = sum(&single, 1.0 / parts);
            let got = flat(step);
            if close(&got, &mean) {
                before = Some(got);
                continue;
            }
            let reason = reason(&single, run.accumulate, &got, before.as_deref());
            let norm = |gradient: &[f64]| gradient.iter().map(|x| x * x).sum::<f64>().sqrt();
            let got = format!(
                "step {} of epoch {number}, of {parts} batches, was given a gradient of norm {:.5}",
                at + 1,
                norm(&got)
            );
            return fault(
                run,
                reason,
                got,
                format!("the mean of theirs, of norm {:.5}", norm(&mean)),
            );
        }
    }
    None
}

/// The gradients of the batches of a step, one by one, at the weights before it.
fn singles(run: &Seen, step: usize, stepped: &Stepped) -> Vec<Vec<f64>> {
    let group = run.batches.chunks(run.accumulate).nth(step).unwrap_or_default();
    let one = |batch| sloped(&stepped.weights, batch).gradient.concat();
    group.iter().map(one).collect()
}

fn flat(step: &Stepped) -> Vec<f64> {
    step.gradients.iter().flatten().flatten().copied().collect()
}

fn sum(parts: &[Vec<f64>], factor: f64) -> Vec<f64> {
    let mut total = vec![0.0; parts.first().map_or(0, Vec::len)];
    for part in parts {
        total.iter_mut().zip(part).for_each(|(total, x)| *total += x * factor);
    }
    total
}

fn close(a: &[f64], b: &[f64]) -> bool {
    let size = b.iter().fold(0.0, |most, x| f64::max(most, x.abs()));
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-4 * size + 1e-7)
}

/// Which thought gives the gradient that a step was given.
fn reason(
    single: &[Vec<f64>],
    accumulate: usize,
    got: &[f64],
    before: Option<&[f64]>,
) -> (&'static str, &'static str) {
    let parts = single.len() as f64;
    let mean = sum(single, 1.0 / parts);
    let last = &single[single.len() - 1..];
    let all = sum(single, 1.0);
    let with_old = |new: &[f64]| {
        let old = before.unwrap_or(&[]);
        close(got, &new.iter().zip(old).map(|(a, b)| a + b).collect::<Vec<f64>>())
    };
    match () {
        () if single.len() > 1 && close(got, &all) => ("4.6-not-divided", SUMMED),
        () if close(got, &sum(single, 1.0 / accumulate as f64)) => ("4.6-last-group", SHORTER),
        () if close(got, &sum(last, 1.0)) || close(got, &sum(last, 1.0 / parts)) => {
            ("4.6-gradients-dropped", DROPPED)
        }
        () if with_old(&mean) || with_old(&all) => ("4.6-not-zeroed", KEPT),
        () => GENERIC,
    }
}

/// In training for the batches of every epoch, in evaluation for the held-out images.
pub fn modes(run: &Seen) -> Option<Fault> {
    for (number, epoch) in (1..).zip(&run.epochs) {
        if let Some(at) = epoch.runs.iter().position(|run| !run.training) {
            let got = format!("in epoch {number} the model is in evaluation for batch {}", at + 1);
            let reason = if number == 1 { ARRIVES } else { STAYS };
            return fault(run, reason, got, "in training".to_owned());
        }
        if epoch.held_out.training {
            let got = format!("in epoch {number} the model is in training for the held-out images");
            return fault(run, TRAINS, got, "in evaluation".to_owned());
        }
    }
    None
}

/// No epoch leaves live bytes behind.
pub fn live_bytes(run: &Seen) -> Option<Fault> {
    let live = |epoch: &SeenEpoch| epoch.held_out.live;
    for (number, pair) in (2..).zip(run.epochs.windows(2)) {
        let grown = live(&pair[1]).saturating_sub(live(&pair[0]));
        if grown > SLACK {
            let got = format!(
                "before the held-out images of epoch {number} there are {grown} live bytes more \
                 than before those of epoch {}",
                number - 1
            );
            return fault(run, GRAPHS, got, "as many as before".to_owned());
        }
    }
    None
}

/// The numbers that the loop returned.
pub fn told(run: &Seen) -> Option<Fault> {
    for (number, (epoch, told)) in (1..).zip(run.epochs.iter().zip(&run.told.epochs)) {
        let losses = losses(run, epoch);
        let mean = losses.iter().sum::<f64>() / losses.len() as f64;
        let scaled = scaled(&losses, run.accumulate);
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-4 * b.abs();
        if !near(told.train_loss, mean) {
            let reason = match near(told.train_loss, scaled) {
                true => ("4.6-loss-of-the-share", SHARE),
                false => GENERIC,
            };
            let words = |loss: f64| format!("train_loss {loss:.5} in epoch {number}");
            return fault(run, reason, words(told.train_loss), words(mean));
        }
        if let Some(weights) = &epoch.weights_after {
            let loss = sloped(weights, &run.held_out).loss;
            if !near(told.held_out_loss, loss) {
                let words = |loss: f64| format!("held_out_loss {loss:.5} in epoch {number}");
                return fault(run, GENERIC, words(told.held_out_loss), words(loss));
            }
        }
        let (live, told_live) = (epoch.held_out.live, told.live_bytes);
        if told_live < live / 2 || told_live > 2 * live + 64 * SLACK {
            let words = |bytes: u64| format!("live_bytes {bytes} in epoch {number}");
            return fault(run, GENERIC, words(told_live), format!("about {}", words(live)));
        }
    }
    None
}

/// The loss of every batch, at the weights before its step.
fn losses(run: &Seen, epoch: &SeenEpoch) -> Vec<f64> {
    let groups = run.batches.chunks(run.accumulate).zip(&epoch.steps);
    let loss = |step: &Stepped, batch| {
        let Sloped { loss, .. } = sloped(&step.weights, batch);
        loss
    };
    groups.flat_map(|(group, step)| group.iter().map(move |batch| loss(step, batch))).collect()
}

/// The mean of losses that were divided by the length of their group first.
fn scaled(losses: &[f64], accumulate: usize) -> f64 {
    let share = |group: &[f64]| group.iter().sum::<f64>() / group.len() as f64;
    losses.chunks(accumulate).map(share).sum::<f64>() / losses.len() as f64
}

const SUMMED: &str = "That is the sum of the batches' gradients. Each `backward` adds to what is \
    there, so the step is as many times too long as there are batches in it. Divide each loss by \
    their number before its backward pass.";
const SHORTER: &str = "The losses were divided by `accumulate`, and this step has fewer batches: \
    the last step of an epoch comes out too short. Divide by the length of the group.";
const DROPPED: &str = "Only the last batch of the step has left a gradient. `zero_grad` throws \
    away what the batches before it have added: call it once a step, before the first batch.";
const KEPT: &str = "The gradient of the step before is still in it. `backward` adds, and nobody \
    has cleared: call `zero_grad` once a step.";
const STAYS: (&str, &str) = (
    "4.6-stays-in-evaluation",
    "`eval()` holds until someone says otherwise. After the first look at the held-out images the \
     model stays in evaluation: dropout is off, the training loss falls faster, and the model fits \
     by heart what it should learn. `model.train(true)` belongs at the beginning of every epoch.",
);
const ARRIVES: (&str, &str) = (
    "4.6-arrives-in-evaluation",
    "The model was in evaluation when it came, and the first epoch leaves it there. Do not rely on \
     its mode: `model.train(true)` belongs at the beginning of every epoch, the first too.",
);
const TRAINS: (&str, &str) = (
    "4.6-evaluates-in-training",
    "The held-out images are looked at in training. Dropout then blanks a part of what the model \
     knows, another part each time: the curve is too high and shakes. `model.eval()` before, \
     `model.train(true)` after.",
);
const GRAPHS: (&str, &str) = (
    "4.6-graphs-kept",
    "Something holds on to a recorded loss, and with it to the graph and all that the graph saved \
     for a backward pass that never comes. Compute the held-out loss inside `no_grad`, or keep the \
     number, `item()`, instead of the tensor.",
);
const SHARE: &str = "The mean was taken of losses that were divided for the backward pass. What \
    is reported is the loss of a batch, whole.";
