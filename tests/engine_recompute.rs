//! Recomputation: results and gradients are those of the plain run, bit for bit; what the graph
//! keeps is less.

#[path = "engine/refused.rs"]
mod refused;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use engine_room::amp::autocast;
use engine_room::autograd::{Graph, Keep, grad};
use engine_room::nn::{Dropout, Gpt, GptConfig, Linear, Module, Recomputed, Sequential, Tanh};
use engine_room::rng::{self, Generator, manual_seed};
use engine_room::{DType, Tensor, no_grad, recompute};
use refused::refused;

fn bits(x: &Tensor) -> Vec<u32> {
    x.to(DType::F32).to_vec::<f32>().into_iter().map(f32::to_bits).collect()
}

fn leaf(seed: u64, shape: &[usize]) -> Tensor {
    Tensor::randn(shape, &mut Generator::new(seed)).requires_grad_(true)
}

/// Runs f plainly and recomputed on equal leaves; the results and gradients of both.
#[track_caller]
fn same(shapes: &[&[usize]], f: impl Fn(&[Tensor]) -> Tensor + Clone + Send + Sync + 'static) {
    let run = |recomputed: bool| {
        manual_seed(7);
        let leaves: Vec<Tensor> =
            (3..).zip(shapes).map(|(seed, shape)| leaf(seed, shape)).collect();
        let refs: Vec<&Tensor> = leaves.iter().collect();
        let y = if recomputed { recompute(f.clone(), &refs) } else { f(&leaves) };
        let forward = rng::get_state();
        y.mul(&y).sum().backward();
        let mut found = vec![bits(&y)];
        found.extend(leaves.iter().map(|x| x.grad().map_or(Vec::new(), |dx| bits(&dx))));
        (found, forward, rng::get_state())
    };
    assert_eq!(run(false), run(true));
}

#[test]
fn f15_dropout_has_the_same_mask_again() {
    let run = |recomputed: bool| {
        manual_seed(42);
        let x = Tensor::ones(&[10]).requires_grad_(true);
        let f = |x: &[Tensor]| Dropout::new(0.5).forward(&x[0]);
        let y = if recomputed { recompute(f, &[&x]) } else { f(std::slice::from_ref(&x)) };
        let forward = rng::get_state();
        y.sum().backward();
        let gradient = x.grad().unwrap();
        assert_eq!(bits(&gradient), bits(&y), "since x is 1, y is the scaled mask");
        (bits(&gradient), forward, rng::get_state())
    };
    assert_eq!(run(false), run(true));
}

#[test]
fn gradients_are_equal_bit_for_bit() {
    same(&[&[4, 5]], |x| x[0].exp().tanh().mul(&x[0]));
    same(&[&[4, 5], &[5, 3]], |x| x[0].matmul(&x[1]).softmax(1).mul(&x[0].matmul(&x[1])));
    same(&[&[6], &[6]], |x| x[0].mul(&x[1]).exp().add(&x[0]));
    same(&[&[30]], |x| Dropout::new(0.3).forward(&Dropout::new(0.3).forward(&x[0]).exp()));
    same(&[&[8, 8]], |x| x[0].layer_norm(&[8], None, None, 1e-5).gelu().transpose(0, 1).exp());
    same(&[&[5]], |x| {
        let y = x[0].add(&x[0]);
        y.mul_(&x[0]);
        y.tanh()
    });
    same(&[&[5]], |x| x[0].clone());
}

#[test]
fn nested_regions_run_again_inside_out() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = runs.clone();
    let inner = move |x: &[Tensor]| {
        counted.fetch_add(1, Ordering::Relaxed);
        Dropout::new(0.5).forward(&x[0].exp()).tanh()
    };
    same(&[&[9]], move |x| {
        let y = recompute(inner.clone(), &[&x[0].sin()]);
        recompute(inner.clone(), &[&y]).mul(&x[0])
    });
    assert!(runs.load(Ordering::Relaxed) > 4);
    same(&[&[9]], |x| {
        recompute(|x| recompute(|x: &[Tensor]| x[0].exp().exp(), &[&x[0].tanh()]).tanh(), &[&x[0]])
    });
}

#[test]
fn captured_parameters_get_their_gradients() {
    let run = |recomputed: bool| {
        let w = leaf(1, &[4, 4]);
        // A gradient that is there already, to which several uses of one parameter add up.
        w.mul(&w).sum().backward();
        let x = leaf(2, &[3, 4]);
        let captured = w.clone();
        let f = move |x: &[Tensor]| x[0].matmul(&captured).tanh().matmul(&captured);
        let y = if recomputed { recompute(f, &[&x]) } else { f(std::slice::from_ref(&x)) };
        y.matmul(&w).sum().backward();
        (bits(&w.grad().unwrap()), bits(&x.grad().unwrap()))
    };
    assert_eq!(run(false), run(true));
}

#[test]
fn several_results_and_gradients_of_gradients() {
    let run = |recomputed: bool| {
        let (a, b) = (leaf(1, &[6]), leaf(2, &[6]));
        let f = |x: &[Tensor]| (x[0].exp().mul(&x[1]), x[1].tanh().mul(&x[0]));
        let (u, v) = match recomputed {
            true => recompute(f, &[&a, &b]),
            false => f(&[a.clone(), b.clone()]),
        };
        let sum = u.mul(&v).sum();
        let first = grad(&[&sum], &[&a, &b], None, Keep::GraphOfGradients);
        let first: Vec<Tensor> = first.into_iter().map(Option::unwrap).collect();
        let norm = first[0].mul(&first[1]).sum();
        norm.backward();
        [&first[0], &first[1], &a.grad().unwrap(), &b.grad().unwrap()].map(bits)
    };
    assert_eq!(run(false), run(true));
}

#[test]
fn autocast_is_as_it_was() {
    let run = |recomputed: bool| {
        let w = leaf(1, &[8, 8]);
        let x = leaf(2, &[4, 8]);
        let captured = w.clone();
        let f = move |x: &[Tensor]| x[0].matmul(&captured).tanh().matmul(&captured).exp();
        let y = autocast(DType::BF16, || match recomputed {
            true => recompute(f, &[&x]),
            false => f(std::slice::from_ref(&x)),
        });
        // Behind the region, where autocast is off.
        y.sum().backward();
        (bits(&y), bits(&w.grad().unwrap()), bits(&x.grad().unwrap()))
    };
    assert_eq!(run(false), run(true));
}

#[test]
fn the_graph_keeps_the_inputs_only() {
    let x = leaf(1, &[100]);
    let input = x.mul_scalar(2.0);
    let f = |x: &[Tensor]| (0..10).fold(x[0].clone(), |y, _| y.tanh());
    let plain = Graph::of(&f(std::slice::from_ref(&input))).activation_bytes();
    let y = recompute(f, &[&input]);
    assert_eq!((plain, Graph::of(&y).activation_bytes()), (10 * 400, 400));
    y.sum().backward_retain_graph();
    let first = x.grad().unwrap().copy();
    y.sum().backward();
    assert_eq!(bits(&x.grad().unwrap()), bits(&first.mul_scalar(2.0)), "walked twice");
}

#[test]
fn nothing_is_kept_or_run_twice_where_nothing_is_recorded() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = runs.clone();
    let f = move |x: &[Tensor]| {
        counted.fetch_add(1, Ordering::Relaxed);
        x[0].exp()
    };
    let x = leaf(1, &[3]);
    assert!(!no_grad(|| recompute(f.clone(), &[&x])).requires_grad());
    assert!(!recompute(f.clone(), &[&x.detach()]).requires_grad());
    drop(recompute(f, &[&x]));
    assert_eq!(runs.load(Ordering::Relaxed), 3);
}

#[test]
fn a_second_run_that_differs_is_refused_in_words() {
    let runs = Arc::new(AtomicUsize::new(0));
    let count = move || runs.fetch_add(1, Ordering::Relaxed) % 2;
    let changed = |f: fn(&Tensor, usize) -> Tensor| {
        let (x, count) = (leaf(1, &[6]), count.clone());
        let y = recompute(move |x| f(&x[0], count()), &[&x]);
        let refusal = refused(|| y.sum().backward());
        assert_eq!(refusal.op, "recompute");
        refusal.message
    };
    let shape = changed(|x, run| x.narrow(0, 0, 6 - run).exp().sum());
    assert!(shape.contains("f32 [5]") && shape.contains("f32 [6]"), "{shape}");
    let more = changed(|x, run| if run == 0 { x.exp() } else { x.exp().exp() });
    assert!(more.contains("more tensors"), "{more}");
    let fewer = changed(|x, run| if run == 1 { x.exp() } else { x.exp().exp() });
    assert!(fewer.contains("saved 1 tensors for backward, and 2 before"), "{fewer}");
    let x = leaf(1, &[3]);
    let input = x.mul_scalar(2.0);
    let y = recompute(|x| x[0].exp(), &[&input]);
    no_grad(|| input.zero_());
    let refusal = refused(|| y.sum().backward());
    assert!(refusal.message.contains("changed in place since, last by zero_"), "{refusal}");
    // Saved, and changed by the operation itself: found out as in a plain run.
    let spoilt = |x: &[Tensor]| {
        let y = x[0].exp();
        y.mul_(&y);
        y
    };
    let x = leaf(1, &[3]);
    for y in [spoilt(std::slice::from_ref(&x)), recompute(spoilt, &[&x])] {
        let refusal = refused(|| y.sum().backward());
        assert!(refusal.message.contains("changed in place since, last by mul_"), "{refusal}");
    }
    let inside = refused(|| {
        recompute(
            |x| {
                let y = x[0].exp();
                grad(&[&y.sum()], &[&x[0]], None, Keep::Graph);
                y
            },
            &[&leaf(1, &[3])],
        )
    });
    assert!(inside.message.contains("outside f"), "{inside}");
    // A refusal leaves nothing behind: the next region is whole.
    same(&[&[4]], |x| x[0].exp().exp());
}

#[test]
fn a_module_keeps_its_names() {
    let mut generator = Generator::new(1);
    let inner = Sequential::new().append(Linear::new(4, 4, true, &mut generator)).append(Tanh);
    let names = |module: &dyn Module| -> Vec<String> {
        module.named_parameters().into_iter().map(|(name, _)| name).collect()
    };
    let plain = names(&inner);
    let module = Recomputed::new(inner);
    assert_eq!(names(&module), plain);
    assert_eq!(module.type_name(), "Recomputed");
}

/// The loss and every gradient of a GPT of 12 blocks with dropout; the bytes of its activations.
fn gpt(recomputed: bool) -> (Vec<Vec<u32>>, u64) {
    let (vocab, context, layers) = (17, 16, 12);
    let (width, heads, dropout, tied) = (32, 4, 0.1, true);
    let config = GptConfig { vocab, context, width, layers, heads, dropout, tied };
    let mut generator = Generator::new(3);
    let model = Gpt::new(&config, &mut generator).recompute_blocks(|_| recomputed);
    let tokens = Tensor::randint(0, vocab as i64, &[4, context], &mut generator);
    manual_seed(11);
    let loss = model
        .forward(&tokens)
        .reshape(&[4 * context, vocab])
        .cross_entropy(&tokens.reshape(&[4 * context]));
    let bytes = Graph::of(&loss).activation_bytes();
    loss.backward();
    let mut found = vec![bits(&loss)];
    found.extend(model.parameters().iter().map(|it| bits(&it.get().grad().unwrap())));
    (found, bytes)
}

#[test]
fn twelve_blocks_keep_a_quarter_at_most_and_give_the_same_gradients() {
    let ((plain, all), (recomputed, few)) = (gpt(false), gpt(true));
    assert_eq!(plain, recomputed);
    println!("activations: {all} bytes, recomputed {few}");
    assert!(few * 4 <= all, "{few} bytes of {all}");
}
