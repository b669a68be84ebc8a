//! The table of all operations: a name, sample inputs, and how to call it.
//!
//! Tests run down this table: each operation is checked against finite differences. A new
//! operation is a new row.

use crate::Tensor;
use crate::dtype::DType;
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
    row("div_scalar", one, |x| x[0].div_scalar(-1.5)),
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
    row("to", one, |x| x[0].to(DType::F64)),
    row("clamp", distinct, |x| x[0].clamp(0.55, 1.25)),
    row("maximum", pair, |x| x[0].maximum(&x[1])),
    row("minimum", pair, |x| x[0].minimum(&x[1])),
    row("clamp_min", pair, |x| x[0].clamp_min(&x[1])),
    row("where", chosen, |x| Tensor::where_cond(&x[0], &x[1], &x[2])),
    row("masked_fill", masked, |x| x[1].masked_fill(&x[0], 2.5)),
    row("remainder", pair, |x| x[0].remainder(&x[1].mul_scalar(0.0).add_scalar(0.69))),
    row("prod", one, |x| x[0].prod_dims(&[1], false)),
    row("min", distinct, |x| x[0].min_dims(&[0, 2], false)),
    row("cumsum", one, |x| x[0].cumsum(1)),
    row("cummax", distinct, |x| x[0].cummax(2).0),
    row("sort", distinct, |x| x[0].sort(0).0),
    row("bmm", batches, |x| x[0].matmul(&x[1])),
    row("take", listed, |x| x[0].take(&x[1])),
    row("index", listed, |x| x[0].index(&[None, Some(&x[1])])),
    row("index_select", listed, |x| x[0].index_select(1, &x[1])),
    row("add_", changed, |x| in_place(x, |y| y.select(1, 1).add_(&x[1], -1.5))),
    row("mul_", changed, |x| in_place(x, |y| y.transpose(0, 1).mul_(&x[1]))),
    row("fill_", one, |x| in_place(x, |y| y.slice(2, 0, 4, 2).fill_(0.5))),
    row("zero_", one, |x| in_place(x, |y| y.select(0, 1).zero_())),
    row("copy_", changed, |x| in_place(x, |y| y.narrow(1, 1, 2).copy_(&x[1]))),
    row("masked_fill_", masked, |x| in_place(&x[1..], |y| y.masked_fill_(&x[0], 2.5))),
    row("put_", changed, |x| {
        let places = Tensor::from_vec(vec![5i64, -1, 0, 7], &[1, 4]);
        in_place(x, |y| y.put_(&places, &x[1], false))
    }),
    row("index_put_", changed, |x| {
        let rows = Tensor::from_vec(vec![1i64, 0, 1], &[3, 1]);
        in_place(x, |y| y.index_put_(&[None, Some(&rows)], &x[1].select(0, 0), true))
    }),
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

/// The first input's numbers after a change in place.
fn in_place(x: &[Tensor], change: impl Fn(&Tensor)) -> Tensor {
    let y = x[0].copy();
    change(&y);
    y
}

fn changed(generator: &mut Generator) -> Vec<Tensor> {
    vec![one(generator).remove(0), Tensor::rand(&[1, 4], generator)]
}

/// Two tensors of which no two elements are closer than 0.04.
fn pair(generator: &mut Generator) -> Vec<Tensor> {
    vec![distinct(generator).remove(0).add_scalar(0.04), distinct(generator).remove(0)]
}

fn masked(generator: &mut Generator) -> Vec<Tensor> {
    let mask = Tensor::from_vec(vec![true, false, false, true], &[4]);
    vec![mask, one(generator).remove(0)]
}

fn chosen(generator: &mut Generator) -> Vec<Tensor> {
    [masked(generator), one(generator)].concat()
}

fn batches(generator: &mut Generator) -> Vec<Tensor> {
    vec![Tensor::rand(&[2, 2, 3], generator), Tensor::rand(&[2, 3, 2], generator)]
}

/// A list of places that repeats one.
fn listed(generator: &mut Generator) -> Vec<Tensor> {
    vec![one(generator).remove(0), Tensor::from_vec(vec![2i64, 0, 2], &[3])]
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
