//! 6.5: whole models with blocks that run twice, beside the same models without.

use std::sync::Arc;

use engine_room::Tensor;
use engine_room::nn::{Linear, Module};
use engine_room::rng::{Generator, get_state, manual_seed};
use grading::{Check, Diagnosis};

use super::super::again::Again;
use super::Implementation;
use super::again_blocks::{bits, gradients, samples};
use super::recompute::{names, of_a_panic};

/// What a step of training leaves behind.
type Left = (Vec<u32>, Vec<Option<Vec<f32>>>, u64);

/// Each block, twice in a row, behind a linear layer and at the front of a model.
pub fn models(
    imp: &Implementation,
    check: &mut Check,
    rng: &mut Generator,
) -> Result<(), Diagnosis> {
    for in_front in [false, true] {
        for (sample, other) in samples(rng).into_iter().zip(samples(rng)) {
            // The other one has a shape of its own, so both are of one kind and width.
            let width = sample.shape[sample.shape.len() - 1];
            let first = Linear::new(width, width, true, rng);
            let x = Tensor::randn(&sample.shape, rng);
            let again = |block: &Arc<dyn Module>| -> Arc<dyn Module> {
                Arc::new(Again::new(block.clone(), imp.first_run, imp.second_run))
            };
            let place = if in_front { "at the front" } else { "behind a linear layer" };
            let called = format!("a model with {}, twice, {place}, both recomputed", sample.name);
            let plain = [sample.block.clone(), other.block.clone()];
            let twice = [again(&sample.block), again(&other.block)];
            let front = if in_front { None } else { Some(&first) };
            let seed = check.seed();
            let want = step(front, &plain, &x, seed);
            let got = check
                .call(called.as_str(), || step(front, &twice, &x, seed))
                .map_err(of_a_panic)?;
            let same = [got.0 == want.0, got.1 == want.1, got.2 == want.2];
            let what = ["the output", "the gradients", "the place of the generator"];
            if let Some(at) = same.iter().position(|same| !same) {
                let listed = names(sample.block.as_ref()).join(", ");
                return Err(Diagnosis::new("6.5-in-a-model")
                    .called(called)
                    .got(format!("{}, other than without recomputation", what[at]))
                    .expected(format!("the same, bit by bit (parameters: {listed})"))
                    .thought(IN_A_MODEL));
            }
        }
    }
    Ok(())
}

fn step(front: Option<&Linear>, blocks: &[Arc<dyn Module>], x: &Tensor, seed: u64) -> Left {
    manual_seed(seed);
    let modules = || {
        let front = front.into_iter().map(|linear| linear as &dyn Module);
        front.chain(blocks.iter().map(|block| block.as_ref()))
    };
    modules().for_each(|module| module.zero_grad(true));
    let y = modules().fold(x.clone(), |x, module| module.forward(&x));
    y.square().sum().backward();
    let found = modules().flat_map(gradients).collect();
    (bits(&y), found, get_state().drawn)
}

const IN_A_MODEL: &str = "Each run alone is right, and together in a model they are not. What one \
    run leaves behind, the other one or the next block begins with: the generator and the kept \
    input.";
