//! Rows of what joins, cuts, repeats and selects.

use crate::Tensor;
use crate::ops::table::samples::{distinct, indexed, listed, one, pair, scattered};
use crate::ops::table::{OpRow, row};

pub(super) const ROWS: &[OpRow] = &[
    row("cat", pair, |x| Tensor::cat(&[&x[0], &x[1], &x[0]], 1)),
    row("stack", pair, |x| Tensor::stack(&[&x[0], &x[1]], -1)),
    row("split", one, |x| x[0].split(&[1, 3], 2).remove(1)),
    row("chunk", one, |x| x[0].chunk(2, 1).remove(0)),
    row("repeat", one, |x| x[0].repeat(&[2, 1, 1, 3])),
    row("repeat_interleave", one, |x| x[0].repeat_interleave(2, 1)),
    row("flatten", one, |x| x[0].transpose(0, 1).flatten(1, 2)),
    row("roll", one, |x| x[0].roll(-1, 2)),
    row("diag", one, |x| x[0].select(0, 1).diag()),
    row("tril", one, |x| x[0].tril(0)),
    row("triu", one, |x| x[0].triu(1)),
    row("topk", distinct, |x| x[0].topk(2, 1, true).0),
    row("masked_select", distinct, |x| {
        let mask = x[0].detach().gt_scalar(0.95);
        x[0].masked_select(&mask)
    }),
    row("scatter", scattered, |x| {
        let index = Tensor::from_vec(vec![3i64, 0, 2, 1, 3, 0], &[2, 3]).to(x[0].device());
        x[0].scatter(1, &index, &x[2])
    }),
    row("scatter_scalar", indexed, |x| x[0].scatter_scalar(1, &x[1], 2.5)),
    row("index_add", listed, |x| x[0].index_add(1, &x[1], &x[0])),
];
