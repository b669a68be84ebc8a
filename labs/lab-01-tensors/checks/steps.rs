//! 1.4: steps of training carried out in the format, with numbers that are looked up in a list.

use engine_room::rng::Generator;
use grading::{Check, Diagnosis};

use super::super::formats::Format;
use super::super::training::{Outcome, Step};
use super::Implementation;
use super::models::{Answered, Model, judge};
use super::numbers::Numbers;

/// The formats that gradients and weights are stored in.
const STORED: [Format; 5] = [Format::F16, Format::Bf16, Format::F32, Format::E4m3, Format::E5m2];
/// Cases for each format and outcome.
const CASES: usize = 16;

type Question = (Step, Format);

/// 1.4
pub fn steps(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    let mut answers = Vec::new();
    for format in STORED {
        let numbers = Numbers::of(format);
        for (step, want) in cases(&mut rng, format, &numbers) {
            let called = format!("outcome({step}, {})", format.name());
            let got = check.call(called.as_str(), || (imp.outcome)(&step, format))?;
            answers.push(Answered { called, question: (step, format), got, want });
        }
    }
    judge(check, &answers, MODELS)
}

/// Steps with each outcome, none of them near a border.
fn cases(rng: &mut Generator, format: Format, numbers: &Numbers) -> Vec<(Step, Outcome)> {
    let mut cases = Vec::new();
    let outcomes = [Outcome::Underflow, Outcome::UpdateLost, Outcome::Overflow, Outcome::Fine];
    for outcome in outcomes {
        let found = std::iter::repeat_with(|| random_step(rng, format, numbers));
        let clear = found.take(100_000).filter(|step| carried_out(step, numbers) == Some(outcome));
        cases.extend(clear.take(CASES).map(|step| (step, outcome)));
    }
    assert_eq!(cases.len(), 4 * CASES, "{} has too few clear cases", format.name());
    cases
}

/// A gradient somewhere between vanishing and overflowing, and a weight of the format, often one
/// for which the update is about as large as the spacing.
fn random_step(rng: &mut Generator, format: Format, numbers: &Numbers) -> Step {
    let loss_scale = [1.0, 1.0, 1024.0, 65_536.0][rng.below(4)];
    let learning_rate = rounded(between(rng, 1e-4, 2.0));
    let smallest = format.smallest() / loss_scale;
    let largest = format.max() / loss_scale;
    let gradient = rounded(match rng.below(3) {
        0 => between(rng, smallest / 4.0, 4.0 * smallest),
        1 => between(rng, largest / 4.0, 4.0 * largest),
        _ => between(rng, smallest / 10.0, 10.0 * largest),
    });
    let (low, high) = (format.smallest_normal() * 8.0, format.max() / 4.0);
    let weight = match rng.below(2) {
        0 => between(rng, low, high),
        _ => {
            let spacings = f64::from(format.mantissa_bits()).exp2();
            (learning_rate * gradient * spacings * between(rng, 0.2, 8.0)).clamp(low, high)
        }
    };
    let mut signed = |x: f64| if rng.below(2) == 0 { x } else { -x };
    Step {
        weight: signed(numbers.round(rounded(weight))),
        gradient: signed(gradient),
        loss_scale,
        learning_rate,
    }
}

/// Random, with all magnitudes equally likely.
fn between(rng: &mut Generator, low: f64, high: f64) -> f64 {
    (low.log2() + f64::from(rng.uniform()) * (high.log2() - low.log2())).exp2()
}

/// Three digits, so that a case can be followed by hand.
fn rounded(x: f64) -> f64 {
    let unit = 10f64.powf(x.log10().floor() - 2.0);
    (x / unit).round() * unit
}

/// The outcome of the step, if it is the same for every gradient within 10%, if the new weight is a
/// number, and if the old one is no power of two, where the spacing differs below and above.
fn carried_out(step: &Step, numbers: &Numbers) -> Option<Outcome> {
    if step.weight.to_bits() << 12 == 0 {
        return None;
    }
    let nearby = [0.89, 1.0, 1.11].map(|factor| Step { gradient: step.gradient * factor, ..*step });
    let outcomes = nearby.map(|step| {
        let stored = numbers.round(step.gradient * step.loss_scale);
        let with = |gradient: f64| {
            let weight = numbers.round(step.weight - step.learning_rate * gradient);
            match weight {
                _ if !weight.is_finite() => None,
                _ if weight == step.weight => Some(Outcome::UpdateLost),
                _ => Some(Outcome::Fine),
            }
        };
        match stored {
            _ if !stored.is_finite() => [Some(Outcome::Overflow); 2],
            0.0 => [Some(Outcome::Underflow); 2],
            _ => [with(stored / step.loss_scale), with(step.gradient)],
        }
    });
    let first = outcomes[0][0];
    first.filter(|_| outcomes.iter().flatten().all(|&outcome| outcome == first))
}

/// What a model that differs in one thought from the right one answers.
fn outcome(stored: f64, update: f64, format: Format, spacing: f64) -> Outcome {
    if stored > format.max() {
        Outcome::Overflow
    } else if stored < format.smallest() / 2.0 {
        Outcome::Underflow
    } else if update < spacing / 2.0 {
        Outcome::UpdateLost
    } else {
        Outcome::Fine
    }
}

fn stored(step: &Step) -> f64 {
    (step.gradient * step.loss_scale).abs()
}

fn update(step: &Step) -> f64 {
    (step.gradient * step.learning_rate).abs()
}

fn spacing(&(step, format): &Question) -> f64 {
    format.spacing(step.weight)
}

const MODELS: &[Model<Question, Outcome>] = &[
    Model {
        key: "1.4-scale-ignored",
        thought: "The loss scale has been left out. What is stored is the gradient of the scaled \
            loss, gradient times loss scale: that is how a tiny one gets out of the range where \
            it would be zero, and a large one into infinity.",
        answer: |q| outcome(q.0.gradient.abs(), update(&q.0), q.1, spacing(q)),
    },
    Model {
        key: "1.4-scale-in-update",
        thought: "The update has been computed from the scaled gradient. The optimizer divides \
            by the loss scale before it uses the gradient, so the scale never helps an update to \
            be seen.",
        answer: |q| outcome(stored(&q.0), update(&q.0) * q.0.loss_scale, q.1, spacing(q)),
    },
    Model {
        key: "1.4-update-beside-smallest",
        thought: "The update has been compared with the smallest number of the format. It is not \
            stored by itself: it is subtracted from the weight, and what counts is the spacing \
            of the numbers at the weight.",
        answer: |q| outcome(stored(&q.0), update(&q.0), q.1, q.1.smallest()),
    },
    Model {
        key: "1.4-spacing-of-one",
        thought: "The update has been compared with the spacing at 1. The spacing grows and \
            shrinks with the weight: the same update is lost in a large one and moves a small \
            one.",
        answer: |q| outcome(stored(&q.0), update(&q.0), q.1, q.1.spacing(1.0)),
    },
    Model {
        key: "1.4-spacing-of-gradient",
        thought: "The spacing has been taken at the gradient. What is rounded is the new weight, \
            so the spacing at the weight decides.",
        answer: |q| outcome(stored(&q.0), update(&q.0), q.1, q.1.spacing(q.0.gradient)),
    },
    Model {
        key: "1.4-whole-step",
        thought: "The update has been asked for a whole step. The new weight is rounded to the \
            nearest number: from half a step on it arrives at the next one.",
        answer: |q| outcome(stored(&q.0), update(&q.0), q.1, 2.0 * spacing(q)),
    },
    Model {
        key: "1.4-whole-smallest",
        thought: "Everything below the smallest number has been called zero. It is rounded to \
            the nearest number, and from half the smallest on that is the smallest itself.",
        answer: |q| match outcome(stored(&q.0), update(&q.0), q.1, spacing(q)) {
            Outcome::Overflow => Outcome::Overflow,
            _ if stored(&q.0) < q.1.smallest() => Outcome::Underflow,
            other => other,
        },
    },
    Model {
        key: "1.4-subnormals-forgotten",
        thought: "Everything below the smallest normal number has been called zero. Below it lie \
            the subnormal numbers, evenly spaced down to `smallest()`: they have fewer bits, and \
            they are not zero.",
        answer: |q| match outcome(stored(&q.0), update(&q.0), q.1, spacing(q)) {
            Outcome::Overflow => Outcome::Overflow,
            _ if stored(&q.0) < q.1.smallest_normal() => Outcome::Underflow,
            other => other,
        },
    },
    Model {
        key: "1.4-sign-forgotten",
        thought: "A negative gradient has been compared as it is, and a negative number is less \
            than every bound. Sizes decide: take `abs()` before you compare.",
        answer: |q| {
            let (gradient, rate, scale) = (q.0.gradient, q.0.learning_rate, q.0.loss_scale);
            outcome(gradient * scale, gradient * rate, q.1, spacing(q))
        },
    },
    Model {
        key: "1.4-update-first",
        thought: "The update has been looked at before the gradient. If the gradient arrives as \
            zero or as infinity, that is what happened to the step, whatever the update would \
            have been.",
        answer: |q| match update(&q.0) < spacing(q) / 2.0 {
            true => Outcome::UpdateLost,
            false => outcome(stored(&q.0), update(&q.0), q.1, spacing(q)),
        },
    },
    Model {
        key: "1.4-rate-ignored",
        thought: "The gradient has been compared with the spacing at the weight. What is \
            subtracted is learning rate times gradient.",
        answer: |q| outcome(stored(&q.0), q.0.gradient.abs(), q.1, spacing(q)),
    },
    Model {
        key: "1.4-no-overflow",
        thought: "Overflow is never seen. What rounds beyond `max()` is stored as infinity, and \
            one infinite gradient ruins the weight for good.",
        answer: |q| match stored(&q.0) > q.1.max() {
            true => outcome(1.0, update(&q.0), q.1, spacing(q)),
            false => outcome(stored(&q.0), update(&q.0), q.1, spacing(q)),
        },
    },
];
