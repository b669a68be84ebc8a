//! 4.5: what a scaler does after a backward pass, right and with one thought changed at a time.

use super::super::state::LossScaler;
use super::scaler::{Gradients, Outcome};
use super::thoughts::Known;

/// One thing that is thought otherwise.
#[derive(Clone, Copy, PartialEq)]
pub enum Thought {
    /// As PyTorch's `GradScaler`.
    Right,
    NotUnscaled,
    UnscalesTwice,
    UnscalesByNew,
    StepsAnyway,
    NanMissed,
    FirstOnly,
    SumOnly,
    GrowsLate,
    TrackerAfterOverflow,
    TrackerAfterGrowth,
    GrowsToInfinity,
    SaysOverflow,
}

use Thought::*;

/// What a call leaves behind.
pub fn after(before: &LossScaler, gradients: &Gradients, thought: Thought) -> Outcome {
    let mut scaler = *before;
    let overflow = overflows(gradients, thought);
    if overflow {
        scaler.scale *= scaler.backoff_factor;
        if thought != TrackerAfterOverflow {
            scaler.growth_tracker = 0;
        }
    } else {
        count(&mut scaler, thought);
    }
    let steps = !overflow || thought == StepsAnyway;
    let (old, new) = (f64::from(before.scale), f64::from(scaler.scale));
    let factor = match thought {
        NotUnscaled => 1.0,
        UnscalesTwice => 1.0 / (old * old),
        UnscalesByNew => 1.0 / new,
        _ => 1.0 / old,
    };
    let scaled = |list: &Vec<f32>| list.iter().map(|&x| f64::from(x) * factor).collect();
    let gradients = gradients.iter().map(|list| list.as_ref().map(scaled)).collect();
    let says = if thought == SaysOverflow { overflow } else { steps };
    Outcome { step: steps.then_some(gradients), says, scaler }
}

fn overflows(gradients: &Gradients, thought: Thought) -> bool {
    let numbers = |lists: &[Option<Vec<f32>>]| lists.iter().flatten().flatten().copied().collect();
    let all: Vec<f32> = numbers(gradients);
    let first: Vec<f32> = numbers(&gradients[..1]);
    match thought {
        NanMissed => all.iter().any(|x| x.is_infinite()),
        FirstOnly => first.iter().any(|x| !x.is_finite()),
        SumOnly => gradients.iter().flatten().any(|list| !list.iter().sum::<f32>().is_finite()),
        _ => all.iter().any(|x| !x.is_finite()),
    }
}

/// A pass without overflow.
fn count(scaler: &mut LossScaler, thought: Thought) {
    scaler.growth_tracker += 1;
    let reached = match thought {
        GrowsLate => scaler.growth_tracker > scaler.growth_interval,
        TrackerAfterGrowth => scaler.growth_tracker.is_multiple_of(scaler.growth_interval),
        _ => scaler.growth_tracker == scaler.growth_interval,
    };
    if reached {
        let grown = scaler.scale * scaler.growth_factor;
        if grown.is_finite() || thought == GrowsToInfinity {
            scaler.scale = grown;
        }
        if thought != TrackerAfterGrowth {
            scaler.growth_tracker = 0;
        }
    }
}

/// The thoughts with the keys and texts of their diagnoses, the common ones first.
pub const THOUGHTS: &[Known<Thought>] = &[
    (NotUnscaled, "4.5-not-unscaled", SCALED),
    (UnscalesTwice, "4.5-divided-twice", TWICE),
    (StepsAnyway, "4.5-steps-anyway", ANYWAY),
    (NanMissed, "4.5-nan-missed", NAN),
    (FirstOnly, "4.5-first-parameter-only", FIRST),
    (SumOnly, "4.5-sum-overflows", SUM),
    (TrackerAfterOverflow, "4.5-tracker-after-overflow", ROW),
    (UnscalesByNew, "4.5-divided-by-the-new-scale", NEW),
    (GrowsLate, "4.5-grows-late", LATE),
    (TrackerAfterGrowth, "4.5-tracker-after-growth", AGAIN),
    (GrowsToInfinity, "4.5-grows-to-infinity", INFINITE),
    (SaysOverflow, "4.5-says-overflow", SAYS),
];

const SCALED: &str = "The optimizer stepped with the gradients of the scaled loss, as many times \
    too long as the scale is large. Divide them first, or pass the inverse to `step_scaled`.";
const TWICE: &str = "The gradients were divided by the scale twice: in place, and by \
    `step_scaled` again. One of the two is enough.";
const ANYWAY: &str = "The optimizer stepped although a gradient is not finite. One such step \
    makes weights NaN, and nothing brings them back.";
const NAN: &str = "Only infinity counts as overflow. An infinity that has met another one on its \
    way is NaN, and as bad: ask `is_finite()`.";
const FIRST: &str = "Only the first gradient was looked at. Each layer can overflow by itself.";
const SUM: &str = "The numbers are finite, and their sum is not. Ask each number, not the sum.";
const ROW: &str = "After an overflow the tracker stays. It counts the steps in a row that were \
    good: an overflow ends the row.";
const NEW: &str = "The gradients were divided by the scale after it had grown. They were made \
    with the old one; change the scale last.";
const LATE: &str = "The scale grows one step late. It grows when the tracker, with this step \
    counted, has reached the interval.";
const AGAIN: &str = "After the scale has grown the tracker stays. It counts from the last change \
    of the scale.";
const INFINITE: &str = "The scale has become infinite. Every loss times infinity overflows, and \
    half of infinity is infinite. Leave the scale as it is if the product is not finite.";
const SAYS: &str = "What is returned is whether there was an overflow. Return whether the \
    optimizer stepped: a schedule moves on only then.";
