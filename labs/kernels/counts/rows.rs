//! The cases of `reduce.cu`, `arg_reduce.cu`, `softmax.cu`, `layer_norm.cu`, `scan.cu` and
//! `sort.cu`: threads that share a row.

use engine_room::Tensor;

use super::case::Case;
use super::operands::{Operands, SIDE, leaf};

/// Reads 512 rows of `f32`, and writes a number a row.
const fn reduce(kernel: &'static str, call: fn(&Operands)) -> Case {
    Case::each(kernel, 4, call).and(4 * SIDE)
}

pub const REDUCE: &[Case] = &[
    reduce("sum_f32", |o| drop(o.x.sum_dims(&[1], false))),
    reduce("sum_f32", |o| drop(o.x.sum_dims(&[0], false))).of("sums of columns"),
    Case::each("sum_f32", 4, |o| drop(o.x.sum())).and(4).of("all elements"),
    reduce("prod_f32", |o| drop(o.x.prod_dims(&[1], false))),
    reduce("max_f32", |o| drop(o.x.amax(&[1], false))),
    reduce("min_f32", |o| drop(o.x.amin(&[1], false))),
    reduce("sum_abs_f32", |o| drop(o.x.norm_dims(1.0, &[1], false))),
    reduce("max_abs_f32", |o| drop(o.x.norm_dims(f64::INFINITY, &[1], false))),
    reduce("sum_squares_f32", |o| drop(o.x.norm_dims(2.0, &[1], false))),
    // It reads the means, too.
    reduce("sum_squares_f32", |o| drop(o.x.var_dims(&[1], false, 1))).and(4 * SIDE).of("variance"),
];

pub const ARG_REDUCE: &[Case] = &[
    Case::each("argmax_f32", 4, |o| drop(o.x.argmax(1))).and(8 * SIDE),
    Case::each("argmin_f32", 4, |o| drop(o.x.argmin(1))).and(8 * SIDE),
    Case::each("argmax_f32", 4, |o| drop(o.x.argmax(0))).and(8 * SIDE).of("down the columns"),
];

pub const SOFTMAX: &[Case] = &[
    Case::each("softmax_f32", 8, |o| drop(o.x.softmax(1))),
    Case::each("softmax_f32", 8, |o| drop(o.long.softmax(1))).of("64 x 4,096"),
    Case::each("softmax_f32", 8, |o| drop(o.x.softmax(0))).of("down the columns"),
    reduce("logsumexp_f32", |o| drop(o.x.logsumexp(&[1], false))),
];

/// The layer and its gradients.
fn layer_norm(o: &Operands) {
    let [x, weight, bias] = [&o.x, &o.weight, &o.weight].map(leaf);
    x.layer_norm(&[SIDE], Some(&weight), Some(&bias), 1e-5).backward_with(&o.y);
}

/// Bytes of a number for each row, or for each column.
const LINE: usize = 4 * SIDE;

pub const LAYER_NORM: &[Case] = &[
    // Weight, bias, mean and 1 / sqrt(variance); then three of these; then two, and both gradients.
    Case::each("layer_norm_f32", 8, layer_norm).and(4 * LINE),
    Case::each("layer_norm_backward_f32", 12, layer_norm).and(3 * LINE),
    Case::each("layer_norm_sums_f32", 8, layer_norm).and(4 * LINE),
];

pub const SCAN: &[Case] = &[
    Case::each("cumsum_f32", 8, |o| drop(o.x.cumsum(1))),
    Case::each("cumsum_f32", 8, |o| drop(o.long.cumsum(1))).of("64 x 4,096"),
    Case::each("cumsum_f32", 8, |o| drop(o.x.cumsum(0))).of("down the columns"),
    Case::each("cumprod_f32", 8, |o| drop(o.x.cumprod(1))),
    Case::each("cummax_f32", 12, |o| drop(o.x.cummax(1))),
    Case::each("cummin_f32", 12, |o| drop(o.x.cummin(1))),
];

fn sort(o: &Operands) {
    drop(Tensor::argsort(&o.long, 1));
}

pub const SORT: &[Case] = &[
    Case::each("sort_runs_f32", 12, sort).of("64 x 4,096"),
    // From runs of 1,024 to 2,048, then to 4,096: each time the places twice, and x.
    Case::each("merge_runs_f32", 2 * 20, sort).of("64 x 4,096"),
];
