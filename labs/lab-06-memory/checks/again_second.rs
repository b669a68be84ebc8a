//! 6.5: the second run alone.

use engine_room::Tensor;
use engine_room::rng::{Generator, get_state, manual_seed};
use grading::diagnosis::key;
use grading::{Check, Diagnosis};

use super::Implementation;
use super::again_blocks::{Plain, Sample, bits, gradients, plain};
use super::recompute::{input, names, of_a_panic};

/// What the two runs are given.
struct Case {
    called: String,
    leaf: Tensor,
    x: Tensor,
    dy: Tensor,
}

/// A block's input and the gradient of its output, with the generator at a place of its own.
fn case(check: &Check, rng: &mut Generator, sample: &Sample, gradients_before: bool) -> Case {
    let block = sample.block.as_ref();
    let (leaf, x) = input(rng, &sample.shape);
    let dy = Tensor::randn(&sample.shape, rng);
    manual_seed(check.seed() + 1);
    block.zero_grad(true);
    if gradients_before {
        block.forward(&x.detach()).sum().backward();
    }
    let which = if gradients_before { "with gradients" } else { "without gradients" };
    let called = format!(
        "second_run({}, its parameters {which}, kept by first_run of x {:?}, dy)",
        sample.name, sample.shape
    );
    Case { called, leaf, x, dy }
}

/// What was there before the second run.
struct Before {
    case: Case,
    /// The gradients of the parameters.
    there: Vec<Option<Vec<f32>>>,
}

/// Both runs of a block, and what the second of them has left behind.
pub fn second(
    imp: &Implementation,
    check: &mut Check,
    rng: &mut Generator,
    sample: &Sample,
    gradients_before: bool,
) -> Result<(), Diagnosis> {
    let block = sample.block.as_ref();
    let Case { called, leaf, x, dy } = case(check, rng, sample, gradients_before);
    let started = get_state();
    let (_, kept) = check.call(called.as_str(), || (imp.first_run)(block, &x))?;
    // Other layers draw meanwhile.
    engine_room::rng::with_default(|generator| generator.skip(1_000));
    let now = get_state();
    let want = plain(block, &x, &dy, started);
    let elsewhere = plain(block, &x, &dy, now);
    let unweighted = plain(block, &x, &Tensor::ones(&sample.shape), started);
    let before = Before { case: Case { called, leaf, x, dy }, there: gradients(block) };
    sample.runs.take();
    let dx = check
        .call(before.case.called.as_str(), || (imp.second_run)(block, &kept, &before.case.dy))
        .map_err(of_a_panic)?;
    let (runs, left) = (sample.runs.take(), get_state());
    let fault = |key: &str, got: String, expected: &str, thought: &str| {
        let diagnosis = Diagnosis::new(key).called(before.case.called.as_str()).got(got);
        Err(diagnosis.expected(expected).thought(thought))
    };
    if runs.len() != 1 {
        let got = format!("the block ran {} times", runs.len());
        return fault("6.5-runs", got, "one run", "The second run is one run of the block.");
    }
    if before.case.leaf.grad().is_some() {
        let got = "a gradient at what the input was computed from".to_owned();
        return fault("6.5-walks-on", got, "none: the backward pass is not there yet", WALKS_ON);
    }
    of_input(&before, &dx, [&want, &elsewhere, &unweighted])?;
    of_parameters(&before, sample, &want)?;
    if left != now {
        let got = format!("the generator afterwards: {} numbers drawn", left.drawn);
        let expected = format!("{} numbers drawn, as before the call", now.drawn);
        return fault("6.5-generator-left", got, &expected, LEFT);
    }
    Ok(())
}

/// The gradient of the input is that of the first of these runs; the second had other random
/// numbers, and the third a dy of ones.
fn of_input(before: &Before, dx: &Tensor, runs: [&Plain; 3]) -> Result<(), Diagnosis> {
    let same = |run: &Plain| dx.shape() == run.dx.shape() && bits(dx) == bits(&run.dx);
    let [want, elsewhere, unweighted] = runs;
    let (key, thought) = match () {
        () if same(want) => return Ok(()),
        () if same(elsewhere) => ("6.5-other-mask", OTHER_MASK),
        () if same(unweighted) => ("6.5-dy-ignored", IGNORED),
        () => (key::WRONG_VALUE, ""),
    };
    Err(Diagnosis::new(key)
        .called(before.case.called.as_str())
        .got(format!("dx {:?} with other numbers than the plain run's", dx.shape()))
        .expected(format!("dx {:?}, bit by bit that of the plain run", before.case.x.shape()))
        .thought(thought))
}

fn of_parameters(before: &Before, sample: &Sample, want: &Plain) -> Result<(), Diagnosis> {
    let got = gradients(sample.block.as_ref());
    let names = names(sample.block.as_ref());
    for (at, name) in names.iter().enumerate() {
        let (there, new) = (&before.there[at], &want.gradients[at]);
        let Some(new) = new else { continue };
        let sum = |times: f32| -> Vec<f32> {
            let old = there.clone().unwrap_or_else(|| vec![0.0; new.len()]);
            old.iter().zip(new).map(|(a, b)| a + times * b).collect()
        };
        let (key, thought) = match &got[at] {
            Some(it) if *it == sum(1.0) => continue,
            None => ("6.5-parameters", PARAMETERS),
            it if it == there => ("6.5-parameters", PARAMETERS),
            Some(it) if *it == sum(2.0) => ("6.5-twice", TWICE),
            Some(it) if it == new => ("6.5-overwritten", OVERWRITTEN),
            Some(_) => (key::WRONG_VALUE, ""),
        };
        let was = if there.is_some() { "what was there, and the new one" } else { "the new one" };
        return Err(Diagnosis::new(key)
            .called(before.case.called.as_str())
            .got(format!("the gradient of {name}: {}", shown(got[at].as_deref())))
            .expected(format!("{was}: {}", shown(Some(&sum(1.0)))))
            .thought(thought));
    }
    Ok(())
}

/// The first numbers.
fn shown(values: Option<&[f32]>) -> String {
    match values {
        None => "none".to_owned(),
        Some(values) if values.len() > 4 => format!("{:?} and so on", &values[..4]),
        Some(values) => format!("{values:?}"),
    }
}

const WALKS_ON: &str = "The backward pass went on into the graph in front of the block. The walk \
    outside will go there, too, and then these gradients come twice. The second run starts from a \
    leaf of its own: `kept.input.detach()`.";
const OTHER_MASK: &str = "The second run drew other random numbers than the first one, so its \
    dropout has another mask: the gradient belongs to an output that nobody has seen. Set the \
    generator to `kept.random` before the block runs.";
const IGNORED: &str = "That is the gradient for a dy of ones. The gradient that comes in weights \
    every number of the output: `y.backward_with(dy)`.";
const PARAMETERS: &str = "The parameters of the block got no gradient. Nobody else computes it: in \
    the graph outside, the whole block is one operation of its input. A backward pass through the \
    second run, not `grad` of the input alone, leaves it there.";
const TWICE: &str = "The gradients of the parameters were added twice.";
const OVERWRITTEN: &str = "The gradients that were there are gone. A backward pass adds to them: \
    the parameters may be used elsewhere, and several batches may make one step.";
const LEFT: &str = "The generator was left where the second run had set it or taken it. The next \
    forward pass would draw numbers that were drawn already, and a training with recomputation \
    would not be the one without. Read the state first, and put it back when the block has run.";
