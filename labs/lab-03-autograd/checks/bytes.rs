//! 3.7: the prediction is compared with what the engine's graph holds, for sizes that no program
//! prints.

use engine_room::autograd::Graph;
use engine_room::rng::Generator;
use engine_room::{Tensor, no_grad};
use grading::{Check, Diagnosis, Idea};

use super::super::network::{Network, Sizes};
use super::Implementation;

/// 3.7
pub fn bytes(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    for depth in [2, 1, 3, 0, 5, 0, 1, 4] {
        let sizes = random_sizes(&mut rng, depth);
        for off in [false, true] {
            let want = held(&sizes, off, &mut rng);
            let Sizes { batch, inputs, width, classes, .. } = sizes;
            let called = format!(
                "saved_bytes(batch {batch}, inputs {inputs}, width {width}, depth {depth}, \
                 classes {classes}, no_grad {off})"
            );
            let got = check.call(called.as_str(), || (imp.saved_bytes)(&sizes, off))?;
            judge(check, &called, got, want, &reasons(&sizes, off))?;
        }
    }
    Ok(())
}

/// Sizes of which no two are alike, so that no formula is right by accident.
fn random_sizes(rng: &mut Generator, depth: usize) -> Sizes {
    let batch = 3 + rng.below(6);
    let inputs = 10 + rng.below(10);
    let width = 21 + rng.below(10);
    Sizes { batch, inputs, width, depth, classes: 33 + rng.below(10) }
}

/// What the graph of a real forward pass keeps alive.
fn held(sizes: &Sizes, off: bool, rng: &mut Generator) -> u64 {
    let network = Network::new(sizes, rng);
    let images = Tensor::rand(&[sizes.batch, sizes.inputs], rng);
    let targets = (0..sizes.batch).map(|_| rng.below(sizes.classes) as i64).collect();
    let targets = Tensor::from_vec(targets, &[sizes.batch]);
    let forward = || network.forward(&images).cross_entropy(&targets);
    let loss = if off { no_grad(forward) } else { forward() };
    Graph::of(&loss).activation_bytes()
}

/// A typical reason for a wrong number: by how many bytes it changes the right one.
struct Reason {
    key: &'static str,
    thought: &'static str,
    bytes: i64,
}

/// Finds the reason, or the two reasons, that explain the difference.
fn judge(
    check: &Check,
    called: &str,
    got: u64,
    want: u64,
    reasons: &[Reason],
) -> Result<(), Diagnosis> {
    let whole = |reason: &Reason| Idea {
        key: reason.key,
        thought: reason.thought,
        value: want.saturating_add_signed(reason.bytes),
    };
    let ideas: Vec<Idea<u64>> = reasons.iter().map(whole).collect();
    let Err(diagnosis) = check.equal("saved bytes", called, &got, &want, &ideas) else {
        return Ok(());
    };
    let pairs =
        reasons.iter().enumerate().flat_map(|(i, a)| reasons[..i].iter().map(move |b| (b, a)));
    let fits =
        |(a, b): &(&Reason, &Reason)| want.checked_add_signed(a.bytes + b.bytes) == Some(got);
    match pairs.filter(|(a, b)| a.bytes != 0 && b.bytes != 0).find(fits) {
        Some((a, b)) if diagnosis.thought.is_empty() => {
            let thought = format!("Two things together. {} {}", a.thought, b.thought);
            Err(Diagnosis { key: "3.7-two-reasons".to_owned(), ..diagnosis }.thought(thought))
        }
        _ => Err(diagnosis),
    }
}

fn reasons(sizes: &Sizes, off: bool) -> Vec<Reason> {
    let reason = |key, thought, bytes: i64| Reason { key, thought, bytes };
    let [batch, inputs, width, depth, classes] =
        [sizes.batch, sizes.inputs, sizes.width, sizes.depth, sizes.classes].map(|n| n as i64);
    let row = inputs + depth * width + classes;
    let right = batch * (4 * row + 8);
    if off {
        return vec![reason("3.7-no-grad-ignored", NO_GRAD, right)];
    }
    let widths = [vec![inputs], vec![width; sizes.depth], vec![classes]].concat();
    let weights: Vec<i64> = widths.windows(2).map(|pair| pair[0] * pair[1]).collect();
    let (all, later): (i64, i64) = (weights.iter().sum(), weights[1..].iter().sum());
    let biases = depth * width + classes;
    vec![
        reason("3.7-parameters-counted", PARAMETERS, 4 * (all + biases)),
        reason("3.7-weights-counted", WEIGHTS, 4 * later),
        reason("3.7-weights-counted", WEIGHTS, 4 * all),
        reason("3.7-every-result", EVERY_RESULT, 4 * batch * (2 * depth * width + 2 * classes)),
        reason("3.7-two-holders", TWO_HOLDERS, 4 * batch * depth * width),
        reason("3.7-layer-forgotten", LAYER, -4 * batch * width * depth.min(1)),
        reason("3.7-inputs-forgotten", INPUTS, -4 * batch * inputs),
        reason("3.7-targets-of-four-bytes", TARGETS_OF_FOUR, -4 * batch),
        reason("3.7-one-target", ONE_TARGET, -8 * (batch - 1)),
        reason("3.7-targets-forgotten", TARGETS, -8 * batch),
        reason("3.7-loss-forgotten", LOSS, -4 * batch * classes),
        reason("3.7-logits-too", LOGITS, 4 * batch * classes),
        reason("3.7-numbers-not-bytes", NUMBERS, batch * (row + 1) - right),
        reason("3.7-one-row", ONE_ROW, right / batch - right),
        reason("3.7-doubled", DOUBLED, right),
    ]
}

const NO_GRAD: &str = "That is what is kept while recording is on. Inside no_grad no node is \
    made, and what nobody holds is freed as soon as the next layer has used it.";
const PARAMETERS: &str = "That counts the weights and biases too. They live on because the \
    network has them, not because of the graph; the question is what the backward pass costs on \
    top.";
const EVERY_RESULT: &str = "That counts every result along the way. A result is kept only if \
    some backward pass asks for its numbers; adding a bias asks for none.";
const WEIGHTS: &str = "That counts weights. A product does hold its weights for the gradient of \
    its input, and the table lists them; but they are parameters, which live on in the network \
    in any case, and parameters do not count.";
const TWO_HOLDERS: &str = "That counts each hidden layer twice. What goes into a relu is not \
    kept: its backward pass asks for its result alone. And that result is the input that the \
    next product saves: two holders, one storage.";
const LAYER: &str = "One hidden layer is missing. The last one counts as well: its relu saves \
    its result, and the output layer's product takes it as input. With depth hidden layers \
    there are depth such tensors.";
const ONE_TARGET: &str = "That counts one target for the whole batch. Every row has a target of \
    its own, 8 bytes each.";
const INPUTS: &str = "The images are missing. The first product saves its input, for the \
    gradient of its weights, although nobody asks for a gradient of the images.";
const TARGETS_OF_FOUR: &str = "Targets are i64 and have 8 bytes each, not 4.";
const TARGETS: &str = "The targets are missing: the loss saves which class to look up in each \
    row, 8 bytes a row.";
const LOSS: &str = "What the loss keeps is missing: log_softmax saves its result, (batch, \
    classes).";
const LOGITS: &str = "That counts the logits as well as their log-softmax. The backward pass of \
    log_softmax asks for its result alone.";
const NUMBERS: &str = "That counts numbers. An f32 takes 4 bytes and an i64 takes 8.";
const ONE_ROW: &str = "That is one row of the batch. Every row keeps its own numbers.";
const DOUBLED: &str = "That is twice what is kept. Gradients are no part of it: they are made \
    during the backward pass, and the question is what waits for it.";
