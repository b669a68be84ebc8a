//! 6.5: the first run alone, the second run alone, and whole models. Two runs of one block are
//! compared bit by bit.

use std::sync::Arc;

use engine_room::nn::Module;
use engine_room::rng::{Generator, get_state, manual_seed, set_state};
use engine_room::{Tensor, no_grad};
use grading::diagnosis::key;
use grading::{Check, Diagnosis};

use super::super::again::Kept;
use super::Implementation;
use super::again_blocks::{Sample, bits, samples};
use super::again_model::models;
use super::again_second::second;

/// 6.5
pub fn recompute(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    for sample in samples(&mut rng) {
        let (_, x) = input(&mut rng, &sample.shape);
        manual_seed(check.seed());
        // Somewhere in the stream, as in a training.
        engine_room::rng::with_default(|generator| generator.skip(40));
        first(imp, check, &sample, &x)?;
    }
    for sample in samples(&mut rng) {
        for gradients_before in [false, true] {
            second(imp, check, &mut rng, &sample, gradients_before)?;
        }
    }
    models(imp, check, &mut rng)
}

/// A leaf, and an input that was computed from it.
pub fn input(rng: &mut Generator, shape: &[usize]) -> (Tensor, Tensor) {
    let leaf = Tensor::randn(shape, rng).requires_grad_(true);
    let x = leaf.mul_scalar(0.5);
    (leaf, x)
}

fn first(
    imp: &Implementation,
    check: &mut Check,
    sample: &Sample,
    x: &Tensor,
) -> Result<(), Diagnosis> {
    let called = format!("first_run({}, x {:?})", sample.name, x.shape());
    let before = get_state();
    let want = no_grad(|| sample.block.forward(x));
    let after = get_state();
    set_state(before);
    sample.runs.take();
    let block = sample.block.as_ref();
    let (y, kept) =
        check.call(called.as_str(), || (imp.first_run)(block, x)).map_err(of_a_panic)?;
    let moved = get_state();
    one_unrecorded_run(&called, &sample.runs.take(), &y)?;
    let fault = |key: &str, got: String, expected: &str, thought: &str| {
        Err(fault(&called, key, got, expected, thought))
    };
    if y.shape() != want.shape() || bits(&y) != bits(&want) {
        let got = format!("y {:?} with other numbers than block.forward(x)", y.shape());
        return fault(key::WRONG_VALUE, got, "the numbers of block.forward(x)", OUTPUT);
    }
    if kept.random != before {
        let drawn = |it| format!("{it} numbers drawn");
        let thought = if kept.random == after { AFTER } else { "" };
        let key = if kept.random == after { "6.5-random-after" } else { key::WRONG_VALUE };
        let got = format!("random: {}", drawn(kept.random.drawn));
        return fault(key, got, &format!("random: {}", drawn(before.drawn)), thought);
    }
    if moved != after {
        let got = format!("the generator afterwards: {} numbers drawn", moved.drawn);
        let expected = format!("{} numbers drawn, as after block.forward(x)", after.drawn);
        return fault("6.5-generator-set-back", got, &expected, SET_BACK);
    }
    kept_input(x, &kept).map_or(Ok(()), |(key, got, thought)| {
        fault(key, got.to_owned(), "the input itself", thought)
    })
}

fn fault(called: &str, key: &str, got: String, expected: &str, thought: &str) -> Diagnosis {
    Diagnosis::new(key).called(called).got(got).expected(expected).thought(thought)
}

/// The block ran once, and nothing was recorded of it.
fn one_unrecorded_run(called: &str, runs: &[bool], y: &Tensor) -> Result<(), Diagnosis> {
    let fault = |key: &str, got: String, expected: &str, thought: &str| {
        Err(fault(called, key, got, expected, thought))
    };
    if runs.len() != 1 {
        let (key, got) = ("6.5-runs", format!("the block ran {} times", runs.len()));
        return fault(if runs.is_empty() { "6.5-no-run" } else { key }, got, "one run", RUNS);
    }
    if y.is_inference() {
        let got = "an output that was made in inference mode".to_owned();
        return fault("6.5-inference", got, "an output that a graph can save", INFERENCE);
    }
    if runs[0] {
        let got = "a run that was recorded".to_owned();
        let key = if y.requires_grad() { "6.5-first-recorded" } else { "6.5-detached-late" };
        return fault(key, got, "a run that records nothing", RECORDED);
    }
    Ok(())
}

fn kept_input(x: &Tensor, kept: &Kept) -> Option<(&'static str, &'static str, &'static str)> {
    let is_input = kept.input.shape() == x.shape() && bits(&kept.input) == bits(x);
    match Arc::ptr_eq(kept.input.storage(), x.storage()) {
        true if is_input => None,
        false if is_input => Some(("6.5-input-copied", "a copy of the input", COPIED)),
        _ => Some(("6.5-input-other", "another tensor than the input", OTHER)),
    }
}

/// What the engine has to say against a run.
pub fn of_a_panic(panic: Diagnosis) -> Diagnosis {
    let reasons = [
        ("only a leaf", "6.5-not-a-leaf", NOT_A_LEAF),
        ("does not depend on anything", "6.5-second-not-recorded", NOT_RECORDED),
        ("without dy only", "6.5-dy-forgotten", WITHOUT_DY),
        ("inference", "6.5-inference", INFERENCE),
        ("requires no gradient, so nothing", "6.5-no-leaf", NO_LEAF),
        ("`None`", "6.5-no-leaf", NO_LEAF),
    ];
    match reasons.into_iter().find(|(words, ..)| panic.got.contains(words)) {
        Some((_, key, thought)) if panic.key == key::PANICKED => {
            Diagnosis { key: key.to_owned(), ..panic }.thought(thought)
        }
        _ => panic,
    }
}

/// The names of a module's parameters.
pub fn names(module: &dyn Module) -> Vec<String> {
    module.named_parameters().into_iter().map(|(name, _)| name).collect()
}

const RUNS: &str = "The block is to run once in each of the two runs. Each further run costs its \
    operations again, and moves the generator on.";
const INFERENCE: &str = "`inference_mode` makes tensors that no graph may ever save, and layers \
    behind this block save its output. `no_grad` records nothing either, without such a promise.";
const RECORDED: &str = "The first run was recorded. Then everything that the block keeps is there \
    until the run has ended, which is what recomputation is to avoid: run the block inside \
    `no_grad(|| ..)`. To detach the output afterwards comes too late for the peak.";
const OUTPUT: &str = "The first run is the forward pass of the block, and nothing else.";
const AFTER: &str = "The random state was read when the first run had drawn from it already. The \
    second run must start where the first one started.";
const SET_BACK: &str = "The generator was put back after the first run. Then the next block draws \
    the same numbers once more, and its dropout has the same mask.";
const COPIED: &str = "The input was copied. It lives on anyway as long as it is kept: a handle on \
    it costs nothing, a copy all its bytes.";
const OTHER: &str = "A block can be run again from its input only.";
const NOT_A_LEAF: &str = "The kept input is the result of earlier layers. The second run wants a \
    tensor of its own in its place: same numbers, outside that graph. `detach` gives one.";
const NOT_RECORDED: &str = "The second run was not recorded, so there is no graph to walk back \
    through. It is the one that has to be recorded: run it without `no_grad`.";
const WITHOUT_DY: &str = "The backward pass of a block does not start from a loss, but from the \
    gradient that comes in: `y.backward_with(dy)`.";
const NO_LEAF: &str = "The input of the second run asks for no gradient of its own, so none was \
    left there. `kept.input.detach().requires_grad_(true)` is a leaf that does.";
