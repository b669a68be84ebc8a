//! 6.6: what a plan costs, and what some think that it costs.

use super::super::layers::{Cost, Layer, Mode};
use super::thoughts::Known;

/// One thing that is thought otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Thought {
    /// Nothing.
    Right,
    AgainForgotten,
    NothingFreed,
    InputsForgotten,
    AllInputs,
    OneLayerAgain,
    InnerInputsForgotten,
    BeginsOnly,
    KeptToo,
    InputTwice,
    KeptAlone,
    NoInputs,
    BeforeForgotten,
}

use Thought::*;

/// Bytes at the moments when the backward pass arrives at each layer of a plan. The layers of a
/// segment are there as soon as it arrives at the last of them.
pub fn cost_as(layers: &[Layer], plan: &[Mode], thought: Thought) -> Cost {
    let (mut stored, mut peak, mut extra_flops, mut largest) = (0, 0, 0, 0);
    let mut at = 0;
    while at < layers.len() {
        let length = match plan[at] {
            Mode::Keep => 1,
            _ => 1 + plan[at + 1..].iter().take_while(|mode| **mode == Mode::Continue).count(),
        };
        let piece = &layers[at..at + length];
        let again = plan[at] != Mode::Keep;
        let whole = while_it_runs(piece, again, thought);
        let before = if again && thought == BeforeForgotten { 0 } else { stored };
        peak = peak.max(before + whole);
        stored += if again { until_then(piece, thought) } else { whole };
        if again {
            largest = largest.max(whole.saturating_sub(piece[0].input));
        }
        extra_flops += flops(piece, again, thought);
        at += length;
    }
    let peak = if thought == NothingFreed { stored + largest } else { peak.max(stored) };
    Cost { peak, extra_flops }
}

/// What a piece holds when the backward pass is in it.
fn while_it_runs(piece: &[Layer], again: bool, thought: Thought) -> u64 {
    let inputs: u64 = piece.iter().map(|layer| layer.input).sum();
    let kept: u64 = piece.iter().map(|layer| layer.kept).sum();
    match thought {
        NoInputs => kept,
        KeptAlone if !again => kept,
        _ if !again => inputs + kept,
        InputTwice => piece[0].input + inputs + kept,
        AgainForgotten => until_then(piece, thought),
        OneLayerAgain => {
            let most = piece.iter().map(|layer| layer.kept).max().unwrap_or(0);
            piece[0].input + most
        }
        InnerInputsForgotten => piece[0].input + kept,
        InputsForgotten => inputs + kept - piece[0].input,
        _ => inputs + kept,
    }
}

/// What a piece that runs again keeps until then.
fn until_then(piece: &[Layer], thought: Thought) -> u64 {
    match thought {
        InputsForgotten | NoInputs => 0,
        AllInputs => piece.iter().map(|layer| layer.input).sum(),
        _ => piece[0].input,
    }
}

fn flops(piece: &[Layer], again: bool, thought: Thought) -> u64 {
    let all: u64 = piece.iter().map(|layer| layer.flops).sum();
    match thought {
        KeptToo => all,
        _ if !again => 0,
        BeginsOnly => piece[0].flops,
        _ => all,
    }
}

/// Every thought, with its key and what is true instead.
pub const THOUGHTS: &[Known<Thought>] = &[
    (AgainForgotten, "6.6-again-forgotten", AGAIN),
    (NothingFreed, "6.6-nothing-freed", FREED),
    (InputsForgotten, "6.6-inputs-forgotten", INPUTS),
    (AllInputs, "6.6-all-inputs", ALL_INPUTS),
    (OneLayerAgain, "6.6-one-layer-again", ONE),
    (InnerInputsForgotten, "6.6-inner-inputs", INNER),
    (BeginsOnly, "6.6-begins-only", BEGINS),
    (KeptToo, "6.6-kept-run-again", KEPT),
    (InputTwice, "6.6-input-twice", INPUT_TWICE),
    (KeptAlone, "6.6-input-left-out", LEFT_OUT),
    (NoInputs, "6.6-no-inputs", LEFT_OUT),
    (BeforeForgotten, "6.6-before-forgotten", BEFORE),
];

const AGAIN: &str = "The segment that runs again was forgotten. When the backward pass arrives at \
    it, everything that its layers keep is there, as if nothing had been recomputed. That can be \
    more than what is there at the end of the forward pass.";
const FREED: &str = "The largest segment was added to all that is stored. When the backward pass \
    arrives at a segment, everything behind it has been freed already.";
const INPUTS: &str = "The inputs of the segments were forgotten: a segment can run again only from \
    its input, which lives from the first run on.";
const ALL_INPUTS: &str = "Every recomputed layer was taken to keep its input. Inside a segment \
    only the first does: the other inputs are computed again.";
const ONE: &str = "Of the segment that runs again one layer was counted. It runs again as one \
    piece, and when it has, all its layers' inputs and what they keep are there.";
const INNER: &str = "The inputs inside a segment were forgotten. Computed again they are kept \
    like all else until the backward pass is through.";
const BEGINS: &str = "Only the first layer of each segment was counted. All its layers run again.";
const KEPT: &str = "Layers that keep everything do not run again: they cost no extra operations.";
const INPUT_TWICE: &str = "The input of a segment was counted twice, as stored and as a part of \
    the segment that has run again. It is one tensor.";
const LEFT_OUT: &str = "Inputs were left out. The input of a layer is kept besides what `kept` \
    says: a layer holds `input + kept`.";
const BEFORE: &str = "What is stored of the layers before a segment was forgotten. While the \
    segment runs again, all of that still waits for the backward pass.";
