//! More of recomputation, beside a plain run: inputs without gradients, captured state, changes in
//! place, modes around it and inside it, the same function twice, a graph that is kept.

#[path = "engine/refused.rs"]
mod refused;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use engine_room::amp::autocast;
use engine_room::autograd::Graph;
use engine_room::nn::{Dropout, Linear, Module, Recomputed, Sequential, Tanh};
use engine_room::rng::{self, Generator, manual_seed};
use engine_room::{DType, Tensor, inference_mode, no_grad, recompute};
use refused::refused;

fn bits(x: &Tensor) -> Vec<u32> {
    x.to(DType::F32).to_vec::<f32>().into_iter().map(f32::to_bits).collect()
}

fn random(seed: u64, shape: &[usize]) -> Tensor {
    Tensor::randn(shape, &mut Generator::new(seed))
}

/// f plainly or recomputed.
fn call(
    recomputed: bool,
    f: impl Fn(&[Tensor]) -> Tensor + Send + Sync + 'static,
    inputs: &[&Tensor],
) -> Tensor {
    let plain: Vec<Tensor> = inputs.iter().map(|&x| x.clone()).collect();
    if recomputed { recompute(f, inputs) } else { f(&plain) }
}

#[test]
fn inputs_without_gradients_and_a_captured_parameter_with_one() {
    let run = |recomputed: bool| {
        let w = random(1, &[4, 4]).requires_grad_(true);
        let (x, mask) = (random(2, &[3, 4]), Tensor::from_vec(vec![1i64, 0, 1, 1], &[4]));
        let captured = w.clone();
        let f = move |x: &[Tensor]| x[0].matmul(&captured).tanh().mul(&x[1].to(DType::F32)).exp();
        let y = call(recomputed, f, &[&x, &mask]);
        y.sum().backward();
        assert!(x.grad().is_none() && mask.grad().is_none());
        (bits(&y), bits(&w.grad().unwrap()))
    };
    assert_eq!(run(false), run(true));
}

#[test]
fn an_input_that_is_given_twice_gets_both_gradients() {
    let run = |recomputed: bool| {
        let x = random(1, &[5]).requires_grad_(true);
        let y = call(recomputed, |x| x[0].exp().mul(&x[1].tanh()), &[&x, &x]);
        y.mul(&x).sum().backward();
        bits(&x.grad().unwrap())
    };
    assert_eq!(run(false), run(true));
}

#[test]
fn one_function_in_two_regions() {
    let run = |recomputed: bool| {
        manual_seed(9);
        let x = random(1, &[20]).requires_grad_(true);
        let f = |x: &[Tensor]| Dropout::new(0.4).forward(&x[0].exp()).tanh();
        let first = call(recomputed, f, &[&x]);
        let second = call(recomputed, f, &[&first]);
        // The second region goes first, and each has its own random state.
        second.add(&first).sum().backward();
        (bits(&second), bits(&x.grad().unwrap()), rng::get_state())
    };
    assert_eq!(run(false), run(true));
}

#[test]
fn no_grad_and_inference_inside_a_region_are_so_again() {
    let run = |recomputed: bool| {
        let x = random(1, &[6]).requires_grad_(true);
        let f = |x: &[Tensor]| {
            let scale = no_grad(|| x[0].exp().sum());
            let shift = inference_mode(|| x[0].mean());
            x[0].tanh().mul(&scale).add(&shift).exp()
        };
        let y = call(recomputed, f, &[&x]);
        no_grad(|| drop(y.exp()));
        y.sum().backward();
        bits(&x.grad().unwrap())
    };
    assert_eq!(run(false), run(true));
    let x = random(1, &[6]).requires_grad_(true);
    assert!(!inference_mode(|| recompute(|x| x[0].exp(), &[&x])).requires_grad());
}

#[test]
fn a_region_inside_autocast_and_autocast_inside_a_region() {
    let run = |recomputed: bool| {
        let (x, w) = (random(1, &[4, 8]).requires_grad_(true), random(2, &[8, 8]));
        let w = w.requires_grad_(true);
        let captured = w.clone();
        let f = move |x: &[Tensor]| {
            let y = autocast(DType::F16, || x[0].matmul(&captured));
            // Outside of it again: whatever was on when the region was first run.
            y.to(DType::F32).matmul(&captured).tanh().to(DType::F32)
        };
        let y = autocast(DType::BF16, || call(recomputed, f, &[&x]));
        autocast(DType::F16, || y.exp().sum().backward());
        [bits(&y), bits(&x.grad().unwrap()), bits(&w.grad().unwrap())]
    };
    assert_eq!(run(false), run(true));
}

#[test]
fn what_is_changed_in_place_inside_is_made_anew() {
    let run = |recomputed: bool| {
        let x = random(1, &[6]).requires_grad_(true);
        let f = |x: &[Tensor]| {
            let y = x[0].mul_scalar(2.0);
            y.add_(&x[0], 3.0);
            y.exp().mul(&y)
        };
        let y = call(recomputed, f, &[&x]);
        y.sum().backward();
        bits(&x.grad().unwrap())
    };
    assert_eq!(run(false), run(true));
}

/// PyTorch computes with the changed numbers here, without a word.
#[test]
fn a_function_that_changes_its_input_is_refused() {
    let x = random(1, &[6]).requires_grad_(true);
    let input = x.mul_scalar(1.0);
    let f = |x: &[Tensor]| {
        x[0].mul_(&Tensor::full(&[6], 2.0));
        x[0].exp().tanh()
    };
    let y = recompute(f, &[&input]);
    let refusal = refused(|| y.sum().backward());
    assert!(refusal.message.contains("changed in place since, last by mul"), "{refusal}");
}

/// What f counts, draws or remembers outside the thread's generator is its own affair: the graph
/// is filled with what the second run saves. What it saves in another shape is found out.
#[test]
fn state_outside_the_generator_is_not_restored() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let x = Tensor::ones(&[2]).requires_grad_(true);
    let f = move |x: &[Tensor]| {
        let scale = 1.0 + counted.fetch_add(1, Ordering::Relaxed) as f64;
        let y = x[0].mul_scalar(scale);
        y.mul(&y)
    };
    let y = recompute(f, &[&x]);
    assert_eq!(y.to_vec::<f32>(), [1.0, 1.0], "the first run, with scale 1");
    y.sum().backward();
    // dy/dx = 2 · (scale of the second run) · x · (scale that the first run's node has).
    assert_eq!(x.grad().unwrap().to_vec::<f32>(), [4.0, 4.0]);
    assert_eq!(calls.load(Ordering::Relaxed), 2);
}

#[test]
fn a_kept_graph_runs_the_region_once_more_only() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let x = random(1, &[6]).requires_grad_(true);
    let f = move |x: &[Tensor]| {
        counted.fetch_add(1, Ordering::Relaxed);
        x[0].exp().tanh().exp()
    };
    let y = recompute(f, &[&x]).sum();
    for _ in 0..3 {
        y.backward_retain_graph();
    }
    assert_eq!(calls.load(Ordering::Relaxed), 2, "what was filled stays as long as the graph");
    y.backward();
    let refusal = refused(|| y.backward());
    assert!(refusal.message.contains("backward_retain_graph"), "{refusal}");
}

#[test]
fn a_region_in_a_region_in_a_region() {
    let run = |depth: usize| {
        manual_seed(4);
        let x = random(1, &[8]).requires_grad_(true);
        let inner = |x: &[Tensor]| Dropout::new(0.3).forward(&x[0].exp().tanh());
        let middle = move |x: &[Tensor]| call(depth > 2, inner, &[&x[0].sin()]).mul(&x[0]);
        let outer = move |x: &[Tensor]| call(depth > 1, middle, &[&x[0].exp()]).tanh();
        let y = call(depth > 0, outer, &[&x]);
        y.sum().backward();
        (bits(&y), bits(&x.grad().unwrap()), rng::get_state())
    };
    let plain = run(0);
    for depth in 1..=3 {
        assert_eq!(run(depth), plain, "depth {depth}");
    }
}

#[test]
fn modules_in_evaluation_and_frozen_ones() {
    let run = |recomputed: bool| {
        let mut generator = Generator::new(3);
        let linear = Linear::new(6, 6, true, &mut generator);
        let inner = Sequential::new().append(linear).append(Tanh).append(Dropout::new(0.5));
        inner.eval();
        inner.parameters()[1].get().requires_grad_(false);
        let model: Box<dyn Module> =
            if recomputed { Box::new(Recomputed::new(inner)) } else { Box::new(inner) };
        let x = random(2, &[3, 6]);
        let y = model.forward(&x);
        y.exp().sum().backward();
        let gradients = model.parameters().into_iter().map(|it| it.get().grad());
        (bits(&y), gradients.map(|dx| dx.map(|dx| bits(&dx))).collect::<Vec<_>>())
    };
    assert_eq!(run(false), run(true));
}

#[test]
fn nothing_of_no_elements_and_nothing_saved() {
    let x = Tensor::zeros(&[0, 4]).requires_grad_(true);
    recompute(|x| x[0].exp().tanh(), &[&x]).sum().backward();
    assert_eq!(x.grad().unwrap().shape(), [0, 4]);
    let x = random(1, &[3]).requires_grad_(true);
    let y = recompute(|x| x[0].add(&x[0]).neg(), &[&x]);
    assert_eq!(Graph::of(&y).activation_bytes(), 0, "sums save nothing, and so is nothing kept");
    y.sum().backward();
    assert_eq!(x.grad().unwrap().to_vec::<f32>(), [-2.0; 3]);
}
