//! Rows of changes in place.

use crate::Tensor;
use crate::ops::table::samples::{changed, in_place, masked, one};
use crate::ops::table::{OpRow, row};

pub(super) const ROWS: &[OpRow] = &[
    row("add_", changed, |x| in_place(x, |y| y.select(1, 1).add_(&x[1], -1.5))),
    row("mul_", changed, |x| in_place(x, |y| y.transpose(0, 1).mul_(&x[1]))),
    row("fill_", one, |x| in_place(x, |y| y.slice(2, 0, 4, 2).fill_(0.5))),
    row("zero_", one, |x| in_place(x, |y| y.select(0, 1).zero_())),
    row("copy_", changed, |x| in_place(x, |y| y.narrow(1, 1, 2).copy_(&x[1]))),
    row("masked_fill_", masked, |x| in_place(&x[1..], |y| y.masked_fill_(&x[0], 2.5))),
    row("put_", changed, |x| {
        let places = Tensor::from_vec(vec![5i64, -1, 0, 7], &[1, 4]).to(x[0].device());
        in_place(x, |y| y.put_(&places, &x[1], false))
    }),
    row("index_put_", changed, |x| {
        let rows = Tensor::from_vec(vec![1i64, 0, 1], &[3, 1]).to(x[0].device());
        in_place(x, |y| y.index_put_(&[None, Some(&rows)], &x[1].select(0, 0), true))
    }),
];
