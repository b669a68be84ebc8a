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
            check.equal("saved bytes", &called, &got, &want, &ideas(&sizes, off, want))?;
        }
    }
    Ok(())
}

/// Sizes of which no two are alike, so that no formula is right by accident.
fn random_sizes(rng: &mut Generator, depth: usize) -> Sizes {
    let batch = 2 + rng.below(6);
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

fn ideas(sizes: &Sizes, off: bool, want: u64) -> Vec<Idea<u64>> {
    let Sizes { batch, inputs, width, depth, classes } = *sizes;
    let idea = |key, thought, value: usize| Idea { key, thought, value: value as u64 };
    let row = inputs + depth * width + classes;
    let right = batch * (4 * row + 8);
    if off {
        return vec![idea("3.7-no-grad-ignored", NO_GRAD, right)];
    }
    let widths = [vec![inputs], vec![width; depth], vec![classes]].concat();
    let parameters: usize = widths.windows(2).map(|pair| pair[0] * pair[1] + pair[1]).sum();
    vec![
        idea("3.7-parameters-counted", PARAMETERS, right + 4 * parameters),
        idea(
            "3.7-every-result",
            EVERY_RESULT,
            right + 4 * batch * (2 * depth * width + 2 * classes),
        ),
        idea("3.7-two-holders", TWO_HOLDERS, right + 4 * batch * depth * width),
        idea("3.7-inputs-forgotten", INPUTS, right - 4 * batch * inputs),
        idea("3.7-targets-of-four-bytes", TARGETS_OF_FOUR, right - 4 * batch),
        idea("3.7-targets-forgotten", TARGETS, right - 8 * batch),
        idea("3.7-loss-forgotten", LOSS, right - 4 * batch * classes),
        idea("3.7-logits-too", LOGITS, right + 4 * batch * classes),
        idea("3.7-numbers-not-bytes", NUMBERS, batch * row + batch),
        idea("3.7-one-row", ONE_ROW, right / batch),
        idea("3.7-doubled", DOUBLED, 2 * want as usize),
    ]
}

const NO_GRAD: &str = "That is what is kept while recording is on. Inside no_grad no node is \
    made, and what nobody holds is freed as soon as the next layer has used it.";
const PARAMETERS: &str = "That counts the weights and biases too. They live on because the \
    network has them, not because of the graph; the question is what the backward pass costs on \
    top.";
const EVERY_RESULT: &str = "That counts every result along the way. A result is kept only if \
    some backward pass asks for its numbers; adding a bias asks for none.";
const TWO_HOLDERS: &str = "That counts the hidden activations twice. The relu saves its result \
    and the next product saves its input: they are one tensor, and one storage.";
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
