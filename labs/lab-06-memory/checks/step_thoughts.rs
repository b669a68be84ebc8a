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
    OwnGradient,
    AllAtLoss,
    RuleOfThumb,
    NoStep,
    NoBlocks,
    NeverAgain,
    LastOfEqual,
    ScoresInstead,
    NormsForgotten,
    CopyForgotten,
    QkvForgotten,
    MasksAlways,
    OneMask,
    EightBytesAToken,
    NoHead,
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
    let head = match thought {
        HeadAlways => true,
        NoHead => false,
        _ => !config.tied,
    };
    let head_used = !config.tied || thought != TiedLate;
    Weights {
        embeddings: (vocab + context) * width,
        block: 12 * width * width + 13 * width,
        above: 2 * width + if head { vocab * width } else { 0 },
        used_above: 2 * width + if head_used { vocab * width } else { 0 },
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
        _ if config.dropout == 0.0 && thought != MasksAlways => 0,
        MasksForgotten => 0,
        MasksInF32 => 4 * places * width,
        _ => places * width,
    };
    let per_place = match thought {
        HiddenOnce => 11 * width,
        QkvForgotten => 12 * width,
        CopyForgotten => 14 * width,
        AttendedTwice => 16 * width,
        SumsKept => 17 * width,
        _ => 15 * width,
    };
    let statistics = match thought {
        StatisticsForgotten => 0,
        NormsForgotten => heads,
        ScoresInstead => heads * step.time + 4,
        _ => heads + 4,
    };
    let scores = if thought == Scores { 4 * step.batch * heads * step.time * step.time } else { 0 };
    let rows = if matches!(thought, StatisticsForgotten | NormsForgotten) { 0 } else { 2 };
    let logits = match thought {
        LogitsForgotten => 0,
        LogitsTwice => 2 * vocab,
        _ => vocab,
    };
    let masks = if thought == OneMask { 1 } else { 2 };
    let tokens = match thought {
        TokensForgotten => 0,
        EightBytesAToken => 8 * places,
        _ => 16 * places,
    };
    Kept {
        tokens,
        embeddings: if thought == FirstMaskForgotten { 0 } else { mask },
        input: 4 * places * width,
        block: 4 * places * (per_place + statistics) + scores + masks * mask,
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
    let recompute = step.recompute && thought != NeverAgain;
    let stored = match (recompute, thought) {
        (true, InputsForgotten) => 0,
        (true, _) => kept.input,
        (false, _) => kept.input + kept.block,
    };
    let here = match (recompute, thought) {
        (true, AgainForgotten) => kept.input,
        _ => kept.input + kept.block,
    };
    let at_loss = if matches!(thought, AllAtLoss | RuleOfThumb) { all } else { 0 };
    let loss = at(Moment::Loss, at_loss, kept.embeddings + layers * stored + kept.above);
    let mut moments = vec![loss];
    for i in (0..layers).rev() {
        let behind = if thought == OwnGradient { layers - i } else { layers - 1 - i };
        let above = weights.used_above + behind * weights.block;
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
        let skipped = match moment.moment {
            Moment::Loss => false,
            Moment::Block(_) => thought == NoBlocks,
            Moment::Step => thought == NoStep,
        };
        let least = together(&peak) + u64::from(thought != LastOfEqual);
        if together(&moment) >= least && !skipped {
            peak = moment;
        }
        if thought == OwnPeaks {
            peak.activations = peak.activations.max(moment.activations);
            peak.gradients = step.gradients;
        }
    }
    if matches!(thought, AlwaysLoss | RuleOfThumb) { loss } else { peak }
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
    (OwnGradient, "6.7-own-gradient", OWN_GRADIENT),
    (AllAtLoss, "6.7-gradients-at-loss", AT_LOSS),
    (RuleOfThumb, "6.7-rule-of-thumb", AT_LOSS),
    (NoStep, "6.7-no-step", NO_STEP),
    (NoBlocks, "6.7-no-blocks", NO_BLOCKS),
    (NeverAgain, "6.7-never-again", NEVER),
    (LastOfEqual, "6.7-last-of-equal", EQUALS),
    (ScoresInstead, "6.7-scores-instead", INSTEAD),
    (NormsForgotten, "6.7-norms", STATISTICS),
    (CopyForgotten, "6.7-copy", COPY),
    (QkvForgotten, "6.7-qkv", QKV),
    (MasksAlways, "6.7-masks-always", NO_DROPOUT),
    (OneMask, "6.7-one-mask", MASKS),
    (EightBytesAToken, "6.7-eight-bytes", EIGHT),
    (NoHead, "6.7-no-head", NO_HEAD),
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
const MASKS: &str = "Masks of the dropout were forgotten. Each dropout keeps which elements \
    stayed: one behind the embeddings, and two in each block.";
const BOOL: &str = "The masks of the dropout were counted as numbers of 4 bytes. They are `bool`: \
    one byte an element.";
const FIRST: &str = "The dropout behind the embeddings was forgotten. It keeps a mask, too, which \
    lives until the end of the backward pass, recomputed blocks or not.";
const STATISTICS: &str = "What is kept for each row was forgotten: mean and 1 / deviation of each \
    layer norm, and one number for each query and head of the attention.";
const OWN_GRADIENT: &str = "The gradients of a block were counted at its own moment. The backward \
    pass only arrives there: they come with it, and are counted from the next moment on.";
const AT_LOSS: &str = "All gradients were counted at the loss. Those of the step before were \
    dropped, and the backward pass has not begun: at this moment there are none.";
const NO_STEP: &str = "The end of the backward pass was left out. With few tokens the peak is \
    there: all gradients are, those of the embeddings too.";
const NO_BLOCKS: &str = "The moments at the blocks were left out. A block that has just run again, \
    or the gradient of a large head, can put the peak there.";
const NEVER: &str = "`recompute` was not looked at. With it a block keeps its input alone until \
    the backward pass arrives there, and then all that it keeps.";
const EQUALS: &str = "Of two moments that hold the same the later one was taken. The first counts: \
    the roles differ.";
const INSTEAD: &str = "The attention was taken to keep its scores, T * T for each head. \
    `src/ops/attention.rs` keeps one number for each query in their place, and computes the scores \
    again.";
const COPY: &str = "The copy of the heads was forgotten. They are copied side by side for \
    `out_proj`, which saves this copy as its input.";
const QKV: &str = "q, k and v were forgotten. The attention saves all three, `width` numbers each \
    for a token.";
const NO_DROPOUT: &str = "Masks were counted where the probability is 0. There dropout does \
    nothing and keeps nothing.";
const EIGHT: &str = "Tokens and targets came to 8 bytes a token. They are `i64`, 8 bytes for each \
    token and as many for each target.";
const NO_HEAD: &str = "The head's own weight was forgotten where it is not tied: `vocab * width` \
    parameters more, with a gradient and what the optimizer keeps.";
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
const LATE: &str = "The gradient of a tied weight was taken to come with the embedding, at the \
    end. The head uses that weight, too, and it is the first that the backward pass comes to: \
    from then on the gradient is there, and the embedding's part is added to it.";
const ONE: &str = "AdamW was given one number a weight. It keeps two, m and v.";
