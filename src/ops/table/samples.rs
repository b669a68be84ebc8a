//! Inputs at which the gradients of operations exist and are not extreme.

use crate::Tensor;
use crate::rng::Generator;

pub(super) fn one(generator: &mut Generator) -> Vec<Tensor> {
    vec![Tensor::rand(&[2, 3, 4], generator).add_scalar(-0.5)]
}

pub(super) fn positive(generator: &mut Generator) -> Vec<Tensor> {
    vec![Tensor::rand(&[2, 3, 4], generator).add_scalar(0.5)]
}

/// Every element at least 0.1 from 0, where relu has a corner.
pub(super) fn away_from_zero(generator: &mut Generator) -> Vec<Tensor> {
    let side = |x: f32| if x < 0.5 { x - 0.6 } else { x - 0.4 };
    let values = (0..24).map(|_| side(generator.uniform())).collect();
    vec![Tensor::from_vec(values, &[2, 3, 4])]
}

/// No two elements closer than 0.1, so that a small step changes no maximum.
pub(super) fn distinct(generator: &mut Generator) -> Vec<Tensor> {
    let order = generator.permutation(24);
    vec![Tensor::from_vec(order.iter().map(|&i| i as f32 * 0.1).collect(), &[2, 3, 4])]
}

/// The first input's numbers after a change in place.
pub(super) fn in_place(x: &[Tensor], change: impl Fn(&Tensor)) -> Tensor {
    let y = x[0].copy();
    change(&y);
    y
}

pub(super) fn changed(generator: &mut Generator) -> Vec<Tensor> {
    vec![one(generator).remove(0), Tensor::rand(&[1, 4], generator)]
}

/// Two tensors of which no two elements are closer than 0.04.
pub(super) fn pair(generator: &mut Generator) -> Vec<Tensor> {
    vec![distinct(generator).remove(0).add_scalar(0.04), distinct(generator).remove(0)]
}

/// Every element at least 0.03 from the integers and from the middle between two.
pub(super) fn between_integers(generator: &mut Generator) -> Vec<Tensor> {
    vec![distinct(generator).remove(0).add_scalar(-1.06)]
}

/// Positive bases and exponents of either sign.
pub(super) fn powers(generator: &mut Generator) -> Vec<Tensor> {
    let exponents = Tensor::rand(&[3, 1], generator).mul_scalar(4.0).add_scalar(-2.0);
    [positive(generator), vec![exponents]].concat()
}

/// A gradient, and what decides where it passes.
pub(super) fn gated(generator: &mut Generator) -> Vec<Tensor> {
    [one(generator), away_from_zero(generator)].concat()
}

/// Integers of a few bits.
pub(super) fn bits(generator: &mut Generator) -> Vec<Tensor> {
    let a = Tensor::randint(-8, 8, &[2, 3, 4], generator);
    vec![a, Tensor::randint(-8, 8, &[3, 1], generator)]
}

/// A mask, numbers, and one number to put where the mask holds.
pub(super) fn filled(generator: &mut Generator) -> Vec<Tensor> {
    [masked(generator), vec![Tensor::rand(&[], generator)]].concat()
}

pub(super) fn masked(generator: &mut Generator) -> Vec<Tensor> {
    let mask = Tensor::from_vec(vec![true, false, false, true], &[4]);
    vec![mask, one(generator).remove(0)]
}

pub(super) fn chosen(generator: &mut Generator) -> Vec<Tensor> {
    [masked(generator), one(generator)].concat()
}

pub(super) fn batches(generator: &mut Generator) -> Vec<Tensor> {
    vec![Tensor::rand(&[2, 2, 3], generator), Tensor::rand(&[2, 3, 2], generator)]
}

/// A list of places that repeats one.
pub(super) fn listed(generator: &mut Generator) -> Vec<Tensor> {
    vec![one(generator).remove(0), Tensor::from_vec(vec![2i64, 0, 2], &[3])]
}

pub(super) fn narrow(generator: &mut Generator) -> Vec<Tensor> {
    vec![Tensor::rand(&[3, 1], generator)]
}

pub(super) fn broadcasting(generator: &mut Generator) -> Vec<Tensor> {
    let a = Tensor::rand(&[2, 1, 4], generator).add_scalar(-0.5);
    vec![a, Tensor::rand(&[3, 1], generator).add_scalar(-0.5)]
}

pub(super) fn divisible(generator: &mut Generator) -> Vec<Tensor> {
    let a = Tensor::rand(&[2, 1, 4], generator).add_scalar(-0.5);
    vec![a, Tensor::rand(&[3, 1], generator).add_scalar(0.5)]
}

pub(super) fn matrices(generator: &mut Generator) -> Vec<Tensor> {
    vec![Tensor::rand(&[2, 3], generator), Tensor::rand(&[3, 4], generator)]
}

/// Indices that repeat within a row.
pub(super) fn index(generator: &mut Generator) -> Tensor {
    let columns = (0..6).map(|i| if i % 3 == 2 { 1 } else { generator.below(4) as i64 });
    Tensor::from_vec(columns.collect(), &[2, 3])
}

pub(super) fn indexed(generator: &mut Generator) -> Vec<Tensor> {
    vec![Tensor::rand(&[2, 4], generator), index(generator)]
}

pub(super) fn scattered(generator: &mut Generator) -> Vec<Tensor> {
    let (x, src) = (Tensor::rand(&[2, 4], generator), Tensor::rand(&[2, 3], generator));
    vec![x, index(generator), src]
}

pub(super) fn classified(generator: &mut Generator) -> Vec<Tensor> {
    let targets = (0..3).map(|_| generator.below(4) as i64).collect();
    vec![Tensor::rand(&[3, 4], generator), Tensor::from_vec(targets, &[3])]
}
