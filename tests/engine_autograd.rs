//! The graph: what is recorded, when it is refused, and that each gradient comes once and whole.

#[path = "engine/custom.rs"]
mod custom;
#[path = "engine/refused.rs"]
mod refused;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use custom::{Careless, Counted, Flip, flip};
use engine_room::autograd::{Graph, apply, is_inference_mode};
use engine_room::{Misuse, Tensor, enable_grad, inference_mode, is_grad_enabled, no_grad};
use refused::refused;

fn leaf(values: &[f32]) -> Tensor {
    Tensor::from_vec(values.to_vec(), &[values.len()]).requires_grad_(true)
}

fn grad(leaf: &Tensor) -> Vec<f32> {
    leaf.grad().expect("a gradient").to_vec()
}

fn share(a: &Tensor, b: &Tensor) -> bool {
    Arc::ptr_eq(a.storage(), b.storage())
}

#[test]
fn sixty_diamonds_run_each_node_once() {
    let runs = Arc::new(AtomicUsize::new(0));
    let x = leaf(&[1.0]);
    let y = (0..60).fold(x.clone(), |y, _| apply(Counted(runs.clone()), [&y, &y]));
    assert_eq!(Graph::of(&y).nodes().len(), 61);
    y.backward();
    assert_eq!(runs.load(Ordering::Relaxed), 60);
    assert_eq!(grad(&x), [2f32.powi(60)]);
}

/// y = x·w1 + x·w2, then both in a product: each path through the graph counts once.
#[test]
fn every_path_counts_once() {
    let (x, w1, w2) = (leaf(&[3.0]), leaf(&[5.0]), leaf(&[7.0]));
    let (a, b) = (x.mul(&w1), x.mul(&w2));
    let y = a.mul(&b).add(&a);
    y.backward();
    // y = 35 x^2 + 5 x at 3.
    assert_eq!(grad(&x), [215.0]);
    assert_eq!(grad(&w1), [3.0 * (21.0 + 1.0)]);
    assert_eq!(grad(&w2), [3.0 * 15.0]);
}

#[test]
fn gradients_add_up_until_they_are_dropped() {
    let x = leaf(&[1.0, 2.0]);
    assert!(x.grad().is_none() && x.is_leaf() && x.requires_grad());
    x.mul(&x).sum().backward();
    x.exp().sum().backward();
    assert_eq!(grad(&x), [2.0 + 1f32.exp(), 4.0 + 2f32.exp()]);
    x.zero_grad();
    assert!(x.grad().is_none());
    x.backward_with(&Tensor::ones(&[2]));
    assert_eq!(grad(&x), [1.0, 1.0], "a leaf is its own result");
    let y = x.mul_scalar(3.0);
    assert!(!y.is_leaf() && y.requires_grad() && y.grad().is_none());
    assert!(!y.detach().requires_grad() && y.detach().is_leaf() && share(&y, &y.detach()));
    x.mul(&y.detach()).sum().backward();
    assert_eq!(grad(&x), [4.0, 7.0], "no gradient flows through detach");
    // As PyTorch 2.9.1: a frozen leaf keeps its gradient, and an older graph still adds to it.
    let older = x.mul_scalar(2.0).sum();
    let x = x.requires_grad_(false);
    assert!(!x.requires_grad() && x.node().is_none() && !x.exp().requires_grad());
    assert_eq!(grad(&x), [4.0, 7.0]);
    older.backward();
    assert_eq!(grad(&x), [6.0, 9.0]);
    let x = x.requires_grad_(true);
    x.sum().backward();
    assert_eq!(grad(&x), [7.0, 10.0]);
}

/// Only what needs a gradient is computed, and only what is needed for it is saved.
#[test]
fn gradients_that_nobody_asked_for_are_not_computed() {
    let (x, w) = (Tensor::ones(&[4, 3]), Tensor::ones(&[3, 2]).requires_grad_(true));
    let y = x.matmul(&w);
    let node = y.node().expect("a node");
    assert_eq!((node.name(), node.shape(), node.is_leaf()), ("matmul", &[4, 2][..], false));
    assert_eq!(node.edges().iter().map(Option::is_some).collect::<Vec<_>>(), [false, true]);
    assert_eq!(node.saved_bytes(), 4 * 3 * 4, "x and not w");
    let gradients = node.backward(&Tensor::ones(&[4, 2]));
    assert!(gradients[0].is_none());
    assert_eq!(gradients[1].as_ref().expect("dw").to_vec::<f32>(), [4.0; 6]);
    let edge = node.edges()[1].as_ref().expect("an edge");
    assert!(edge.is_leaf() && edge.id() < node.id() && edge.saved_bytes() == 0);
    assert!(edge.backward(&w).is_empty());
    let (c, w) = (Tensor::ones(&[2]), leaf(&[1.0, 2.0]));
    let saved = |y: Tensor| y.node().expect("a node").saved_tensors();
    for [only] in [saved(c.mul(&w)), saved(w.mul(&c)), saved(w.div(&c))]
        .map(|s| <[_; 1]>::try_from(s).expect("one tensor"))
    {
        assert!(share(&only, &c), "the constant is all that the gradient needs");
    }
    assert_eq!(saved(c.div(&w)).len(), 2);
    let gradients = w.mul(&w).node().expect("a node").backward(&c);
    assert!(gradients.iter().flatten().all(|gradient| !gradient.requires_grad()));
}

#[test]
fn no_grad_records_nothing_and_ends_with_its_closure() {
    let x = leaf(&[1.0]);
    let y = no_grad(|| {
        assert!(!is_grad_enabled() && !is_inference_mode());
        assert!(std::thread::spawn(is_grad_enabled).join().expect("true"), "each thread its own");
        x.exp()
    });
    assert!(is_grad_enabled() && !y.requires_grad() && !y.is_inference());
    assert_eq!(Graph::of(&y).saved_bytes(), 0);
    assert!(Graph::of(&y).nodes().is_empty());
    assert!(y.mul(&x).requires_grad(), "what no_grad made may be used in a graph");
    for mode in [no_grad::<()>, inference_mode] as [fn(fn()) -> (); 2] {
        assert!(catch_unwind(|| mode(|| panic!("inside"))).is_err());
        assert!(is_grad_enabled() && !is_inference_mode(), "restored after a panic");
    }
    no_grad(|| {
        inference_mode(|| assert!(is_inference_mode()));
        assert!(!is_inference_mode() && !is_grad_enabled());
    });
    inference_mode(|| no_grad(|| assert!(is_inference_mode(), "the stricter mode stays")));
    let again = no_grad(|| enable_grad(|| x.exp()));
    assert!(again.requires_grad() && is_grad_enabled());
    no_grad(|| {
        assert!(catch_unwind(|| enable_grad(|| panic!("inside"))).is_err());
        assert!(!is_grad_enabled(), "restored after a panic");
    });
}

#[test]
fn inference_tensors_never_enter_a_graph() {
    let x = leaf(&[1.0, 2.0]);
    let y = inference_mode(|| x.exp());
    assert!(y.is_inference() && !y.requires_grad());
    let refusal = refused(|| x.mul(&y));
    assert!(refusal.op == "mul" && refusal.message.contains("inference"), "{refusal}");
    assert!(x.add(&y).requires_grad(), "what is not saved does not enter");
    for view in [y.detach(), y.reshape(&[2, 1]), y.expand(&[3, 2]), y.contiguous()] {
        assert!(view.is_inference(), "its memory is still unwatched");
    }
    refused(|| x.mul(&y.detach()));
    refused(|| y.detach().requires_grad_(true));
    assert!(!y.copy().is_inference() && x.mul(&y.copy()).requires_grad());
    // A view of a normal tensor is one too, wherever it is taken, as in PyTorch.
    assert!(!inference_mode(|| x.reshape(&[2, 1])).is_inference());
}

#[test]
fn a_change_of_a_saved_tensor_is_found() {
    let change = |t: &Tensor| no_grad(|| t.reshape(&[2, 1]).add_(&Tensor::ones(&[2, 1]), 1.0));
    let (x, w) = (leaf(&[1.0, 2.0]), leaf(&[3.0, 4.0]));
    for changed in [&x, &w] {
        let y = x.mul(&w).sum();
        change(changed);
        let Misuse { op, message, .. } = refused(|| y.backward());
        assert!(op == "mul" && message.contains("version"), "{op}: {message}");
    }
    let y = x.mul(&w.detach()).sum();
    change(&x);
    y.backward();
    assert_eq!(grad(&x), [4.0, 5.0], "x is not needed if only x's gradient is");
    let z = x.add(&w).sum();
    change(&x);
    z.backward();
    assert_eq!(grad(&w), [1.0, 1.0], "a sum saves nothing");
    let before = w.copy();
    change(&before);
    before.exp().mul(&w).sum().backward();
    assert!(grad(&w)[0] > 1.0, "a change before the saving is none");
}

#[test]
fn a_second_walk_needs_what_the_first_one_freed() {
    let x = leaf(&[2.0]);
    let y = x.add_scalar(1.0).neg();
    y.backward();
    y.backward();
    assert_eq!(grad(&x), [-2.0], "operations that saved nothing can run again");
    let y = x.exp();
    y.backward_retain_graph();
    assert_eq!(Graph::of(&y).saved_bytes(), 4);
    y.backward();
    assert_eq!(Graph::of(&y).saved_bytes(), 0);
    assert_eq!(refused(|| y.backward()).op, "exp");
}

#[test]
fn gradients_share_no_memory() {
    let (a, b, dy) = (leaf(&[1.0, 2.0]), leaf(&[3.0, 4.0]), Tensor::ones(&[2]));
    let y = a.add(&b).reshape(&[1, 2]).reshape(&[2]);
    y.backward_with(&dy);
    let (da, db) = (a.grad().expect("da"), b.grad().expect("db"));
    assert!(!share(&da, &db) && !share(&da, &dy) && !share(&db, &dy));
    da.fill_(9.0);
    assert_eq!((grad(&a), grad(&b)), (vec![9.0, 9.0], vec![1.0, 1.0]));
    assert_eq!(dy.to_vec::<f32>(), [1.0, 1.0]);
    let c = leaf(&[5.0, 6.0]);
    c.backward_with(&dy);
    assert!(!share(&c.grad().expect("dc"), &dy));
    let held = c.grad().expect("dc");
    c.backward_with(&dy);
    // Added in place, as in PyTorch: who holds the gradient sees the sum.
    assert_eq!((held.to_vec::<f32>(), grad(&c)), (vec![2.0; 2], vec![2.0; 2]));
    assert!(share(&held, &c.grad().expect("dc")));
    // The gradient of a sum is repeated with stride 0; at the leaf it has memory of its own.
    let d = leaf(&[1.0, 2.0]);
    d.sum().backward();
    assert!(d.grad().expect("dd").is_contiguous());
    d.grad().expect("dd").fill_(3.0);
    assert!(!d.grad().expect("dd").requires_grad());
}

#[test]
fn an_op_may_return_its_input_or_a_tensor_of_its_own() {
    let x = leaf(&[1.0, 2.0]);
    let node = x.node().expect("a node").id();
    let y = flip(&flip(&flip(&x)));
    assert!(share(&x, &y) && x.node().expect("a node").id() == node && x.is_leaf());
    y.sum().backward();
    assert_eq!(grad(&x), [-1.0, -1.0]);
    assert!(!no_grad(|| flip(&x)).requires_grad(), "nothing is recorded under no_grad");
    let own = leaf(&[5.0, 6.0]);
    let z = apply(Flip(Some(own.clone())), [&x]);
    assert!(own.is_leaf() && !z.is_leaf());
    z.sum().backward();
    assert_eq!(grad(&x), [-2.0, -2.0]);
    assert!(own.grad().is_none());
    let constant = Tensor::ones(&[2]);
    assert!(!flip(&constant).requires_grad());
}

#[test]
fn careless_operations_are_named() {
    let x = leaf(&[1.0, 2.0]);
    let run = |op: Careless| refused(|| apply(op, [&x]).sum().backward());
    let unsaved = run(Careless::Unsaved);
    assert!(unsaved.op == "careless" && unsaved.message.contains("slot 0"), "{unsaved}");
    let shape = run(Careless::Shape);
    assert!(shape.op == "careless" && shape.message.contains("shape []"), "{shape}");
    assert!(x.grad().is_none());
}

/// h = x·w, r = relu(h), y = r·r: w, x, h's result and r are counted once each.
#[test]
fn saved_bytes_count_each_storage_once() {
    let (x, w) = (Tensor::ones(&[8, 4]), Tensor::ones(&[4, 16]).requires_grad_(true));
    let r = x.matmul(&w).relu();
    let y = r.mul(&r);
    let graph = Graph::of(&y);
    let names: Vec<_> = graph.nodes().iter().map(|node| node.name).collect();
    assert_eq!(names, ["leaf", "matmul", "relu", "mul"]);
    let (x_bytes, r_bytes) = (8 * 4 * 4, 8 * 16 * 4);
    assert_eq!(graph.saved_bytes(), x_bytes + r_bytes);
    assert_eq!(y.node().expect("a node").saved_bytes(), r_bytes);
    assert_eq!(graph.nodes()[3].saved.len(), 2);
    // A second layer's product needs the second layer's weights for the gradient of y.
    let w2 = Tensor::ones(&[16, 2]).requires_grad_(true);
    let graph = Graph::of(&y.matmul(&w2));
    assert_eq!(graph.activation_bytes(), x_bytes + 2 * r_bytes);
    assert_eq!(graph.saved_bytes(), graph.activation_bytes() + 16 * 2 * 4);
    // A view keeps its whole storage.
    let wide = Tensor::ones(&[1]).expand(&[1000]).mul(&leaf(&[2.0]));
    assert_eq!(Graph::of(&wide).activation_bytes(), 4);
}

#[test]
fn a_small_graph_in_dot_and_mermaid() {
    let (a, b) = (leaf(&[1.0, 2.0]), leaf(&[3.0, 4.0]));
    let graph = Graph::of(&a.mul(&b).add(&a).sum());
    let dot = r#"digraph {
  rankdir=LR;
  n0 [label="leaf\n[2]", shape=ellipse];
  n1 [label="leaf\n[2]", shape=ellipse];
  n2 [label="mul\n[2]\nsaves [2] [2]", shape=box];
  n3 [label="add\n[2]", shape=box];
  n4 [label="sum\n[]", shape=box];
  n0 -> n2;
  n1 -> n2;
  n2 -> n3;
  n0 -> n3;
  n3 -> n4;
}
"#;
    assert_eq!(graph.to_dot(), dot);
    let mermaid = r#"flowchart LR
  n0(["leaf<br>[2]"])
  n1(["leaf<br>[2]"])
  n2["mul<br>[2]<br>saves [2] [2]"]
  n3["add<br>[2]"]
  n4["sum<br>[]"]
  n0 --> n2
  n1 --> n2
  n2 --> n3
  n0 --> n3
  n3 --> n4
"#;
    assert_eq!(graph.to_mermaid(), mermaid);
    assert_eq!(Graph::of(&Tensor::scalar(1.0)).to_dot(), "digraph {\n  rankdir=LR;\n}\n");
}

/// Four threads add to the gradient of one leaf: none of the additions is lost.
#[test]
fn threads_share_a_leaf() {
    let w = leaf(&[0.0; 8]);
    let worker = |_| {
        let w = w.clone();
        std::thread::spawn(move || (0..2000).for_each(|_| w.mul_scalar(1.0).sum().backward()))
    };
    let workers: Vec<_> = (0..4).map(worker).collect();
    workers.into_iter().for_each(|worker| worker.join().expect("no panic"));
    assert_eq!(grad(&w), [8000.0; 8]);
}

/// Two walks over one subgraph: with the graph retained both go through; without, at least one
/// does, and the other may find the saved tensors gone. Nothing waits for anything.
#[test]
fn threads_share_a_subgraph() {
    for round in 0..200 {
        let x = leaf(&[0.5; 64]);
        let shared = (0..5).fold(x.clone(), |y, _| y.tanh().mul(&x));
        let walk = |retain: bool| {
            let y = shared.exp().sum();
            std::thread::spawn(move || {
                let run = || if retain { y.backward_retain_graph() } else { y.backward() };
                catch_unwind(AssertUnwindSafe(run))
                    .map_err(|error| *error.downcast::<Misuse>().expect("a refusal"))
            })
        };
        let retain = round % 2 == 0;
        let both = [walk(retain), walk(retain)].map(|walk| walk.join().expect("no other panic"));
        let through = both.iter().filter(|result| result.is_ok()).count();
        assert!(
            through == 2
                || (!retain
                    && both
                        .iter()
                        .flat_map(|r| r.as_ref().err())
                        .all(|m| m.message.contains("freed"))),
            "{both:?}"
        );
        let doubled = grad(&x)[0];
        x.zero_grad();
        if through == 2 {
            (0..5).fold(x.clone(), |y, _| y.tanh().mul(&x)).exp().sum().backward();
            assert!((doubled - 2.0 * grad(&x)[0]).abs() < 1e-5, "{doubled}");
        }
    }
}

#[test]
fn tensors_and_nodes_go_between_threads() {
    fn both<T: Send + Sync>() {}
    both::<Tensor>();
    both::<engine_room::autograd::Node>();
    both::<engine_room::Storage>();
    both::<Misuse>();
}
