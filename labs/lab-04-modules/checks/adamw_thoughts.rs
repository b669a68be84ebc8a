//! 4.3: the step of AdamW, right and with one thought changed at a time.

use super::super::state::AdamSettings;
use super::adamw::After;

/// One thing that is thought otherwise.
#[derive(Clone, Copy, PartialEq)]
pub enum Thought {
    /// As PyTorch's AdamW.
    Right,
    DecayAfter,
    DecayInGradient,
    DecayWithoutRate,
    DecayNot,
    CorrectionNot,
    CorrectionOfFirst,
    CorrectionOfSecond,
    CountsLate,
    CountsEachWeight,
    CountsNot,
    EpsInRoot,
    EpsTwice,
    EpsNot,
    NoRoot,
    NotSquared,
    BetasExchanged,
    SharesExchanged,
    StoresCorrected,
    StateForgotten,
    StateOfOld,
    Climbs,
    NoneIsZero,
    NoneCounts,
    NoneDecays,
    ZeroIsNone,
}

use Thought::*;

/// One step.
pub fn step(now: &mut After, gradient: Option<&[f32]>, settings: &AdamSettings, thought: Thought) {
    let zeros = vec![0.0; now.weights.len()];
    let gradient = match gradient {
        None if thought == NoneIsZero => &zeros,
        None => {
            without_gradient(now, settings, thought);
            return;
        }
        Some(gradient) if thought == ZeroIsNone && gradient.iter().all(|&g| g == 0.0) => return,
        Some(gradient) => gradient,
    };
    let late = thought == CountsLate;
    now.step += u64::from(!late && thought != CountsEachWeight && thought != CountsNot);
    for i in 0..now.weights.len() {
        now.step += u64::from(thought == CountsEachWeight);
        one_weight(now, i, f64::from(gradient[i]), settings, thought);
    }
    now.step += u64::from(late);
}

fn without_gradient(now: &mut After, settings: &AdamSettings, thought: Thought) {
    match thought {
        NoneCounts => now.step += 1,
        NoneDecays => {
            let kept = 1.0 - settings.lr * settings.weight_decay;
            now.weights.iter_mut().for_each(|weight| *weight *= kept);
        }
        _ => {}
    }
}

fn one_weight(now: &mut After, i: usize, g: f64, settings: &AdamSettings, thought: Thought) {
    let AdamSettings { lr, beta1, beta2, eps, weight_decay } = *settings;
    let weight = now.weights[i];
    let g = if thought == DecayInGradient { g + weight_decay * weight } else { g };
    let (beta1, beta2) = if thought == BetasExchanged { (beta2, beta1) } else { (beta1, beta2) };
    let (m, v) = moments(now, i, g, (beta1, beta2), thought);
    let steps = i32::try_from(now.step).unwrap_or(i32::MAX);
    let steps = if thought == CountsNot { 1 } else { steps };
    let [of_m, of_v] = [beta1, beta2].map(|beta| 1.0 - beta.powi(steps));
    let m_hat = if matches!(thought, CorrectionNot | CorrectionOfSecond) { m } else { m / of_m };
    let v_hat = if matches!(thought, CorrectionNot | CorrectionOfFirst) { v } else { v / of_v };
    (now.m[i], now.v[i]) = match thought {
        StoresCorrected => (m_hat, v_hat),
        StateForgotten => (0.0, 0.0),
        _ => (m, v),
    };
    let divisor = match thought {
        EpsInRoot => (v_hat + eps).sqrt(),
        EpsTwice => (v_hat + eps).sqrt() + eps,
        EpsNot => v_hat.sqrt(),
        NoRoot => v_hat + eps,
        _ => v_hat.sqrt() + eps,
    };
    let update = if thought == Climbs { -lr * m_hat / divisor } else { lr * m_hat / divisor };
    now.weights[i] = match thought {
        DecayAfter => (weight - update) * (1.0 - lr * weight_decay),
        DecayWithoutRate => weight * (1.0 - weight_decay) - update,
        DecayNot | DecayInGradient => weight - update,
        _ => weight * (1.0 - lr * weight_decay) - update,
    };
}

/// The running means after a gradient.
fn moments(now: &After, i: usize, g: f64, betas: (f64, f64), thought: Thought) -> (f64, f64) {
    let (beta1, beta2) = betas;
    let square = if thought == NotSquared { g.abs() } else { g * g };
    match thought {
        SharesExchanged => {
            ((1.0 - beta1) * now.m[i] + beta1 * g, (1.0 - beta2) * now.v[i] + beta2 * square)
        }
        StateOfOld => (beta1 * now.m[i] + g, beta2 * now.v[i] + square),
        _ => (beta1 * now.m[i] + (1.0 - beta1) * g, beta2 * now.v[i] + (1.0 - beta2) * square),
    }
}

/// The thoughts with the keys and texts of their diagnoses, the common ones first.
pub const THOUGHTS: &[(Thought, &str, &str)] = &[
    (
        DecayInGradient,
        "4.3-decay-in-the-gradient",
        "The decay was added to the gradient. That is Adam with L2 regularisation: the decay then \
         goes through m and v and is divided like the gradient, so that weights with large gradients \
         hardly decay. AdamW takes it off the weight, beside them.",
    ),
    (
        DecayWithoutRate,
        "4.3-decay-without-lr",
        "The decay was not multiplied by the learning rate. A weight loses lr times decay of itself \
         in a step.",
    ),
    (
        DecayAfter,
        "4.3-decay-after-the-step",
        "The decay was taken of the weight after the step. It comes first, of the weight as it was.",
    ),
    (DecayNot, "4.3-decay-forgotten", "The weight does not decay at all."),
    (
        CorrectionNot,
        "4.3-no-correction",
        "m and v were used as they are. They begin at 0, so at first they are far too small: after \
         one step m is a tenth of the gradient and v a thousandth of its square, and the step is 3 \
         times too long. Divide by 1 - beta^t.",
    ),
    (
        CorrectionOfFirst,
        "4.3-no-correction-of-v",
        "Only m was divided by 1 - beta^t. v begins at 0 as well.",
    ),
    (
        CorrectionOfSecond,
        "4.3-no-correction-of-m",
        "Only v was divided by 1 - beta^t. m begins at 0 as well.",
    ),
    (
        CountsLate,
        "4.3-counts-late",
        "The step was counted after it was used. In the first step t is 1; with 0 the correction \
         divides by 1 - 1.",
    ),
    (
        CountsEachWeight,
        "4.3-counts-each-weight",
        "The step was counted once for each weight. It belongs to the whole parameter: count it \
         before the loop.",
    ),
    (
        CountsNot,
        "4.3-not-counted",
        "The count of steps does not grow, so every step corrects as the first one does.",
    ),
    (
        EpsInRoot,
        "4.3-eps-in-the-root",
        "eps stands under the root. There 1e-8 counts as 1e-4: beside gradients of that size it \
         slows the weight down. It is added to the root. (Norm layers have theirs inside.)",
    ),
    (
        EpsTwice,
        "4.3-eps-in-the-root",
        "eps stands under the root as well. It is added to the root.",
    ),
    (
        EpsNot,
        "4.3-eps-forgotten",
        "eps is missing. A weight whose gradient has been 0 all along, a word that did not occur, is \
         then divided by 0: 0/0 is NaN.",
    ),
    (
        NoRoot,
        "4.3-no-root",
        "m was divided by v and not by its root. The root brings the square back to the size of a \
         gradient; without it small gradients make enormous steps.",
    ),
    (
        NotSquared,
        "4.3-not-squared",
        "v is the running mean of the gradient's size, and not of its square.",
    ),
    (
        BetasExchanged,
        "4.3-betas-exchanged",
        "The betas are exchanged. beta1 belongs to m, beta2, which is nearer to 1, to v.",
    ),
    (
        SharesExchanged,
        "4.3-shares-exchanged",
        "The shares are exchanged. beta is the share of the old mean that stays; the gradient comes \
         in with 1 - beta.",
    ),
    (
        StateOfOld,
        "4.3-not-a-mean",
        "The gradient was added whole. In a running mean it comes in with 1 - beta. (SGD's momentum \
         adds it whole.)",
    ),
    (
        StoresCorrected,
        "4.3-stores-the-corrected",
        "m and v were stored after they had been divided, and are divided again in the next step. The \
         state keeps them as they are; divide copies.",
    ),
    (
        StateForgotten,
        "4.3-state-forgotten",
        "m and v do not arrive in the state, so every step begins with zeros. Write them back.",
    ),
    (
        Climbs,
        "4.3-climbs",
        "The step goes up the gradient. It is subtracted: downhill is where the loss falls.",
    ),
    (
        NoneIsZero,
        "4.3-none-is-zero",
        "A missing gradient was taken for zeros. Zeros let the weight decay, move it by what m \
         remembers, and count a step. `None` leaves all of it as it is.",
    ),
    (
        NoneCounts,
        "4.3-none-is-counted",
        "The step was counted although there was no gradient. Ask first, then count.",
    ),
    (
        NoneDecays,
        "4.3-none-decays",
        "The weight decayed although there was no gradient. Ask first, then decay.",
    ),
    (
        ZeroIsNone,
        "4.3-zero-is-none",
        "A gradient of zeros was passed over. It is a gradient: the weight decays, m and v fade, and \
         the weight moves on by what m remembers.",
    ),
];
