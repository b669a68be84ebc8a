//! Rows of what layers and losses are made of.

use crate::Tensor;
use crate::ops::table::samples::{classified, one, pair};
use crate::ops::table::{OpRow, row};
use crate::ops::{Attention, CrossEntropy, Reduction};
use crate::rng::Generator;

pub(super) const ROWS: &[OpRow] = &[
    row("linear", affine, |x| x[0].linear(&x[1], Some(&x[2]))),
    row("softmax", one, |x| x[0].softmax(1)),
    row("log_softmax", one, |x| x[0].log_softmax(-1)),
    row("layer_norm", normed, |x| x[0].layer_norm(&[4], Some(&x[1]), Some(&x[2]), 0.1)),
    row("rms_norm", scaled, |x| x[0].rms_norm(&[4], Some(&x[1]), 0.1)),
    row("dropout", one, |x| x[0].dropout(0.3, true, &mut Generator::new(3))),
    row("embedding", named, |x| x[0].embedding(&x[1], None)),
    row("scaled_dot_product_attention", attended, |x| {
        let options = Attention { mask: Some(&x[3]), ..Attention::default() };
        x[0].scaled_dot_product_attention(&x[1], &x[2], options)
    }),
    row("cross_entropy", classified, |x| x[0].cross_entropy(&x[1])),
    row("nll_loss", classified, |x| x[0].nll_loss(&x[1], CrossEntropy::default())),
    row("mse_loss", pair, |x| x[0].mse_loss(&x[1], Reduction::Mean)),
    row("l1_loss", pair, |x| x[0].l1_loss(&x[1], Reduction::Sum)),
    row("huber_loss", pair, |x| x[0].huber_loss(&x[1], 0.67, Reduction::None)),
    row("smooth_l1_loss", pair, |x| x[0].smooth_l1_loss(&x[1], 0.67, Reduction::None)),
    row("bce_with_logits", logits, |x| x[0].bce_with_logits(&x[1], Some(&x[2]), Reduction::Mean)),
];

/// Rows of four numbers, a weight that makes five of them, and a bias.
fn affine(generator: &mut Generator) -> Vec<Tensor> {
    [one(generator), vec![Tensor::rand(&[5, 4], generator), Tensor::rand(&[5], generator)]].concat()
}

/// Something to normalise and a weight.
fn scaled(generator: &mut Generator) -> Vec<Tensor> {
    vec![one(generator).remove(0), Tensor::rand(&[4], generator)]
}

/// The same and a bias.
fn normed(generator: &mut Generator) -> Vec<Tensor> {
    [scaled(generator), vec![Tensor::rand(&[4], generator)]].concat()
}

/// A table and the numbers of some of its rows, one of them twice.
fn named(generator: &mut Generator) -> Vec<Tensor> {
    let rows = Tensor::from_vec(vec![2i64, 0, 2, 4], &[2, 2]);
    vec![Tensor::rand(&[5, 3], generator), rows]
}

/// Queries, keys, values and what is added to the scores.
fn attended(generator: &mut Generator) -> Vec<Tensor> {
    let shapes: [&[usize]; 4] = [&[2, 3, 4], &[2, 5, 4], &[5, 2], &[3, 5]];
    shapes.map(|shape| Tensor::rand(shape, generator)).to_vec()
}

/// Logits, probabilities as targets, and a weight for each column.
fn logits(generator: &mut Generator) -> Vec<Tensor> {
    let targets = Tensor::rand(&[2, 3, 4], generator);
    [one(generator), vec![targets, Tensor::rand(&[4], generator)]].concat()
}
