//! 6.7: the bytes of every moment of a step, as they are and as some think that they are.

use engine_room::nn::GptConfig;

use super::super::step::{Moment, PeakBytes, Rule, Step};
use super::thoughts::Known;

/// A model, and how it is trained.
pub type Question = (GptConfig, Step);

/// One thing that is thought otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Thought {
    /// Nothing.
    Right,
    OwnPeaks,
    AlwaysLoss,
    NoGradientsYet,
    LogitsStay,
    AgainForgotten,
    InputsForgotten,
    Scores,
    LogitsForgotten,
    LogitsTwice,
    MasksForgotten,
    MasksInF32,
    FirstMaskForgotten,
    StatisticsForgotten,
    TokensForgotten,
    HiddenOnce,
    AttendedTwice,
    SumsKept,
    HeadAlways,
    OneNumber,
    TiedLate,
}

use Thought::*;

/// What the four roles hold together.
pub fn together(it: &PeakBytes) -> u64 {
    it.parameters + it.gradients + it.optimizer + it.activations
}

/// The numbers of weights in the parts of a model.
struct Weights {
    embeddings: u64,
    block: u64,
    above: u64,
    /// Those of which a gradient is there when the backward pass has left the head and the norm.
    used_above: u64,
}

fn weights(config: &GptConfig, thought: Thought) -> Weights {
    let [vocab, context, width] = [config.vocab, config.context, config.width].map(|n| n as u64);
    let has_head = !config.tied || thought == HeadAlways;
    let early = !config.tied || thought != TiedLate;
    Weights {
        embeddings: (vocab + context) * width,
        block: 12 * width * width + 13 * width,
        above: 2 * width + if has_head { vocab * width } else { 0 },
        used_above: 2 * width + if early { vocab * width } else { 0 },
    }
}

/// The bytes that the parts of a model keep for the backward pass.
struct Kept {
    tokens: u64,
    embeddings: u64,
    input: u64,
    block: u64,
    above: u64,
}

fn kept(config: &GptConfig, step: &Step, thought: Thought) -> Kept {
    let [vocab, width, heads] = [config.vocab, config.width, config.heads].map(|n| n as u64);
    let places = step.batch * step.time;
    let mask = match thought {
        _ if config.dropout == 0.0 => 0,
        MasksForgotten => 0,
        MasksInF32 => 4 * places * width,
        _ => places * width,
    };
    let per_place = match thought {
        HiddenOnce => 11 * width,
        AttendedTwice => 16 * width,
        SumsKept => 17 * width,
        _ => 15 * width,
    };
    let statistics = if thought == StatisticsForgotten { 0 } else { heads + 4 };
    let scores = if thought == Scores { 4 * step.batch * heads * step.time * step.time } else { 0 };
    let rows = if thought == StatisticsForgotten { 0 } else { 2 };
    let logits = match thought {
        LogitsForgotten => 0,
        LogitsTwice => 2 * vocab,
        _ => vocab,
    };
    Kept {
        tokens: if thought == TokensForgotten { 0 } else { 16 * places },
        embeddings: if thought == FirstMaskForgotten { 0 } else { mask },
        input: 4 * places * width,
        block: 4 * places * (per_place + statistics) + scores + 2 * mask,
        above: 4 * places * (2 * width + rows + logits),
    }
}

/// What each moment holds, in their order.
pub fn moments((config, step): &Question, thought: Thought) -> Vec<PeakBytes> {
    let layers = config.layers as u64;
    let (weights, kept) = (weights(config, thought), kept(config, step, thought));
    let all = weights.embeddings + layers * weights.block + weights.above;
    let numbers = match step.rule {
        Rule::Sgd => 0,
        Rule::AdamW if thought != OneNumber => 2,
        Rule::SgdMomentum | Rule::AdamW => 1,
    };
    let at = |moment, with_gradient: u64, activations: u64| PeakBytes {
        moment,
        parameters: 4 * all,
        gradients: 4 * with_gradient,
        optimizer: 4 * numbers * all,
        activations: kept.tokens + activations,
    };
    let stored = match (step.recompute, thought) {
        (true, InputsForgotten) => 0,
        (true, _) => kept.input,
        (false, _) => kept.input + kept.block,
    };
    let here = match (step.recompute, thought) {
        (true, AgainForgotten) => kept.input,
        _ => kept.input + kept.block,
    };
    let loss = at(Moment::Loss, 0, kept.embeddings + layers * stored + kept.above);
    let mut moments = vec![loss];
    for i in (0..layers).rev() {
        let above = weights.used_above + (layers - 1 - i) * weights.block;
        let with_gradient = if thought == NoGradientsYet { 0 } else { above };
        let stay = if thought == LogitsStay { kept.above } else { 0 };
        let activations = kept.embeddings + i * stored + here + stay;
        moments.push(at(Moment::Block(i), with_gradient, activations));
    }
    moments.push(at(Moment::Step, all, 0));
    moments
}

/// The first of the largest moments, or what is thought to be the peak.
pub fn formula(question: &Question, thought: Thought) -> PeakBytes {
    let moments = moments(question, thought);
    let [loss, step] = [moments[0], moments[moments.len() - 1]];
    let mut peak = loss;
    for moment in moments {
        if together(&moment) > together(&peak) {
            peak = moment;
        }
        if thought == OwnPeaks {
            peak.activations = peak.activations.max(moment.activations);
            peak.gradients = step.gradients;
        }
    }
    if thought == AlwaysLoss { loss } else { peak }
}

/// Every thought, with its key and what is true instead.
pub const THOUGHTS: &[Known<Thought>] = &[
    (AlwaysLoss, "6.7-always-loss", LOSS),
    (NoGradientsYet, "6.7-no-gradients-yet", NO_GRADIENTS),
    (LogitsStay, "6.7-logits-stay", STAY),
    (AgainForgotten, "6.7-again-forgotten", AGAIN),
    (InputsForgotten, "6.7-inputs-forgotten", INPUTS),
    (Scores, "6.7-scores", SCORES),
    (LogitsForgotten, "6.7-logits-forgotten", LOGITS),
    (LogitsTwice, "6.7-logits-twice", TWICE),
    (MasksForgotten, "6.7-masks-forgotten", MASKS),
    (MasksInF32, "6.7-masks-in-f32", BOOL),
    (FirstMaskForgotten, "6.7-first-mask", FIRST),
    (StatisticsForgotten, "6.7-statistics", STATISTICS),
    (TokensForgotten, "6.7-tokens", TOKENS),
    (HiddenOnce, "6.7-hidden-once", HIDDEN),
    (AttendedTwice, "6.7-attended-twice", ATTENDED),
    (SumsKept, "6.7-sums-kept", SUMS),
    (HeadAlways, "6.7-head-always", TIED),
    (OneNumber, "6.7-one-number", ONE),
    (TiedLate, "6.7-tied-late", LATE),
    (OwnPeaks, "6.7-own-peaks", OWN),
];

const OWN: &str = "These are the peaks of each role for itself, added up. When all activations are \
    there, no gradient is, and when all gradients are there, the activations are gone. The peak \
    is a moment: take the roles as they are at that moment.";
const LOSS: &str = "The peak was taken to be at the loss. With few tokens the gradients weigh \
    more than the activations that they replace, and with recomputation a block that has just \
    run again can weigh more than the loss. Compute every moment, and take the largest.";
const NO_GRADIENTS: &str = "The gradients were taken to come at the end. When the backward pass \
    arrives at a block, those of everything behind it are there: of the head, the last norm, and \
    all later blocks.";
const STAY: &str = "What the loss, the head and the last norm keep was counted until the end. \
    The backward pass frees it behind itself: at a block it is gone.";
const AGAIN: &str = "The block that runs again was forgotten. Recomputation does not do without \
    what a block keeps: it has it for one block at a time, when the backward pass arrives there.";
const INPUTS: &str = "The inputs of the recomputed blocks were forgotten. A block can run again \
    only from its input, and each of them lives until its block has run.";
const SCORES: &str = "The scores of the attention, T * T for each head, were counted as kept. \
    `src/ops/attention.rs` keeps one number for each query, and computes the scores again.";
const LOGITS: &str = "The log-softmax of the logits was forgotten: `vocab` numbers for each \
    token, and with a small model the largest thing that is kept.";
const TWICE: &str = "The logits were counted besides their log-softmax. `log_softmax` saves its \
    result, and nobody saves the logits: they are free once the loss is computed.";
const MASKS: &str = "The masks of the dropout were forgotten. Each dropout keeps which elements \
    stayed: one behind the embeddings, and two in each block.";
const BOOL: &str = "The masks of the dropout were counted as numbers of 4 bytes. They are `bool`: \
    one byte an element.";
const FIRST: &str = "The dropout behind the embeddings was forgotten. It keeps a mask, too, which \
    lives until the end of the backward pass, recomputed blocks or not.";
const STATISTICS: &str = "What is kept for each row was forgotten: mean and 1 / deviation of each \
    layer norm, and one number for each query and head of the attention.";
const TOKENS: &str = "Tokens and targets were forgotten. They are saved as indices, `i64`, 8 bytes \
    each, and as the program holds them they stay beyond the backward pass.";
const HIDDEN: &str = "Of the mlp's hidden layer one tensor was counted. `gelu` saves its input and \
    the second linear layer saves its own, which is another tensor: twice 4 * width numbers.";
const ATTENDED: &str = "The output of the attention was counted twice. It is copied into rows for \
    `out_proj`, and only the copy is saved: the attention computes its own output again.";
const SUMS: &str = "The outputs of `out_proj` and `linear2` were counted. An addition saves \
    nothing, so they are gone when the sum is computed.";
const TIED: &str = "The head was given a weight of its own where it is tied. Then it is that of \
    the token embedding: there once, with one gradient.";
const LATE: &str = "The gradient of a tied weight was taken to come with the embedding, at the end. \
    The head uses that weight, too, and it is the first that the backward pass comes to: from then \
    on the gradient is there, and the embedding's part is added to it.";
const ONE: &str = "AdamW was given one number a weight. It keeps two, m and v.";
