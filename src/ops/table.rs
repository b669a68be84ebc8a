//! The table of all operations: a name, sample inputs, and how to call it.
//!
//! Tests run down this table: each operation is checked against finite differences. A new
//! operation is a new row.

use crate::Tensor;
use crate::rng::Generator;

/// Makes inputs for one call.
pub type Sample = fn(&mut Generator) -> Vec<Tensor>;

/// One operation.
pub struct OpRow {
    /// PyTorch's name for it, where it has one.
    pub name: &'static str,
    /// Inputs at which its gradient exists and is not extreme.
    pub sample: Sample,
    /// Calls it on such inputs.
    pub call: fn(&[Tensor]) -> Tensor,
}

const fn row(name: &'static str, sample: Sample, call: fn(&[Tensor]) -> Tensor) -> OpRow {
    OpRow { name, sample, call }
}

/// Every operation that can be recorded.
pub const OPS: &[OpRow] = &[
    row("neg", one, |x| x[0].neg()),
    row("exp", one, |x| x[0].exp()),
    row("log", positive, |x| x[0].log()),
    row("tanh", one, |x| x[0].tanh()),
    row("relu", away_from_zero, |x| x[0].relu()),
    row("add_scalar", one, |x| x[0].add_scalar(1.5)),
    row("mul_scalar", one, |x| x[0].mul_scalar(-1.5)),
    row("add", broadcasting, |x| x[0].add(&x[1])),
    row("sub", broadcasting, |x| x[0].sub(&x[1])),
    row("mul", broadcasting, |x| x[0].mul(&x[1])),
    row("div", divisible, |x| x[0].div(&x[1])),
    row("matmul", matrices, |x| x[0].matmul(&x[1])),
    row("transpose", one, |x| x[0].transpose(0, 2)),
    row("permute", one, |x| x[0].permute(&[2, 0, 1])),
    row("narrow", one, |x| x[0].narrow(1, 1, 2)),
    row("slice", one, |x| x[0].slice(2, 0, 4, 3)),
    row("select", one, |x| x[0].select(1, -1)),
    row("unfold", one, |x| x[0].unfold(2, 3, 1)),
    row("flip", one, |x| x[0].flip(&[0, -1])),
    row("reshape", one, |x| x[0].transpose(0, 1).reshape(&[4, 6])),
    row("expand", narrow, |x| x[0].expand(&[2, 3, 4])),
    row("copy", one, |x| x[0].transpose(1, 2).copy()),
    row("sum", one, |x| x[0].sum_dims(&[0, 2], false)),
    row("max", distinct, |x| x[0].max_dims(&[1], true)),
    row("softmax", one, |x| x[0].softmax(1)),
    row("log_softmax", one, |x| x[0].log_softmax(-1)),
    row("gather", indexed, |x| x[0].gather(1, &x[1])),
    row("scatter_add", scattered, |x| x[0].scatter_add(1, &x[1], &x[2])),
    row("mean", one, |x| x[0].mean_dims(&[1], false)),
    row("cross_entropy", classified, |x| x[0].cross_entropy(&x[1])),
];

fn one(generator: &mut Generator) -> Vec<Tensor> {
    vec![Tensor::rand(&[2, 3, 4], generator).add_scalar(-0.5)]
}

fn positive(generator: &mut Generator) -> Vec<Tensor> {
    vec![Tensor::rand(&[2, 3, 4], generator).add_scalar(0.5)]
}

/// Every element at least 0.1 from 0, where relu has a corner.
fn away_from_zero(generator: &mut Generator) -> Vec<Tensor> {
    let side = |x: f32| if x < 0.5 { x - 0.6 } else { x - 0.4 };
    let values = (0..24).map(|_| side(generator.uniform())).collect();
    vec![Tensor::from_vec(values, &[2, 3, 4])]
}

/// No two elements closer than 0.1, so that a small step changes no maximum.
fn distinct(generator: &mut Generator) -> Vec<Tensor> {
    let order = generator.permutation(24);
    vec![Tensor::from_vec(order.iter().map(|&i| i as f32 * 0.1).collect(), &[2, 3, 4])]
}

fn narrow(generator: &mut Generator) -> Vec<Tensor> {
    vec![Tensor::rand(&[3, 1], generator)]
}

fn broadcasting(generator: &mut Generator) -> Vec<Tensor> {
    let a = Tensor::rand(&[2, 1, 4], generator).add_scalar(-0.5);
    vec![a, Tensor::rand(&[3, 1], generator).add_scalar(-0.5)]
}

fn divisible(generator: &mut Generator) -> Vec<Tensor> {
    let a = Tensor::rand(&[2, 1, 4], generator).add_scalar(-0.5);
    vec![a, Tensor::rand(&[3, 1], generator).add_scalar(0.5)]
}

fn matrices(generator: &mut Generator) -> Vec<Tensor> {
    vec![Tensor::rand(&[2, 3], generator), Tensor::rand(&[3, 4], generator)]
}

/// Indices that repeat within a row.
fn index(generator: &mut Generator) -> Tensor {
    let columns = (0..6).map(|i| if i % 3 == 2 { 1 } else { generator.below(4) as i64 });
    Tensor::from_vec(columns.collect(), &[2, 3])
}

fn indexed(generator: &mut Generator) -> Vec<Tensor> {
    vec![Tensor::rand(&[2, 4], generator), index(generator)]
}

fn scattered(generator: &mut Generator) -> Vec<Tensor> {
    let (x, src) = (Tensor::rand(&[2, 4], generator), Tensor::rand(&[2, 3], generator));
    vec![x, index(generator), src]
}

fn classified(generator: &mut Generator) -> Vec<Tensor> {
    let targets = (0..3).map(|_| generator.below(4) as i64).collect();
    vec![Tensor::rand(&[3, 4], generator), Tensor::from_vec(targets, &[3])]
}
