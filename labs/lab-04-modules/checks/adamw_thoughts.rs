//! 4.3: the step of AdamW, right and with one thought changed at a time.

use super::super::state::AdamSettings;
use super::adamw::After;
use super::thoughts::Known;

/// One thing that is thought otherwise.
#[derive(Clone, Copy, PartialEq)]
pub enum Thought {
    /// As PyTorch's AdamW.
    Right,
    DecayInGradient,
    DecayWithoutRate,
    DecayAfter,
    NoCorrection,
    CountsLate,
    CountsEachWeight,
    EpsInRoot,
    NoRoot,
    StoresCorrected,
    StateForgotten,
    NoneIsZero,
    ZeroIsNone,
}

use Thought::*;

/// One step.
pub fn step(now: &mut After, gradient: Option<&[f32]>, settings: &AdamSettings, thought: Thought) {
    let zeros = vec![0.0; now.weights.len()];
    let gradient = match gradient {
        None if thought == NoneIsZero => &zeros,
        None => return,
        Some(gradient) if thought == ZeroIsNone && gradient.iter().all(|&g| g == 0.0) => return,
        Some(gradient) => gradient,
    };
    now.step += u64::from(thought != CountsLate && thought != CountsEachWeight);
    for (i, &g) in gradient.iter().enumerate() {
        now.step += u64::from(thought == CountsEachWeight);
        one_weight(now, i, f64::from(g), settings, thought);
    }
    now.step += u64::from(thought == CountsLate);
}

fn one_weight(now: &mut After, i: usize, g: f64, settings: &AdamSettings, thought: Thought) {
    let AdamSettings { lr, beta1, beta2, eps, weight_decay } = *settings;
    let weight = now.weights[i];
    let g = if thought == DecayInGradient { g + weight_decay * weight } else { g };
    let (m, v) = (beta1 * now.m[i] + (1.0 - beta1) * g, beta2 * now.v[i] + (1.0 - beta2) * g * g);
    let t = i32::try_from(now.step).unwrap_or(i32::MAX);
    let correction = |beta: f64| if thought == NoCorrection { 1.0 } else { 1.0 - beta.powi(t) };
    let (m_hat, v_hat) = (m / correction(beta1), v / correction(beta2));
    (now.m[i], now.v[i]) = match thought {
        StoresCorrected => (m_hat, v_hat),
        StateForgotten => (0.0, 0.0),
        _ => (m, v),
    };
    let divisor = match thought {
        EpsInRoot => (v_hat + eps).sqrt(),
        NoRoot => v_hat + eps,
        _ => v_hat.sqrt() + eps,
    };
    let update = lr * m_hat / divisor;
    now.weights[i] = match thought {
        DecayAfter => (weight - update) * (1.0 - lr * weight_decay),
        DecayWithoutRate => weight * (1.0 - weight_decay) - update,
        DecayInGradient => weight - update,
        _ => weight * (1.0 - lr * weight_decay) - update,
    };
}

/// The thoughts with the keys and texts of their diagnoses, the common ones first.
pub const THOUGHTS: &[Known<Thought>] = &[
    (DecayInGradient, "4.3-decay-in-the-gradient", IN_GRADIENT),
    (DecayWithoutRate, "4.3-decay-without-lr", WITHOUT_RATE),
    (DecayAfter, "4.3-decay-after-the-step", AFTER),
    (NoCorrection, "4.3-no-correction", UNCORRECTED),
    (CountsLate, "4.3-counts-late", LATE),
    (CountsEachWeight, "4.3-counts-each-weight", EACH),
    (EpsInRoot, "4.3-eps-in-the-root", EPS),
    (NoRoot, "4.3-no-root", ROOT),
    (StoresCorrected, "4.3-stores-the-corrected", STORED),
    (StateForgotten, "4.3-state-forgotten", FORGOTTEN),
    (NoneIsZero, "4.3-none-is-zero", NONE),
    (ZeroIsNone, "4.3-zero-is-none", ZERO),
];

const IN_GRADIENT: &str = "The decay was added to the gradient. That is Adam with L2 \
    regularisation: the decay then goes through m and v and is divided like the gradient, so \
    that weights with large gradients hardly decay. AdamW takes it off the weight, beside them.";
const WITHOUT_RATE: &str = "The decay was not multiplied by the learning rate. A weight loses lr \
    times decay of itself in a step.";
const AFTER: &str = "The decay was taken of the weight after the step. It comes first, of the \
    weight as it was.";
const UNCORRECTED: &str = "m and v were used as they are. They begin at 0, so at first they are \
    far too small: after one step m is a tenth of the gradient and v a thousandth of its square, \
    and the step is 3 times too long. Divide by 1 - beta^t.";
const LATE: &str = "The step was counted after it was used. In the first step t is 1; with 0 the \
    correction divides by 1 - 1.";
const EACH: &str = "The step was counted once for each weight. It belongs to the whole \
    parameter: count it before the loop.";
const EPS: &str = "eps stands under the root. There 1e-8 counts as 1e-4: beside gradients of \
    that size it slows the weight down. It is added to the root. (Norm layers have theirs \
    inside.)";
const ROOT: &str = "m was divided by v and not by its root. The root brings the square back to \
    the size of a gradient; without it small gradients make enormous steps.";
const STORED: &str = "m and v were stored after they had been divided, and are divided again in \
    the next step. The state keeps them as they are; divide copies.";
const FORGOTTEN: &str = "m and v do not arrive in the state, so every step begins with zeros. \
    Write them back.";
const NONE: &str = "A missing gradient was taken for zeros. Zeros let the weight decay, move it \
    by what m remembers, and count a step. `None` leaves all of it as it is.";
const ZERO: &str = "A gradient of zeros was passed over. It is a gradient: the weight decays, m \
    and v fade, and the weight moves on by what m remembers.";
