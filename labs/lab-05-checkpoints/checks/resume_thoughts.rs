//! 5.7: why a resumed run is another one, from what it is before its next step.

use super::run_parts::{Part, Parts};

/// A run that was resumed.
pub struct Seen {
    /// What it should be.
    pub want: Parts,
    /// What it is before its next step.
    pub got: Parts,
    /// What the run that was saved is at last.
    pub end: Parts,
}

impl Seen {
    fn is_right(&self, part: Part) -> bool {
        self.want.agree(&self.got, part)
    }
}

/// The causes that the exercise hands out, in the order of the statement.
const PLANTED: [(Part, &str); 3] = [
    (Part::Sampler, "the examples"),
    (Part::Random, "the random numbers of dropout"),
    (Part::Moments, "the moments of AdamW"),
];

/// How many of the three causes are gone.
pub fn mended(seen: &[Seen]) -> String {
    let right = |part: Part| seen.iter().all(|it| it.is_right(part));
    let names: Vec<&str> =
        PLANTED.iter().filter(|(part, _)| right(*part)).map(|(_, name)| *name).collect();
    match names.len() {
        0 => "None of the three causes is mended yet.".to_owned(),
        3 => "The three causes are mended, and something else is wrong.".to_owned(),
        count => format!("{count} of 3 causes mended: {}.", names.join(" and ")),
    }
}

/// Key and words for the first part that differs at the first stop at which one does.
pub fn explained(seen: &[Seen]) -> Option<(&'static str, &'static str)> {
    let first = seen.iter().find_map(|it| it.want.difference(&it.got))?;
    let wrong: Vec<&Seen> = seen.iter().filter(|it| !it.is_right(first)).collect();
    let all = |holds: fn(&Seen) -> bool| wrong.iter().all(|it| holds(it));
    Some(match first {
        Part::Sampler => sampler(&wrong),
        Part::Rate if wrong.iter().all(|it| it.got.rates == wrong[0].got.rates) => {
            ("5.7-rate-of-the-new-run", RATE)
        }
        Part::Rate => ("5.7-schedule-count", AHEAD),
        Part::Weights if all(|it| it.got.weights == it.end.weights) => {
            ("5.7-weights-go-on", WEIGHTS_GO_ON)
        }
        Part::Weights => ("5.7-weights", WEIGHTS),
        Part::Mode => ("5.7-evaluation", MODE),
        Part::Random => random(&wrong),
        Part::Moments => moments(&wrong),
        Part::Steps => ("5.7-optimizer-steps", STEPS),
        Part::Buffers if all(|it| it.got.buffers == it.end.buffers) => {
            ("5.7-buffers-go-on", BUFFERS_GO_ON)
        }
        Part::Buffers => ("5.7-buffers", BUFFERS),
        Part::Schedule => schedule(&wrong),
        Part::Count => ("5.7-count", COUNT),
    })
}

fn sampler(wrong: &[&Seen]) -> (&'static str, &'static str) {
    let all = |holds: fn(&Seen) -> bool| wrong.iter().all(|it| holds(it));
    let first = &wrong[0].got.sampler;
    if all(|it| it.got.sampler.seed != it.want.sampler.seed) {
        return ("5.7-other-order", ORDER);
    }
    if all(|it| it.got.sampler.epoch == it.want.sampler.epoch && it.got.sampler.taken == 0) {
        return ("5.7-epoch-anew", ANEW);
    }
    if all(|it| it.got.sampler.epoch == it.want.sampler.epoch + 1) {
        return ("5.7-epoch-skipped", SKIPPED);
    }
    if all(|it| it.got.sampler.epoch == 0) {
        return ("5.7-first-epoch", FIRST_EPOCH);
    }
    let same = |it: &&Seen| it.got.sampler.taken == first.taken;
    if wrong.len() > 2 && wrong.iter().all(same) {
        return ("5.7-one-stop", ONE_STOP);
    }
    ("5.7-taken-computed", TAKEN)
}

fn random(wrong: &[&Seen]) -> (&'static str, &'static str) {
    let all = |holds: fn(&Seen) -> bool| wrong.iter().all(|it| holds(it));
    if all(|it| it.got.random.seed != it.want.random.seed && it.got.random.drawn == 0) {
        return ("5.7-another-seed", ANOTHER_SEED);
    }
    if all(|it| it.got.random.seed != it.want.random.seed) {
        return ("5.7-random-left", RANDOM);
    }
    if all(|it| it.got.random.drawn == 0) {
        return ("5.7-seed-again", SEED);
    }
    ("5.7-drawn-computed", DRAWN)
}

fn moments(wrong: &[&Seen]) -> (&'static str, &'static str) {
    let all = |holds: fn(&Seen) -> bool| wrong.iter().all(|it| holds(it));
    let none = |it: &Seen| it.got.moments.iter().flatten().flatten().all(|bits| *bits == 0);
    if wrong.iter().all(|it| none(it)) {
        return ("5.7-moments-lost", LOST);
    }
    if all(|it| it.got.moments == it.end.moments) {
        return ("5.7-moments-go-on", GO_ON);
    }
    if all(|it| it.got.moments[0] == it.want.moments[0]) {
        return ("5.7-one-moment", ONE_MOMENT);
    }
    (grading::diagnosis::key::WRONG_VALUE, MOMENTS)
}

fn schedule(wrong: &[&Seen]) -> (&'static str, &'static str) {
    let all = |holds: fn(&Seen) -> bool| wrong.iter().all(|it| holds(it));
    if all(|it| it.got.scheduler.last_epoch == 0) {
        return ("5.7-schedule-anew", SCHEDULE);
    }
    if all(|it| it.got.scheduler.last_epoch == it.want.scheduler.last_epoch) {
        return ("5.7-schedule-base", BASE);
    }
    ("5.7-schedule-count", AHEAD)
}

const ANEW: &str = "The epoch begins anew: the examples that it has given out come a second time \
    before it ends. A stop at the end of an epoch hides it. A sampler stands somewhere in an \
    epoch, and `taken` says where.";
const ORDER: &str = "The examples come in the order of the new run's seed. Which example comes \
    next follows from seed, epoch and place: restore all of what `SamplerState` says.";
const SKIPPED: &str = "What is left of the epoch is skipped: those examples are seen once less \
    than the others. Go on in the middle of the epoch.";
const FIRST_EPOCH: &str = "The sampler is in its first epoch, whose order is another one than \
    that of the epoch in which the run was saved.";
const ONE_STOP: &str = "The sampler stands at the same place whenever the run was saved. That is \
    right for one stop alone: take the place from what was saved.";
pub const TAKEN: &str = "The place in the epoch was computed from the number of steps. The last \
    batch of an epoch is a short one, so steps times batch is too much from the second epoch on: \
    take the place from what was saved.";
const RATE: &str = "The learning rate of the next step is that of a new run, the lowest of its \
    warm-up. The optimizer's state has it: learning rate and weight decay of every group.";
const WEIGHTS: &str =
    "The weights are not those that were saved. A loss says so in the first step.";
const WEIGHTS_GO_ON: &str = "The weights are those of the run that went on after it was saved. A \
    state dict holds the tensors themselves, and so does its clone; the next step writes into \
    them. To keep their numbers of now, `copy()` every one.";
const MODE: &str = "The model is in evaluation: dropout drops nothing, and batch norm uses its \
    running values. After loading for a training, `train(true)` holds.";
const RANDOM: &str = "The generator goes on with what the new program has drawn. Dropout drops \
    other units than in the run that nobody stopped: restore the generator's state.";
const ANOTHER_SEED: &str = "The generator was given another seed, such as the saved one and the \
    step. That is another stream, in which no number of the old one comes. The state says which \
    stream it is and how many numbers of it were drawn: `rng::set_state` takes both.";
const SEED: &str = "The generator begins with its seed again, so dropout draws the numbers of the \
    first steps once more. A seed says which stream it is, and its state also where in it: \
    `rng::set_state`.";
const DRAWN: &str = "The stream is right, and the place in it is not. How many numbers a step \
    draws depends on its batch, and the last one of an epoch is a short one: do not compute what \
    was saved.";
const LOST: &str = "AdamW begins without moments: every weight has forgotten how large its \
    gradients were, so the next steps have other directions and lengths. The optimizer's state is \
    twice as large as the model, and belongs to it.";
const GO_ON: &str = "The moments are those of the run that went on after it was saved. \
    `optimizer.state_dict()` hands out the tensors themselves, which the next step changes, and \
    `clone()` is another handle on the same ones: `copy()` every one when you save. While nobody \
    goes on, nothing is seen of it.";
const ONE_MOMENT: &str = "One of the two moments is right, and the other one still belongs to the \
    run that went on. AdamW keeps a mean and a mean square for each weight: copy both.";
const MOMENTS: &str = "The moments are not those that were saved.";
const STEPS: &str = "AdamW counts its steps anew. Its moments are divided by 1 - beta^t, and with \
    t = 1 that makes old moments 10 and 1,000 times too large: the steps of each parameter belong \
    to the state.";
const BUFFERS: &str = "The running mean and variance of batch norm are not those that were saved. \
    In training they are not used, so every training loss is right, and the held-out loss is not. \
    Buffers belong to the state of a model.";
const BUFFERS_GO_ON: &str = "The buffers are those of the run that went on after it was saved. \
    Batch norm writes into its running values in place: copy them as well as the weights.";
const SCHEDULE: &str = "The schedule begins anew. The first rate can still be right, since the \
    optimizer's state has it; the next one is of the warm-up. The number of steps that the \
    schedule has seen belongs to the state.";
const BASE: &str = "The schedule counts right and takes the rate of the moment for the one that \
    the optimizer was made with: everything that it says is lower by that factor. The base \
    belongs to its state.";
const AHEAD: &str = "The schedule has seen another number of steps than the optimizer has taken.";
const COUNT: &str = "`step` is not what was saved: the run counts its steps from somewhere else, \
    and will stop, and be saved, at other ones.";
