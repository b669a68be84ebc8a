//! Given cases of area C, autograd: real reports about PyTorch-like libraries with a definite right
//! answer, named by id. Those about single formulas are in engine_cases_c.rs.

#[path = "engine/close.rs"]
mod close;
#[path = "engine/refused.rs"]
mod refused;

use std::sync::Arc;

use engine_room::{Reduction, Tensor, no_grad};
use refused::refused;

type Call = fn(&Tensor, &Tensor) -> Tensor;

fn vector(values: &[f32]) -> Tensor {
    Tensor::from_vec(values.to_vec(), &[values.len()])
}

/// A leaf filled with 1, 2, 3 and so on.
fn counting(shape: &[usize]) -> Tensor {
    let numel = shape.iter().product();
    Tensor::arange(numel).add_scalar(1.0).reshape(shape).copy().requires_grad_(true)
}

fn grad(leaf: &Tensor) -> Vec<f32> {
    leaf.grad().expect("a gradient").to_vec()
}

#[track_caller]
fn agree(got: &[f32], want: &[f64], tolerance: f64) {
    assert_eq!(close::difference(got, want, tolerance), None, "{got:?}");
}

#[test]
fn c09_gradients_are_summed_back_to_the_operands() {
    /// The shape of an operand and its gradient.
    type Operand = (&'static [usize], &'static [f64]);
    let cases: [(Call, Operand, Operand); 5] = [
        (Tensor::mul, (&[1], &[21.0]), (&[2, 3], &[1.0; 6])),
        (Tensor::mul, (&[3, 1], &[3.0; 3]), (&[1, 2], &[6.0; 2])),
        (Tensor::add, (&[2, 3, 1], &[3.0; 6]), (&[3], &[6.0; 3])),
        (Tensor::div, (&[2, 2], &[1.0, 0.5, 1.0, 0.5]), (&[2], &[-4.0, -1.5])),
        (Tensor::mul, (&[], &[10.0]), (&[2, 2], &[1.0; 4])),
    ];
    for (call, (a, da), (b, db)) in cases {
        let (a, b) = (counting(a), counting(b));
        call(&a, &b).sum().backward();
        agree(&grad(&a), da, 1e-6);
        agree(&grad(&b), db, 1e-6);
        assert_eq!(a.grad().expect("da").shape(), a.shape());
        assert_eq!(b.grad().expect("db").shape(), b.shape());
    }
}

#[test]
fn c11_calling_backward_twice() {
    let leaf = |value| Tensor::scalar(value).requires_grad_(true);
    let (a, b, d) = (leaf(3.0), leaf(2.0), leaf(1.0));
    let e = (&a + &b).mul(&d);
    e.backward_retain_graph();
    e.backward();
    assert_eq!([&a, &b, &d].map(grad), [[2.0], [2.0], [10.0]]);
    let refusal = refused(|| e.backward());
    assert!(refusal.op == "mul" && refusal.message.contains("retain_graph"), "{refusal}");

    let x = leaf(3.0);
    let y = x.mul(&x);
    y.backward();
    assert_eq!(refused(|| y.backward()).op, "mul");
    assert_eq!(grad(&x), [6.0], "the refused call must add nothing");

    let x = vector(&[1.0, 2.0]).requires_grad_(true);
    x.mul_scalar(2.0).sum().backward();
    x.mul_scalar(3.0).sum().backward();
    assert_eq!(grad(&x), [5.0, 5.0]);
}

/// On a thread with a stack of 256 KiB, with and without a backward pass. Beside the case's
/// 200,000 additions, shorter chains in which a saved tensor keeps the node before alive too.
#[test]
fn c13_a_deep_graph_overflows_no_stack() {
    let one = Tensor::ones(&[1]).requires_grad_(true);
    let links: [(usize, Call); 5] = [
        (200_000, |y, _| y.add_scalar(1.0)),
        (20_000, |y, _| y.tanh()),
        (20_000, |y, one| y.mul(one)),
        (20_000, |y, _| y.mul(y)),
        (20_000, |y, one| one.div(y)),
    ];
    let run = move || {
        for (length, link) in links {
            let start = if length == 200_000 { 0.0 } else { 1.0 };
            let x = Tensor::full(&[1], start).requires_grad_(true);
            let chain = || (0..length).fold(x.clone(), |y, _| link(&y, &one));
            drop(chain());
            let y = chain();
            y.backward();
            if length == 200_000 {
                assert_eq!((y.to_vec::<f32>(), grad(&x)), (vec![200_000.0], vec![1.0]));
            }
            assert!(x.grad().is_some());
        }
    };
    let small = std::thread::Builder::new().stack_size(256 << 10);
    small.spawn(run).expect("a thread").join().expect("no panic");
}

#[test]
fn c15_detach_shares_memory_and_version() {
    let x = vector(&[1.0]).requires_grad_(true);
    let y = x.detach();
    assert!(!y.requires_grad() && Arc::ptr_eq(x.storage(), y.storage()));
    y.fill_(2.0);
    assert_eq!(x.to_vec::<f32>(), [2.0]);
    assert_eq!(x.storage().version(), 1);

    let o = x.sigmoid();
    o.detach().fill_(0.0);
    let refusal = refused(|| o.sum().backward());
    assert!(refusal.op == "sigmoid" && refusal.message.contains("changed in place"), "{refusal}");

    assert_eq!(refused(|| x.add_(&Tensor::ones(&[1]), 1.0)).op, "add_");
    assert_eq!(refused(|| x.slice(0, 0, 1, 1).add_(&Tensor::ones(&[1]), 1)).op, "add_");
    no_grad(|| x.add_(&Tensor::ones(&[1]), 1.0));
    assert_eq!(x.to_vec::<f32>(), [3.0]);
}

#[test]
fn c23_wrong_uses_of_backward_are_refused() {
    let (column, targets) = (Tensor::ones(&[3, 1]), vector(&[1.0, 2.0, 3.0]));
    assert_eq!(refused(|| column.mse_loss(&targets, Reduction::Mean)).op, "mse_loss");
    let labels = Tensor::from_vec(vec![1i64, 2], &[2]);
    assert_eq!(refused(|| labels.requires_grad_(true)).op, "requires_grad_");
    let x = vector(&[1.0, 2.0]).requires_grad_(true);
    assert_eq!(refused(|| x.mul_scalar(2.0).backward()).op, "backward");
    assert_eq!(refused(|| x.mul_scalar(2.0).backward_with(&Tensor::ones(&[1, 2]))).op, "backward");
    assert_eq!(refused(|| Tensor::scalar(1.0).backward()).op, "backward");
    assert_eq!(refused(|| no_grad(|| x.sum()).backward()).op, "backward");
    assert!(x.grad().is_none());
}

/// A gradient that is not finite passes a relu where it is open and is 0 where it is shut: values
/// of PyTorch 2.9.1.
#[test]
fn relu_chooses_and_does_not_multiply() {
    let x = vector(&[-1.0, 1.0, f32::NAN]).requires_grad_(true);
    x.relu().backward_with(&vector(&[f32::INFINITY, 1.0, 5.0]));
    assert_eq!(grad(&x), [0.0, 1.0, 5.0]);
    let x = vector(&[-1.0, 1.0]).requires_grad_(true);
    x.relu().log().sum().backward();
    assert_eq!(grad(&x), [0.0, 1.0]);
}

/// Steps that no element ever takes cannot make a stride that wraps around.
#[test]
fn huge_steps_leave_strides_small() {
    let x = Tensor::zeros(&[10, 10]);
    assert_eq!(x.slice(0, 0, 10, isize::MAX).strides(), [10, 1]);
    assert_eq!(x.unfold(0, 3, usize::MAX).strides(), [10, 1, 10]);
    assert_eq!(x.slice(0, 9, 10, isize::MAX).matmul(&x).shape(), [1, 10]);
}
