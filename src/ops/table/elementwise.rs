//! Rows of elementwise operations.

use crate::Tensor;
use crate::dtype::DType;
use crate::ops::table::samples::{
    away_from_zero, broadcasting, chosen, distinct, divisible, masked, one, pair, positive,
};
use crate::ops::table::{OpRow, row};

pub(super) const ROWS: &[OpRow] = &[
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
    row("to", one, |x| x[0].to(DType::F64)),
    row("clamp", distinct, |x| x[0].clamp(0.55, 1.25)),
    row("maximum", pair, |x| x[0].maximum(&x[1])),
    row("minimum", pair, |x| x[0].minimum(&x[1])),
    row("clamp_min", pair, |x| x[0].clamp_min(&x[1])),
    row("where", chosen, |x| Tensor::where_cond(&x[0], &x[1], &x[2])),
    row("masked_fill", masked, |x| x[1].masked_fill(&x[0], 2.5)),
    row("remainder", pair, |x| x[0].remainder(&x[1].mul_scalar(0.0).add_scalar(0.69))),
];
