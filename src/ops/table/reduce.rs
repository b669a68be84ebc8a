//! Rows of products, reductions and scans.

use crate::Tensor;
use crate::ops::table::samples::{batches, distinct, matrices, one};
use crate::ops::table::{OpRow, flat, row};
use crate::rng::Generator;

pub(super) const ROWS: &[OpRow] = &[
    row("matmul", matrices, |x| x[0].matmul(&x[1])),
    row("bmm", batches, |x| x[0].bmm(&x[1])),
    row("mv", lines, |x| x[0].mv(&x[1])),
    row("dot", lines, |x| x[0].select(0, 1).dot(&x[1])),
    row("outer", lines, |x| x[1].outer(&x[0].select(0, 0))),
    row("addmm", summed, |x| x[0].addmm(&x[1], &x[2], 0.5, -1.5)),
    row("sum", one, |x| x[0].sum_dims(&[0, 2], false)),
    row("max", distinct, |x| x[0].max_dims(&[1], true)),
    row("min", distinct, |x| x[0].min_dims(&[0, 2], false)),
    row("max_along", distinct, |x| x[0].max_along(1, false).0),
    row("min_along", distinct, |x| x[0].min_along(-1, true).0),
    row("prod", one, |x| x[0].prod_dims(&[1], false)),
    row("mean", one, |x| x[0].mean_dims(&[1], false)),
    row("var", one, |x| x[0].var_dims(&[0, 2], true, 1)),
    row("std", one, |x| x[0].std_dims(&[1], false, 0)),
    row("norm", distinct, |x| x[0].add_scalar(-1.22).norm_dims(2.0, &[1], false)),
    row("logsumexp", one, |x| x[0].logsumexp(&[0, 2], false)),
    row("cumsum", one, |x| x[0].cumsum(1)),
    row("cumprod", one, |x| x[0].cumprod(2)),
    row("cummax", distinct, |x| x[0].cummax(2).0),
    row("cummin", distinct, |x| x[0].cummin(0).0),
    row("sort", distinct, |x| x[0].sort(0).0),
    flat("argmax", distinct, |x| x[0].argmax(1)),
    flat("argmin", distinct, |x| x[0].argmin(-1)),
    flat("any", one, |x| x[0].any_dims(&[1], false)),
    flat("all", one, |x| x[0].all_dims(&[0, 2], true)),
    flat("count_nonzero", one, |x| x[0].count_nonzero(&[2])),
];

/// A matrix and a vector.
fn lines(generator: &mut Generator) -> Vec<Tensor> {
    vec![Tensor::rand(&[2, 3], generator), Tensor::rand(&[3], generator)]
}

fn summed(generator: &mut Generator) -> Vec<Tensor> {
    [vec![Tensor::rand(&[4], generator)], matrices(generator)].concat()
}
