//! Wrong ways to recompute: 6.5.

use engine_room::autograd::{self, Keep, grad};
use engine_room::nn::Module;
use engine_room::{Tensor, inference_mode, no_grad, rng};

use super::super::again::{FirstRun, Kept, SecondRun};
use super::super::solution;
use super::{Wrong, wrong};

pub fn mistakes() -> Vec<Wrong> {
    let mut all = of_the_first_run();
    all.extend(of_the_second_run());
    all.extend(of_the_backward_pass());
    all.extend(of_the_generator());
    all
}

fn first(diagnosis: &'static str, name: &'static str, f: FirstRun) -> Wrong {
    wrong("6.5", diagnosis, name, |table| table.first_run = f)
}

fn second(diagnosis: &'static str, name: &'static str, f: SecondRun) -> Wrong {
    wrong("6.5", diagnosis, name, |table| table.second_run = f)
}

fn of_the_first_run() -> Vec<Wrong> {
    vec![
        first("6.5-first-recorded", "records", |block, x| {
            let random = rng::get_state();
            (block.forward(x), Kept { input: x.clone(), random })
        }),
        first("6.5-detached-late", "detaches afterwards", |block, x| {
            let random = rng::get_state();
            (block.forward(x).detach(), Kept { input: x.clone(), random })
        }),
        first("6.5-inference", "in inference mode", |block, x| {
            let random = rng::get_state();
            (inference_mode(|| block.forward(x)), Kept { input: x.clone(), random })
        }),
        first("6.5-input-copied", "copies the input", |block, x| {
            let random = rng::get_state();
            (no_grad(|| block.forward(x)), Kept { input: x.copy(), random })
        }),
        first("6.5-input-other", "keeps the output", |block, x| {
            let random = rng::get_state();
            let y = no_grad(|| block.forward(x));
            (y.clone(), Kept { input: y, random })
        }),
        first("6.5-no-run", "does not run", |_, x| {
            (x.clone(), Kept { input: x.clone(), random: rng::get_state() })
        }),
    ]
}

/// The second run with one step of it changed.
fn run(block: &dyn Module, kept: &Kept, back: impl FnOnce(&Tensor, &Tensor) -> Tensor) -> Tensor {
    let before = rng::get_state();
    rng::set_state(kept.random);
    let x = kept.input.detach().requires_grad_(true);
    let y = block.forward(&x);
    rng::set_state(before);
    back(&x, &y)
}

fn of_the_second_run() -> Vec<Wrong> {
    vec![
        second("6.5-not-a-leaf", "no detach", |block, kept, dy| {
            let x = kept.input.clone().requires_grad_(true);
            block.forward(&x).backward_with(dy);
            x.grad().unwrap()
        }),
        second("6.5-no-leaf", "no requires_grad_", |block, kept, dy| {
            let before = rng::get_state();
            rng::set_state(kept.random);
            let x = kept.input.detach();
            block.forward(&x).backward_with(dy);
            rng::set_state(before);
            x.grad().unwrap()
        }),
        second("6.5-walks-on", "walks into the graph in front", |block, kept, dy| {
            let before = rng::get_state();
            rng::set_state(kept.random);
            let y = block.forward(&kept.input);
            rng::set_state(before);
            let dx = grad(&[&y], &[&kept.input], Some(&[dy]), Keep::Graph);
            y.backward_with(dy);
            dx[0].clone().unwrap()
        }),
    ]
}

fn of_the_backward_pass() -> Vec<Wrong> {
    vec![
        second("6.5-parameters", "grad of the input alone", |block, kept, dy| {
            run(block, kept, |x, y| {
                grad(&[y], &[x], Some(&[dy]), Keep::Nothing)[0].clone().unwrap()
            })
        }),
        second("6.5-dy-ignored", "sums the output", |block, kept, _| {
            run(block, kept, |x, y| {
                y.sum().backward();
                x.grad().unwrap()
            })
        }),
        second("6.5-dy-forgotten", "backward without dy", |block, kept, _| {
            run(block, kept, |x, y| {
                y.backward();
                x.grad().unwrap()
            })
        }),
        second("6.5-second-not-recorded", "in no_grad", |block, kept, dy| {
            let x = kept.input.detach().requires_grad_(true);
            no_grad(|| block.forward(&x)).backward_with(dy);
            x.grad().unwrap()
        }),
        second("6.5-twice", "walks twice", |block, kept, dy| {
            run(block, kept, |x, y| {
                autograd::backward(y, Some(dy), Keep::Graph);
                let dx = x.grad().unwrap();
                x.zero_grad();
                y.backward_with(dy);
                dx
            })
        }),
        second("6.5-overwritten", "zeroes the gradients", |block, kept, dy| {
            block.zero_grad(true);
            solution::second_run(block, kept, dy)
        }),
        second("6.5-runs", "runs once to look", |block, kept, dy| {
            drop(no_grad(|| block.forward(&kept.input)));
            solution::second_run(block, kept, dy)
        }),
    ]
}

fn of_the_generator() -> Vec<Wrong> {
    vec![
        first("6.5-random-after", "reads the state afterwards", |block, x| {
            let y = no_grad(|| block.forward(x));
            (y, Kept { input: x.clone(), random: rng::get_state() })
        }),
        first("6.5-generator-set-back", "puts the generator back", |block, x| {
            let random = rng::get_state();
            let y = no_grad(|| block.forward(x));
            rng::set_state(random);
            (y, Kept { input: x.clone(), random })
        }),
        second("6.5-other-mask", "leaves the generator alone", |block, kept, dy| {
            let before = rng::get_state();
            let x = kept.input.detach().requires_grad_(true);
            block.forward(&x).backward_with(dy);
            rng::set_state(before);
            x.grad().unwrap()
        }),
        second("6.5-generator-left", "does not put it back", |block, kept, dy| {
            rng::set_state(kept.random);
            let x = kept.input.detach().requires_grad_(true);
            block.forward(&x).backward_with(dy);
            x.grad().unwrap()
        }),
    ]
}
