//! Rows of products, reductions and scans.

use crate::ops::table::samples::{batches, distinct, matrices, one};
use crate::ops::table::{OpRow, row};

pub(super) const ROWS: &[OpRow] = &[
    row("matmul", matrices, |x| x[0].matmul(&x[1])),
    row("bmm", batches, |x| x[0].matmul(&x[1])),
    row("sum", one, |x| x[0].sum_dims(&[0, 2], false)),
    row("max", distinct, |x| x[0].max_dims(&[1], true)),
    row("min", distinct, |x| x[0].min_dims(&[0, 2], false)),
    row("prod", one, |x| x[0].prod_dims(&[1], false)),
    row("mean", one, |x| x[0].mean_dims(&[1], false)),
    row("cumsum", one, |x| x[0].cumsum(1)),
    row("cummax", distinct, |x| x[0].cummax(2).0),
    row("sort", distinct, |x| x[0].sort(0).0),
];
