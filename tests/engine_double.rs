//! Gradients of gradients: every operation of the table against finite differences of its gradient,
//! in `f64`; and PyTorch's `autograd.grad`.

#[path = "engine/refused.rs"]
mod refused;

use engine_room::autograd::{Keep, grad, gradcheck};
use engine_room::rng::Generator;
use engine_room::{DType, OPS, OpRow, Tensor};
use refused::refused;

/// x, asking for a gradient.
fn asking(x: &Tensor) -> Tensor {
    let asks = x.requires_grad() || !x.dtype().is_floating_point();
    if asks { x.clone() } else { x.detach().requires_grad_(true) }
}

/// Σ of the gradients of all inputs, each element with a weight of its own. A small share of the
/// inputs themselves is added, so that an operation whose gradient is constant has one to check.
fn weighted_gradient(row: &OpRow, inputs: &[Tensor]) -> Tensor {
    let inputs: Vec<Tensor> = inputs.iter().map(asking).collect();
    let y = (row.call)(&inputs);
    let mut rng = Generator::new(11);
    let mut weights = |x: &Tensor| Tensor::rand(x.shape(), &mut rng).add_scalar(0.5).to(x.dtype());
    let dy = weights(&y);
    let asked: Vec<&Tensor> = inputs.iter().filter(|x| x.requires_grad()).collect();
    let gradients = grad(&[&y], &asked, Some(&[&dy]), Keep::GraphOfGradients);
    let mut total = Tensor::scalar(0.0).to(DType::F64);
    for (x, dx) in asked.iter().zip(gradients) {
        let share = x.to(DType::F64).mul(&weights(x).to(DType::F64)).sum().mul_scalar(0.01);
        total = total.add(&share);
        if let Some(dx) = dx {
            total = total.add(&dx.to(DType::F64).mul(&weights(x).to(DType::F64)).sum());
        }
    }
    total
}

#[test]
fn gradients_of_gradients_agree_with_finite_differences() {
    let mut wrong = Vec::new();
    // A cast to another type and back is no function in f64, and rounds away the step.
    for row in OPS.iter().filter(|row| row.has_gradient && row.name != "to") {
        for seed in 0..2 {
            let inputs = (row.sample)(&mut Generator::new(seed));
            let wide = |x: &Tensor| {
                if x.dtype().is_floating_point() { x.to(DType::F64) } else { x.clone() }
            };
            let inputs: Vec<Tensor> = inputs.iter().map(wide).collect();
            if let Err(error) = gradcheck(|x| weighted_gradient(row, x), &inputs, 1e-5, 1e-5) {
                wrong.push(format!("{} with seed {seed}: {error}", row.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn leaf(values: &[f64]) -> Tensor {
    Tensor::from_vec(values.to_vec(), &[values.len()]).requires_grad_(true)
}

/// x³ has the gradient 3x², that has 6x, and that has 6.
#[test]
fn three_gradients_of_a_cube() {
    let x = leaf(&[2.0, -1.0]);
    let mut y = x.mul(&x).mul(&x);
    for want in [[12.0, 3.0], [12.0, -6.0], [6.0, 6.0]] {
        let gradients = grad(&[&y.sum()], &[&x], None, Keep::GraphOfGradients);
        y = gradients[0].clone().expect("it depends on x");
        assert_eq!(y.to_vec::<f64>(), want);
    }
    assert!(x.grad().is_none(), "grad leaves the leaf alone");
}

/// The penalty of a gradient's norm, as it is trained with: through a view and a change in place.
#[test]
fn a_gradient_penalty_reaches_the_leaf() {
    let x = leaf(&[0.5, 1.0, 1.5]);
    let y = x.mul(&x);
    y.narrow(0, 1, 2).mul_(&x.narrow(0, 0, 2));
    let dx = grad(&[&y.sum()], &[&x], None, Keep::GraphOfGradients);
    let dx = dx[0].as_ref().expect("it depends on x");
    dx.mul(dx).sum().backward();
    // y = [a^2, a b^2, b c^2]: dx = [2a + b^2, 2ab + c^2, 2bc]; then by hand.
    let (a, b, c) = (0.5f64, 1.0f64, 1.5f64);
    let [da, db, dc] = [2.0 * a + b * b, 2.0 * a * b + c * c, 2.0 * b * c];
    let want = [
        2.0 * (da * 2.0 + db * 2.0 * b),
        2.0 * (da * 2.0 * b + db * 2.0 * a + dc * 2.0 * c),
        2.0 * (db * 2.0 * c + dc * 2.0 * b),
    ];
    let got = x.grad().expect("backward leaves it").to_vec::<f64>();
    for (got, want) in got.iter().zip(want) {
        assert!((got - want).abs() < 1e-12 * want.abs(), "{got} and {want}");
    }
}

/// Gradients with respect to results, of several outputs, and of what is not used.
#[test]
fn grad_takes_results_and_several_outputs() {
    let (a, b, unused) = (leaf(&[2.0]), leaf(&[3.0]), leaf(&[1.0]));
    let h = a.mul(&b);
    let (u, v) = (h.mul_scalar(5.0), h.mul(&h));
    let dys = [&Tensor::from_vec(vec![1.0f64], &[1]), &Tensor::from_vec(vec![2.0f64], &[1])];
    let gradients = grad(&[&u, &v], &[&h, &a, &unused], Some(&dys), Keep::Graph);
    let number = |i: usize| gradients[i].as_ref().map(|dx| dx.to_vec::<f64>()[0]);
    // dh = 5 + 2 * 2h = 29, da = b * dh.
    assert_eq!([number(0), number(1), number(2)], [Some(29.0), Some(87.0), None]);
    let alone = grad(&[&u], &[&b], None, Keep::Nothing);
    assert_eq!(alone[0].as_ref().expect("u depends on b").to_vec::<f64>(), [10.0]);
    let constant = Tensor::ones(&[1]);
    assert_eq!(refused(|| grad(&[&u], &[&constant], None, Keep::Graph)).op, "grad");
    assert_eq!(refused(|| grad(&[&constant], &[&a], None, Keep::Graph)).op, "grad");
    assert_eq!(refused(|| grad(&[&u, &v], &[&a], Some(&dys[..1]), Keep::Graph)).op, "grad");
}

/// `backward` with a recorded gradient: what it leaves at the leaf has a gradient itself.
#[test]
fn a_recorded_gradient_at_a_leaf_has_a_gradient() {
    let x = leaf(&[3.0]);
    x.mul(&x).mul(&x).sum().backward_create_graph();
    let dx = x.grad().expect("backward leaves it");
    assert_eq!(dx.to_vec::<f64>(), [27.0]);
    let second = grad(&[&dx.sum()], &[&x], None, Keep::Nothing);
    assert_eq!(second[0].as_ref().expect("it depends on x").to_vec::<f64>(), [18.0]);
}
