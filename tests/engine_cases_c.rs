//! Given cases C01 to C07, C17 to C21: gradients where a formula is not defined or not exact. The
//! other cases of area C are in engine_cases.rs.

#[path = "engine/close.rs"]
mod close;
#[path = "engine/refused.rs"]
mod refused;

use engine_room::{CrossEntropy, Reduction, Tensor};
use refused::refused;

fn vector(values: &[f32]) -> Tensor {
    Tensor::from_vec(values.to_vec(), &[values.len()])
}

/// The gradient of the sum of f at a list.
fn slope(values: &[f32], f: impl Fn(&Tensor) -> Tensor) -> Vec<f32> {
    let x = vector(values).requires_grad_(true);
    f(&x).sum().backward();
    x.grad().expect("f depends on x").to_vec()
}

#[track_caller]
fn agree(got: &[f32], want: &[f64], tolerance: f64) {
    assert_eq!(close::difference(got, want, tolerance), None, "{got:?}");
}

/// 1 / (x ln 2) at 3.
const LOG2_AT_3: f64 = 0.48089834696298783;

#[test]
fn c01_where_and_the_branch_not_taken() {
    let x = [0.0, 2.0, 3.0];
    let safe = |x: &Tensor| {
        let taken = x.gt_scalar(2);
        let inside = Tensor::where_cond(&taken, x, &Tensor::scalar(1.0));
        Tensor::where_cond(&taken, &inside.log2(), &x.mul_scalar(2))
    };
    agree(&slope(&x, safe), &[2.0, 2.0, LOG2_AT_3], 1e-6);
    // As PyTorch: 0 times the infinite slope of log2 at 0 is NaN.
    let naive = |x: &Tensor| Tensor::where_cond(&x.gt_scalar(2), &x.log2(), &x.mul_scalar(2));
    agree(&slope(&x, naive), &[f64::NAN, 2.0, LOG2_AT_3], 1e-6);
    let a = Tensor::scalar(100.0);
    let y = Tensor::where_cond(&a.le_scalar(0), &a.exp(), &a.add_scalar(1));
    assert_eq!(y.item(), 101.0);
    // Of its kind: sqrt at 0, and 1 / x.
    let root = |x: &Tensor| Tensor::where_cond(&x.gt_scalar(0), &x.sqrt(), &x.mul_scalar(0));
    agree(&slope(&[0.0, 4.0], root), &[f64::NAN, 0.25], 1e-6);
    let inverse = |x: &Tensor| {
        let taken = x.ne_scalar(0);
        let inside = Tensor::where_cond(&taken, x, &Tensor::scalar(1.0));
        Tensor::where_cond(&taken, &inside.reciprocal(), &x.mul_scalar(0))
    };
    agree(&slope(&[0.0, 2.0], inverse), &[0.0, -0.25], 1e-6);
}

#[test]
fn c03_tied_maxima_share_the_gradient() {
    let tied = [2.0, 2.0, 1.0];
    assert_eq!(slope(&tied, |x| x.amax(&[0], false)), [0.5, 0.5, 0.0]);
    assert_eq!(slope(&tied, Tensor::max), [0.5, 0.5, 0.0]);
    assert_eq!(slope(&[2.0, 2.0, 1.0, 1.0], Tensor::min), [0.0, 0.0, 0.5, 0.5]);
    assert_eq!(slope(&tied, |x| x.max_along(0, false).0), [1.0, 0.0, 0.0]);
    // Of its kind: what comes out of any of them sums up to what came in.
    let kinds: [fn(&Tensor) -> Tensor; 5] = [
        |x| x.reshape(&[2, 3]).amin(&[1], true),
        |x| x.reshape(&[3, 2]).max_along(1, false).0,
        |x| x.reshape(&[2, 3]).min_along(0, true).0,
        |x| x.maximum(&vector(&[1.0; 6])),
        |x| x.topk(3, 0, true).0,
    ];
    for (kind, f) in kinds.iter().enumerate() {
        let x = vector(&[1.0; 6]).requires_grad_(true);
        let y = f(&x);
        y.sum().backward();
        let total: f32 = x.grad().expect("f depends on x").to_vec::<f32>().iter().sum();
        let share = if kind == 3 { 0.5 } else { 1.0 };
        assert_eq!(total, share * y.numel() as f32, "kind {kind}");
    }
}

#[test]
fn c05_norm_at_the_zero_vector() {
    let x = Tensor::from_vec(vec![0f32, 0.0, 0.0, 1.0, 2.0, 2.0], &[2, 3]).requires_grad_(true);
    let norms = x.norm_dims(2.0, &[1], false);
    agree(&norms.to_vec(), &[0.0, 3.0], 1e-6);
    norms.sum().backward();
    let third = 1.0 / 3.0;
    let want = [0.0, 0.0, 0.0, third, 2.0 * third, 2.0 * third];
    agree(&x.grad().expect("the norm depends on x").to_vec(), &want, 1e-6);
    assert_eq!(slope(&[0.0, 0.0], |x| x.norm(2.0)), [0.0, 0.0]);
    // Of its kind: the other norms, and the standard deviation of equal numbers.
    assert_eq!(slope(&[0.0, 0.0], |x| x.norm(1.0)), [0.0, 0.0]);
    assert!(slope(&[0.0, 0.0], |x| x.norm(f64::INFINITY)).iter().all(|dx| dx.is_finite()));
}

#[test]
fn c07_products_with_a_zero() {
    assert_eq!(slope(&[2.0, 0.0, 4.0], Tensor::prod), [0.0, 8.0, 0.0]);
    assert_eq!(slope(&[0.0, 0.0, 4.0], Tensor::prod), [0.0, 0.0, 0.0]);
    assert_eq!(slope(&[2.0, 0.0, 3.0, 4.0], |x| x.cumprod(0)), [1.0, 32.0, 0.0, 0.0]);
    assert_eq!(slope(&[2.0, 0.0, 0.0, 3.0], |x| x.cumprod(0)), [1.0, 2.0, 0.0, 0.0]);
    assert_eq!(slope(&[0.0, 2.0, 3.0], |x| x.cumprod(0)), [9.0, 0.0, 0.0]);
    // Of its kind: over a dimension, and with -0.
    let over = |x: &Tensor| x.reshape(&[2, 2]).prod_dims(&[0], false);
    assert_eq!(slope(&[0.0, 2.0, 3.0, 0.0], over), [3.0, 0.0, 0.0, 2.0]);
    assert_eq!(slope(&[-0.0, 5.0], Tensor::prod), [5.0, 0.0]);
}

#[test]
fn c17_large_logits() {
    let first = |x: &Tensor| x.log_softmax(0).narrow(0, 0, 1);
    agree(&vector(&[0.0, 1000.0]).log_softmax(0).to_vec(), &[-1000.0, 0.0], 1e-4);
    agree(&slope(&[0.0, 1000.0], first), &[1.0, -1.0], 1e-4);
    let large = [1000.0, 1000.0];
    agree(&[vector(&large).logsumexp(&[0], false).item()], &[1000.6931471805599], 1e-4);
    agree(&slope(&large, |x| x.logsumexp(&[0], false)), &[0.5, 0.5], 1e-4);
    let bce = |x: &Tensor| x.bce_with_logits(&vector(&[0.0, 1.0, 1.0]), None, Reduction::None);
    let logits = [100.0, -100.0, 0.0];
    agree(&bce(&vector(&logits)).to_vec(), &[100.0, 100.0, std::f64::consts::LN_2], 1e-4);
    agree(&slope(&logits, bce), &[1.0, -1.0, -0.5], 1e-4);
    agree(&vector(&[-1000.0, 1000.0]).logsigmoid().to_vec(), &[-1000.0, 0.0], 1e-4);
    // Of its kind.
    agree(&slope(&[-1000.0, 1000.0], Tensor::logsigmoid), &[1.0, 0.0], 1e-4);
    agree(&vector(&[-1000.0, 1000.0]).softplus(1.0, 20.0).to_vec(), &[0.0, 1000.0], 1e-4);
    agree(&vector(&[-1000.0, -1000.0]).logsumexp(&[0], true).to_vec(), &[-999.3068528], 1e-4);
}

#[test]
fn c19_ignored_and_invalid_targets() {
    let loss = |targets: [i64; 2], options: CrossEntropy| {
        let logits = vec![1f32, 2.0, 3.0, 1.0, 2.0, 3.0];
        let x = Tensor::from_vec(logits, &[2, 3]).requires_grad_(true);
        let y = x.cross_entropy_with(&Tensor::from_vec(targets.to_vec(), &[2]), options);
        y.sum().backward();
        (y.to_vec::<f32>(), x.grad().expect("the loss depends on x").to_vec::<f32>())
    };
    let row = [0.09003057317038046, 0.24472847105479764, -0.3347590442251781, 0.0, 0.0, 0.0];
    let (alone, nothing) = (0.4076059644443804, [0.0; 6]);
    let sum = || CrossEntropy { reduction: Reduction::Sum, ..CrossEntropy::default() };
    let each = || CrossEntropy {
        reduction: Reduction::None,
        ignore_index: 255,
        ..CrossEntropy::default()
    };
    let cases: [(_, _, &[f64], [f64; 6]); 4] = [
        ([2, -100], CrossEntropy::default(), &[alone], row),
        // 0 / 0, as in PyTorch; the gradient is 0 all the same.
        ([-100, -100], CrossEntropy::default(), &[f64::NAN], nothing),
        ([-100, -100], sum(), &[0.0], nothing),
        ([2, 255], each(), &[alone, 0.0], row),
    ];
    for (targets, options, want, gradient) in cases {
        let (got, dx) = loss(targets, options);
        agree(&got, want, 1e-6);
        agree(&dx, &gradient, 1e-6);
    }
    for bad in [-4, 3] {
        let refusal = refused(|| loss([2, bad], CrossEntropy::default()));
        assert!(refusal.message.contains(&bad.to_string()), "{refusal}");
    }
}

/// At a bound the gradient passes, as in PyTorch 2.9.1.
#[test]
fn c21_slopes_at_boundaries() {
    let x = [0.0, 1.0, 2.0, -1.0, 0.5];
    assert_eq!(slope(&x, |x| x.clamp(0, 1)), [1.0, 1.0, 0.0, 0.0, 1.0]);
    assert_eq!(slope(&[4.0], Tensor::sqrt), [0.25]);
    assert_eq!(slope(&[0.0, -3.0], |x| x.pow_scalar(2)), [0.0, -6.0]);
    assert_eq!(slope(&[0.0, 2.0], |x| x.pow_scalar(0)), [0.0, 0.0]);
    // Of its kind: relu and |x| have the slope 0 at 0, and x¹ has 1 there.
    assert_eq!(slope(&[0.0, 1.0], Tensor::relu), [0.0, 1.0]);
    assert_eq!(slope(&[0.0, -2.0], Tensor::abs), [0.0, -1.0]);
    assert_eq!(slope(&[0.0, 2.0], |x| x.pow_scalar(1)), [1.0, 1.0]);
}
