//! Wrong predictions of a step: 1.4.

use super::super::formats::Format;
use super::super::solution;
use super::super::training::{Outcome, Step};
use super::{Wrong, wrong};

pub fn mistakes() -> Vec<Wrong> {
    [of_the_update(), of_the_gradient()].into_iter().flatten().collect()
}

fn of_the_update() -> Vec<Wrong> {
    vec![
        step("1.4-scale-in-update", "the scale stays in", |step, format| {
            let update = step.learning_rate * step.gradient * step.loss_scale;
            decided(step, format, update.abs() < format.spacing(step.weight) / 2.0)
        }),
        step("1.4-update-beside-smallest", "an update that is a number", |step, format| {
            decided(step, format, update(step) < format.smallest() / 2.0)
        }),
        step("1.4-spacing-of-one", "epsilon for every weight", |step, format| {
            decided(step, format, update(step) < format.spacing(1.0) / 2.0)
        }),
        step("1.4-spacing-of-gradient", "the spacing at the gradient", |step, format| {
            decided(step, format, update(step) < format.spacing(step.gradient) / 2.0)
        }),
        step("1.4-whole-step", "a whole step", |step, format| {
            decided(step, format, update(step) < format.spacing(step.weight))
        }),
        step("1.4-update-first", "the update first", |step, format| {
            match update(step) < format.spacing(step.weight) / 2.0 {
                true => Outcome::UpdateLost,
                false => solution::outcome(step, format),
            }
        }),
        step("1.4-rate-ignored", "the gradient for the update", |step, format| {
            decided(step, format, step.gradient.abs() < format.spacing(step.weight) / 2.0)
        }),
    ]
}

fn of_the_gradient() -> Vec<Wrong> {
    vec![
        step("1.4-scale-ignored", "without the loss scale", |step, format| {
            solution::outcome(&Step { loss_scale: 1.0, ..*step }, format)
        }),
        step("1.4-whole-smallest", "below the smallest is zero", |step, format| {
            below_is_zero(step, format, format.smallest())
        }),
        step("1.4-subnormals-forgotten", "below the normal ones is zero", |step, format| {
            below_is_zero(step, format, format.smallest_normal())
        }),
        step("1.4-sign-forgotten", "without abs", |step, format| {
            let stored = step.gradient * step.loss_scale;
            if stored > format.max() {
                Outcome::Overflow
            } else if stored < format.smallest() / 2.0 {
                Outcome::Underflow
            } else if step.learning_rate * step.gradient < format.spacing(step.weight) / 2.0 {
                Outcome::UpdateLost
            } else {
                Outcome::Fine
            }
        }),
        step("1.4-no-overflow", "nothing overflows", |step, format| {
            match solution::outcome(step, format) {
                Outcome::Overflow => decided_small(step, format),
                other => other,
            }
        }),
    ]
}

fn step(diagnosis: &'static str, name: &'static str, f: fn(&Step, Format) -> Outcome) -> Wrong {
    wrong("1.4", diagnosis, name, |table| table.outcome = f)
}

fn update(step: &Step) -> f64 {
    (step.learning_rate * step.gradient).abs()
}

/// Right about the gradient; whether the update is lost is given.
fn decided(step: &Step, format: Format, lost: bool) -> Outcome {
    match solution::outcome(step, format) {
        Outcome::UpdateLost | Outcome::Fine if lost => Outcome::UpdateLost,
        Outcome::UpdateLost | Outcome::Fine => Outcome::Fine,
        other => other,
    }
}

fn decided_small(step: &Step, format: Format) -> Outcome {
    match update(step) < format.spacing(step.weight) / 2.0 {
        true => Outcome::UpdateLost,
        false => Outcome::Fine,
    }
}

fn below_is_zero(step: &Step, format: Format, smallest: f64) -> Outcome {
    match solution::outcome(step, format) {
        Outcome::Overflow => Outcome::Overflow,
        _ if (step.gradient * step.loss_scale).abs() < smallest => Outcome::Underflow,
        other => other,
    }
}
