//! Given cases: real reports about PyTorch-like libraries with a definite right answer, named by
//! id. A case stands here as far as the engine has what it needs.

#[path = "engine/close.rs"]
mod close;
#[path = "engine/refused.rs"]
mod refused;

use std::sync::Arc;

use engine_room::{Tensor, no_grad};
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

/// max, argmax and relu; also with the row padded to a length that a kernel handles in blocks.
#[test]
fn a15_nan_propagates() {
    let nan = f32::NAN;
    let cases: [(&[f32], i64); 2] = [(&[1.0, nan, 3.0], 1), (&[nan, 1.0, nan], 0)];
    for (values, first_nan) in cases {
        let padded = [values, &[0.5; 997]].concat();
        for x in [vector(values), vector(&padded)] {
            let wide = x.expand(&[2, x.numel()]);
            let tall = wide.transpose(0, 1).copy();
            assert!(x.max_dims(&[], false).item().is_nan() && x.sum().item().is_nan());
            assert!(tall.max_dims(&[0], false).to_vec::<f32>().iter().all(|x| x.is_nan()));
            assert!(wide.max_dims(&[1], false).to_vec::<f32>().iter().all(|x| x.is_nan()));
            assert_eq!(x.argmax(0).to_vec::<i64>(), [first_nan]);
            assert_eq!(tall.argmax(0).to_vec::<i64>(), [first_nan; 2]);
            assert!(x.softmax(0).to_vec::<f32>().iter().all(|x| x.is_nan()));
        }
    }
    agree(&vector(&[1.0, nan, 3.0, -1.0]).relu().to_vec(), &[1.0, f64::NAN, 3.0, 0.0], 0.0);
}

#[test]
fn b01_reshape_after_transpose_reads_in_logical_order() {
    let x = Tensor::arange(12).reshape(&[3, 4]).transpose(0, 1);
    let want = [0.0, 4.0, 8.0, 1.0, 5.0, 9.0, 2.0, 6.0, 10.0, 3.0, 7.0, 11.0];
    assert_eq!(x.reshape(&[12]).to_vec::<f32>(), want);
    assert_eq!(x.contiguous().reshape(&[12]).to_vec::<f32>(), want);
    assert!(refused(|| x.view(&[12])).message.contains("strides"));
    assert_eq!(x.view(&[2, 2, 3]).to_vec::<f32>(), want);
}

#[test]
fn b03_the_offset_survives_a_reshape_of_a_slice() {
    let x = Tensor::arange(10);
    let end = isize::MAX;
    assert_eq!(x.slice(0, 2, end, 10).reshape(&[1, 1]).to_vec::<f32>(), [2.0]);
    assert_eq!(x.slice(0, 1, end, 3).reshape(&[3, 1]).to_vec::<f32>(), [1.0, 4.0, 7.0]);
    let part = Tensor::arange(24).reshape(&[4, 6]).slice(0, 1, 3, 1).slice(1, 1, end, 2);
    assert_eq!(part.reshape(&[6]).to_vec::<f32>(), [7.0, 9.0, 11.0, 13.0, 15.0, 17.0]);
}

#[test]
fn b05_matmul_with_stride_0_operands() {
    let row = vector(&[1.0, 2.0]).expand(&[3, 2]);
    let right = Tensor::arange(4).reshape(&[2, 2]);
    assert_eq!(row.matmul(&right).to_vec::<f32>(), [4.0, 7.0, 4.0, 7.0, 4.0, 7.0]);
    let ones = Tensor::ones(&[1, 1]).expand(&[32, 32]);
    assert_eq!(ones.matmul(&Tensor::ones(&[32, 32])).to_vec::<f32>(), [32.0; 1024]);
    assert_eq!(ones.matmul(&ones.transpose(0, 1)).to_vec::<f32>(), [32.0; 1024]);
}

#[test]
fn b07_filling_a_broadcast_tensor_is_refused() {
    let x = Tensor::arange(4).reshape(&[2, 2]);
    let wide = x.expand(&[2, 2, 2]);
    assert_eq!(refused(|| wide.fill_(0.0)).op, "fill_");
    assert_eq!(refused(|| wide.transpose(0, 2).add_(&wide, 1.0)).op, "add_");
    assert_eq!(x.to_vec::<f32>(), [0.0, 1.0, 2.0, 3.0]);
}

#[test]
fn b09_zero_against_1_broadcasts_to_0() {
    let shape = |a: &[usize], b: &[usize]| (&Tensor::ones(a) + &Tensor::ones(b)).shape().to_vec();
    assert_eq!(shape(&[2, 0], &[2, 1]), [2, 0]);
    assert_eq!(shape(&[0], &[1]), [0]);
    assert_eq!(shape(&[0, 1], &[1, 1]), [0, 1]);
    assert_eq!(shape(&[0, 5], &[1, 5]), [0, 5]);
    assert_eq!(shape(&[1, 0], &[1, 1, 1]), [1, 1, 0]);
    assert_eq!(shape(&[], &[0, 3]), [0, 3]);
    refused(|| shape(&[0], &[2, 2]));
    refused(|| shape(&[2, 1], &[0, 2]));
    // The case's last line says that [2, 1] with [0, 1] is an error: 2 against 0.
    refused(|| shape(&[2, 1], &[0, 1]));
}

#[test]
fn b11_matmul_with_a_zero_dimension() {
    let product = |a: &[usize], b: &[usize]| Tensor::ones(a).matmul(&Tensor::ones(b));
    assert_eq!(product(&[2, 0], &[0, 3]).to_vec::<f32>(), [0.0; 6]);
    assert_eq!(product(&[0, 4], &[4, 3]).shape(), [0, 3]);
    assert_eq!(product(&[3, 4], &[4, 0]).shape(), [3, 0]);
}

#[test]
fn b13_gather_refuses_indices_out_of_range() {
    let x = Tensor::arange(5);
    for bad in [-1, 5, i64::MIN, i64::MAX] {
        let index = Tensor::from_vec(vec![0i64, bad], &[2]);
        assert!(refused(|| x.gather(0, &index)).message.contains(&bad.to_string()));
        let src = Tensor::ones(&[2]);
        assert_eq!(refused(|| x.scatter_add(0, &index, &src)).op, "scatter_add");
    }
    assert_eq!(refused(|| x.narrow(0, 3, 3)).op, "narrow");
    assert_eq!(x.narrow(0, 5, 0).shape(), [0]);
}

#[test]
fn b15_expand_only_adds_dimensions_or_stretches_1() {
    assert_eq!(Tensor::ones(&[2, 1]).expand(&[2, 4]).shape(), [2, 4]);
    assert_eq!(Tensor::ones(&[1, 2]).expand(&[0, 2]).shape(), [0, 2]);
    let wrong = [(&[2, 3][..], &[3][..]), (&[2, 3], &[4, 3]), (&[3], &[0]), (&[3], &[3, 1])];
    for (from, to) in wrong.into_iter().chain([(&[0][..], &[3][..])]) {
        assert_eq!(refused(|| Tensor::ones(from).expand(to)).op, "expand");
    }
}

#[test]
fn b17_which_operations_share_storage() {
    let b = Tensor::zeros(&[2, 3]);
    b.transpose(0, 1).add_(&Tensor::arange(6).reshape(&[3, 2]), 1.0);
    assert_eq!(b.to_vec::<f32>(), [0.0, 2.0, 4.0, 1.0, 3.0, 5.0]);
    b.reshape(&[6]).add_(&Tensor::arange(6), 10.0);
    assert_eq!(b.to_vec::<f32>(), [0.0, 12.0, 24.0, 31.0, 43.0, 55.0]);
    b.transpose(0, 1).reshape(&[6]).fill_(77.0);
    b.transpose(0, 1).contiguous().fill_(77.0);
    assert_eq!(b.to_vec::<f32>(), [0.0, 12.0, 24.0, 31.0, 43.0, 55.0]);
    assert!(Arc::ptr_eq(b.storage(), b.contiguous().storage()));
    let b = Tensor::zeros(&[2, 3]);
    b.select(0, 1).select(0, 0).fill_(7.0);
    b.transpose(0, 1).select(0, 2).select(0, 0).fill_(9.0);
    assert_eq!(b.to_vec::<f32>(), [0.0, 0.0, 9.0, 7.0, 0.0, 0.0]);
    b.flip(&[0]).fill_(100.0);
    b.reshape(&[6]).narrow(0, 1, 1).fill_(5.0);
    b.transpose(0, 1).reshape(&[6]).select(0, 0).fill_(77.0);
    assert_eq!(b.to_vec::<f32>(), [0.0, 5.0, 9.0, 7.0, 0.0, 0.0]);
}

#[test]
fn b19_argmax_counts_along_the_dimension() {
    let m = [0.0, 9.0, 1.0, 5.0, 2.0, 8.0, 7.0, 3.0, 4.0, 1.0, 6.0, 0.0];
    let m = Tensor::from_vec(m.to_vec(), &[4, 3]);
    assert_eq!(m.argmax(0).to_vec::<i64>(), [2, 0, 1]);
    assert_eq!(m.transpose(0, 1).argmax(1).to_vec::<i64>(), [2, 0, 1]);
    assert_eq!(m.transpose(0, 1).reshape(&[12]).argmax(0).to_vec::<i64>(), [4]);
    assert_eq!(m.reshape(&[4, 3, 1]).argmax(-1).to_vec::<i64>(), [0; 12]);
}

#[test]
fn c03_tied_maxima_share_the_gradient() {
    let x = vector(&[2.0, 2.0, 1.0]).requires_grad_(true);
    x.max_dims(&[0], false).backward();
    x.max_dims(&[], true).sum().backward();
    assert_eq!(grad(&x), [1.0, 1.0, 0.0]);
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

/// With exp for the case's sigmoid: it saves its result too.
#[test]
fn c15_detach_shares_memory_and_version() {
    let x = vector(&[1.0]).requires_grad_(true);
    let y = x.detach();
    assert!(!y.requires_grad() && Arc::ptr_eq(x.storage(), y.storage()));
    y.fill_(2.0);
    assert_eq!(x.to_vec::<f32>(), [2.0]);
    assert_eq!(x.storage().version(), 1);

    let o = x.exp();
    o.detach().fill_(0.0);
    let refusal = refused(|| o.sum().backward());
    assert!(refusal.op == "exp" && refusal.message.contains("changed in place"), "{refusal}");

    assert_eq!(refused(|| x.add_(&Tensor::ones(&[1]), 1.0)).op, "add_");
    no_grad(|| x.add_(&Tensor::ones(&[1]), 1.0));
    assert_eq!(x.to_vec::<f32>(), [3.0]);
}

#[test]
fn c17_log_softmax_of_large_logits() {
    let x = vector(&[0.0, 1000.0]).requires_grad_(true);
    let y = x.log_softmax(0);
    agree(&y.to_vec(), &[-1000.0, 0.0], 1e-4);
    y.backward_with(&vector(&[1.0, 0.0]));
    agree(&grad(&x), &[1.0, -1.0], 1e-4);
    agree(&vector(&[1000.0, 1000.0]).softmax(0).to_vec(), &[0.5, 0.5], 1e-6);
}

#[test]
fn c19_cross_entropy_refuses_invalid_targets() {
    let logits = Tensor::from_vec(vec![1.0f32, 2.0, 3.0, 1.0, 2.0, 3.0], &[2, 3]);
    let targets = |last| Tensor::from_vec(vec![2i64, last], &[2]);
    for bad in [-4, 3, i64::MAX] {
        let refusal = refused(|| logits.cross_entropy(&targets(bad)));
        assert!(refusal.message.contains(&bad.to_string()), "{refusal}");
    }
    let leaf = logits.copy().requires_grad_(true);
    let loss = leaf.cross_entropy(&targets(2));
    agree(&[loss.item()], &[0.4076059644443804], 1e-6);
    loss.backward();
    let row = [0.09003057317038046, 0.24472847105479764, -0.3347590442251781].map(|x| x / 2.0);
    agree(&grad(&leaf), &[row, row].concat(), 1e-6);
}

#[test]
fn c23_wrong_uses_of_backward_are_refused() {
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
