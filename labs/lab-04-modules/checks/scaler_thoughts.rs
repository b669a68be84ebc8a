//! 4.5: what a scaler does after a backward pass, right and with one thought changed at a time.

use super::super::state::LossScaler;
use super::scaler::{Gradients, Outcome};

/// One thing that is thought otherwise.
#[derive(Clone, Copy, PartialEq)]
pub enum Thought {
    /// As PyTorch's `GradScaler`.
    Right,
    StepsAnyway,
    NotUnscaled,
    Multiplies,
    UnscalesTwice,
    UnscalesByNew,
    NanMissed,
    MinusMissed,
    FirstOnly,
    SumOnly,
    NeverBacksOff,
    NeverGrows,
    GrowsLate,
    GrowsAlways,
    TrackerAfterOverflow,
    TrackerAfterGrowth,
    GrowsToInfinity,
    TrackerAtTheTop,
    SaysOverflow,
    TwoAndAHalf,
}

use Thought::*;

/// What a call leaves behind.
pub fn after(before: &LossScaler, gradients: &Gradients, thought: Thought) -> Outcome {
    let mut scaler = *before;
    let overflow = overflows(gradients, thought);
    if overflow {
        if thought != NeverBacksOff {
            let factor = if thought == TwoAndAHalf { 0.5 } else { scaler.backoff_factor };
            scaler.scale *= factor;
        }
        if thought != TrackerAfterOverflow {
            scaler.growth_tracker = 0;
        }
    } else {
        count(&mut scaler, thought);
    }
    let steps = !overflow || thought == StepsAnyway;
    let factor = factor(before.scale, scaler.scale, thought);
    let scaled = |list: &Vec<f32>| list.iter().map(|&x| f64::from(x) * factor).collect();
    let gradients = gradients.iter().map(|list| list.as_ref().map(scaled)).collect();
    let says = match thought {
        SaysOverflow => overflow,
        _ => steps,
    };
    Outcome { step: steps.then_some(gradients), says, scaler }
}

fn factor(old: f32, new: f32, thought: Thought) -> f64 {
    let (old, new) = (f64::from(old), f64::from(new));
    match thought {
        NotUnscaled => 1.0,
        Multiplies => old,
        UnscalesTwice => 1.0 / (old * old),
        UnscalesByNew => 1.0 / new,
        _ => 1.0 / old,
    }
}

fn overflows(gradients: &Gradients, thought: Thought) -> bool {
    let numbers = || gradients.iter().flatten().flatten().copied();
    match thought {
        NanMissed => numbers().any(f32::is_infinite),
        MinusMissed => numbers().any(|x| x.is_nan() || x == f32::INFINITY),
        FirstOnly => {
            let first = gradients.iter().flatten().next();
            first.into_iter().flatten().any(|x| !x.is_finite())
        }
        SumOnly => gradients.iter().flatten().any(|list| !list.iter().sum::<f32>().is_finite()),
        _ => numbers().any(|x| !x.is_finite()),
    }
}

/// A pass without overflow.
fn count(scaler: &mut LossScaler, thought: Thought) {
    scaler.growth_tracker += 1;
    let reached = match thought {
        NeverGrows => false,
        GrowsAlways => true,
        GrowsLate => scaler.growth_tracker > scaler.growth_interval,
        TrackerAfterGrowth => scaler.growth_tracker.is_multiple_of(scaler.growth_interval),
        _ => scaler.growth_tracker == scaler.growth_interval,
    };
    if !reached {
        return;
    }
    let factor = if thought == TwoAndAHalf { 2.0 } else { scaler.growth_factor };
    let grown = scaler.scale * factor;
    if grown.is_finite() || thought == GrowsToInfinity {
        scaler.scale = grown;
    } else if thought == TrackerAtTheTop {
        return;
    }
    if thought != TrackerAfterGrowth {
        scaler.growth_tracker = 0;
    }
}

/// The thoughts with the keys and texts of their diagnoses, the common ones first.
pub const THOUGHTS: &[(Thought, &str, &str)] = &[
    (
        NotUnscaled,
        "4.5-not-unscaled",
        "The optimizer stepped with the gradients of the scaled loss, as many times too long as the \
         scale is large. Divide them first, or pass the inverse to `step_scaled`.",
    ),
    (
        Multiplies,
        "4.5-multiplied",
        "The gradients were multiplied by the scale once more. They come from a loss that was \
         multiplied already; divide.",
    ),
    (
        UnscalesTwice,
        "4.5-divided-twice",
        "The gradients were divided by the scale twice: in place, and by `step_scaled` again. One of \
         the two is enough.",
    ),
    (
        StepsAnyway,
        "4.5-steps-anyway",
        "The optimizer stepped although a gradient is not finite. One such step makes weights NaN, \
         and nothing brings them back.",
    ),
    (
        NanMissed,
        "4.5-nan-missed",
        "Only infinity counts as overflow. An infinity that has met another one on its way is NaN, \
         and as bad: ask `is_finite()`.",
    ),
    (
        MinusMissed,
        "4.5-minus-infinity-missed",
        "Minus infinity was missed. A largest number does not show it, and neither does a comparison \
         with infinity: ask `is_finite()` of every number.",
    ),
    (
        FirstOnly,
        "4.5-first-parameter-only",
        "Only the first gradient was looked at. Each layer can overflow by itself.",
    ),
    (
        SumOnly,
        "4.5-sum-overflows",
        "The numbers are finite, and their sum is not. Ask each number, not the sum.",
    ),
    (
        NeverBacksOff,
        "4.5-never-backs-off",
        "After an overflow the scale stays, so the next loss overflows as well, and all after it.",
    ),
    (
        TrackerAfterOverflow,
        "4.5-tracker-after-overflow",
        "After an overflow the tracker stays. It counts the steps in a row that were good: an \
         overflow ends the row.",
    ),
    (
        UnscalesByNew,
        "4.5-divided-by-the-new-scale",
        "The gradients were divided by the scale after it had grown. They were made with the old one; \
         change the scale last.",
    ),
    (
        NeverGrows,
        "4.5-never-grows",
        "The scale does not grow. After one overflow too many it stays small for good, and small \
         gradients are stored as zero again.",
    ),
    (
        GrowsLate,
        "4.5-grows-late",
        "The scale grows one step late. It grows when the tracker, with this step counted, has \
         reached the interval.",
    ),
    (
        GrowsAlways,
        "4.5-grows-every-step",
        "The scale grows with every good step. Then every few steps one overflows and is lost; the \
         interval makes that rare.",
    ),
    (
        TrackerAfterGrowth,
        "4.5-tracker-after-growth",
        "After the scale has grown the tracker stays. It counts from the last change of the scale.",
    ),
    (
        GrowsToInfinity,
        "4.5-grows-to-infinity",
        "The scale has become infinite. Every loss times infinity overflows, and half of infinity is \
         infinite. Leave the scale as it is if the product is not finite.",
    ),
    (
        TrackerAtTheTop,
        "4.5-tracker-at-the-top",
        "The scale cannot grow any more, and the tracker stays. It becomes 0 at the interval all the \
         same.",
    ),
    (
        SaysOverflow,
        "4.5-says-overflow",
        "What is returned is whether there was an overflow. Return whether the optimizer stepped: a \
         schedule moves on only then.",
    ),
    (
        TwoAndAHalf,
        "4.5-fixed-factors",
        "The factors 2 and 0.5 were written into the code. They are `growth_factor` and \
         `backoff_factor` of the scaler.",
    ),
];
