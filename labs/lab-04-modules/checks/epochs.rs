//! 4.6: what was seen of a training, sorted by epochs and steps; and whether it can be sorted.

use grading::Diagnosis;
use grading::diagnosis::key;

use super::super::training::{Epoch, Plan};
use super::softmax::Examples;
use super::watched::{Event, Ran, Stepped};

/// What the loop returned.
pub struct Told {
    /// One for each epoch.
    pub epochs: Vec<Epoch>,
}

/// A training as it was seen.
pub struct Seen {
    /// What was called.
    pub called: String,
    /// The batches.
    pub batches: Vec<Examples>,
    /// The held-out images.
    pub held_out: Examples,
    /// How many batches make a step.
    pub accumulate: usize,
    /// In order.
    pub epochs: Vec<SeenEpoch>,
    /// What was returned.
    pub told: Told,
}

/// An epoch as it was seen.
pub struct SeenEpoch {
    /// The runs of the model on batches.
    pub runs: Vec<Ran>,
    /// The steps.
    pub steps: Vec<Stepped>,
    /// The run on the held-out images.
    pub held_out: Ran,
    /// The weights that the epoch ended with; none after the last one.
    pub weights_after: Option<Vec<Vec<f32>>>,
}

/// Sorts what was seen into epochs: every batch once and in order, all steps, the held-out images.
pub fn in_order(
    called: String,
    events: Vec<Event>,
    batches: Vec<Examples>,
    held_out: Examples,
    plan: &Plan,
    told: Told,
) -> Result<Seen, Diagnosis> {
    let mut epochs = Vec::new();
    let (mut runs, mut steps) = (Vec::new(), Vec::new());
    let all: Vec<f32> = batches.iter().flat_map(|batch| batch.images.iter().copied()).collect();
    let each = batches.len().div_ceil(plan.accumulate);
    for event in events {
        match event {
            Event::Step(stepped) => steps.push(stepped),
            Event::Forward(ran) if ran.input == held_out.images => {
                let (runs, steps) = (std::mem::take(&mut runs), std::mem::take(&mut steps));
                let epoch = SeenEpoch { runs, steps, held_out: ran, weights_after: None };
                fits(&called, epochs.len() + 1, &epoch, &all, each)?;
                epochs.push(epoch);
            }
            Event::Forward(ran) => runs.push(ran),
        }
    }
    let wrong = |got: String, expected: String| {
        let diagnosis = Diagnosis::new(key::WRONG_VALUE).called(called.as_str());
        Err(diagnosis.got(got).expected(expected))
    };
    if epochs.len() != plan.epochs || !runs.is_empty() || !steps.is_empty() {
        let got = format!("{} epochs that end with the held-out images", epochs.len());
        return wrong(got, format!("{} of them", plan.epochs));
    }
    if told.epochs.len() != plan.epochs {
        let words = |n: usize| format!("{n} epochs returned");
        return wrong(words(told.epochs.len()), words(plan.epochs));
    }
    for at in 1..epochs.len() {
        epochs[at - 1].weights_after = epochs[at].steps.first().map(|step| step.weights.clone());
    }
    Ok(Seen { called, batches, held_out, accumulate: plan.accumulate, epochs, told })
}

/// Whether an epoch has run on every batch once, in order, and made its steps.
fn fits(
    called: &str,
    number: usize,
    epoch: &SeenEpoch,
    all: &[f32],
    each: usize,
) -> Result<(), Diagnosis> {
    let wrong = |key: &str, got: String, expected: String, thought: &str| {
        let diagnosis = Diagnosis::new(key).called(called).thought(thought);
        let in_epoch = |what: String| format!("in epoch {number} {what}");
        Err(diagnosis.got(in_epoch(got)).expected(in_epoch(expected)))
    };
    let ran: Vec<f32> = epoch.runs.iter().flat_map(|run| run.input.iter().copied()).collect();
    if ran.len() < all.len() {
        let words = |n: usize| format!("{n} pixels of batches went through the model");
        return wrong("4.6-batches-left-out", words(ran.len()), words(all.len()), LEFT_OUT);
    }
    if ran != all {
        let got = "the model was not run on every batch once and in order".to_owned();
        return wrong(key::WRONG_VALUE, got, "it is".to_owned(), "");
    }
    if epoch.steps.len() != each {
        let words = |n: usize| format!("the optimizer stepped {n} times");
        return wrong("4.6-steps", words(epoch.steps.len()), words(each), STEPS);
    }
    Ok(())
}

const LEFT_OUT: &str = "Batches were left out. Where their number is no multiple of \
    `accumulate`, the last ones make a shorter step: `chunks` gives them, `chunks_exact` does \
    not.";
const STEPS: &str = "`plan.accumulate` batches in a row make one step, and what is left at the \
    end makes one more.";
