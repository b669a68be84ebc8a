//! Other right ways to recompute: 6.5.

use engine_room::autograd::{Keep, grad};
use engine_room::nn::Module;
use engine_room::rng::{self, Generator, GeneratorState};
use engine_room::{Tensor, no_grad};

use super::super::again::Kept;
use super::{Other, other};

pub fn alternatives() -> Vec<Other> {
    vec![
        other("6.5", "detaches first", |table| {
            (table.first_run, table.second_run) = (detached, of_a_detached_input);
        }),
        other("6.5", "weights the output and sums", |table| table.second_run = weighted_sum),
        other("6.5", "grad of everything", |table| table.second_run = of_everything),
        other("6.5", "a guard for the generator", |table| table.second_run = guarded),
        other("6.5", "a random state by hand", |table| table.first_run = by_hand),
    ]
}

fn detached(block: &dyn Module, x: &Tensor) -> (Tensor, Kept) {
    let kept = Kept { input: x.detach(), random: rng::get_state() };
    (no_grad(|| block.forward(&kept.input)), kept)
}

fn of_a_detached_input(block: &dyn Module, kept: &Kept, dy: &Tensor) -> Tensor {
    let (x, before) = (kept.input.detach(), rng::get_state());
    let x = x.requires_grad_(true);
    rng::set_state(kept.random);
    let y = block.forward(&x);
    rng::set_state(before);
    y.backward_with(dy);
    let dx = x.grad();
    x.zero_grad();
    dx.expect("a leaf")
}

fn weighted_sum(block: &dyn Module, kept: &Kept, dy: &Tensor) -> Tensor {
    let outside = rng::get_state();
    rng::set_state(kept.random);
    let leaf = kept.input.detach().requires_grad_(true);
    let y = block.forward(&leaf);
    rng::set_state(outside);
    // The gradient of Σ y · dy with respect to y is dy.
    y.mul(dy).sum().backward();
    leaf.grad().expect("the backward pass has been there")
}

/// Asks for the input's gradient and walks once more for the parameters.
fn of_everything(block: &dyn Module, kept: &Kept, dy: &Tensor) -> Tensor {
    let outside = rng::get_state();
    rng::set_state(kept.random);
    let leaf = kept.input.detach().requires_grad_(true);
    let y = block.forward(&leaf);
    rng::set_state(outside);
    let dx = grad(&[&y], &[&leaf], Some(&[dy]), Keep::Graph);
    y.backward_with(dy);
    dx[0].clone().expect("the output depends on the input")
}

struct At(GeneratorState);

impl Drop for At {
    fn drop(&mut self) {
        rng::set_state(self.0);
    }
}

fn guarded(block: &dyn Module, kept: &Kept, dy: &Tensor) -> Tensor {
    let _outside = At(rng::get_state());
    rng::set_state(kept.random);
    let leaf = Tensor::requires_grad_(kept.input.detach(), true);
    let y = block.forward(&leaf);
    y.backward_with(dy);
    leaf.grad().map(|dx| dx.detach()).expect("a leaf")
}

fn by_hand(block: &dyn Module, x: &Tensor) -> (Tensor, Kept) {
    let GeneratorState { seed, drawn } = rng::get_state();
    let y = no_grad(|| block.forward(&x.clone()));
    let random = Generator::from_state(GeneratorState { seed, drawn }).state();
    (y.detach(), Kept { random, input: x.reshape(x.shape()) })
}
