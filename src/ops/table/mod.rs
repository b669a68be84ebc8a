//! The table of all operations: a name, sample inputs, and how to call it.
//!
//! Tests run down this table: each operation is checked against finite differences. A new
//! operation is a new row in the file of its family.

mod elementwise;
mod in_place;
mod index;
mod join;
mod layers;
mod reduce;
mod samples;
mod views;

use crate::Tensor;
use crate::rng::Generator;

/// Makes inputs for one call.
pub type Sample = fn(&mut Generator) -> Vec<Tensor>;

/// One operation.
#[derive(Clone, Copy)]
pub struct OpRow {
    /// PyTorch's name for it, where it has one.
    pub name: &'static str,
    /// Inputs at which its gradient exists and is not extreme.
    pub sample: Sample,
    /// Calls it on such inputs.
    pub call: fn(&[Tensor]) -> Tensor,
    /// Whether its result depends on the inputs in a way that has a gradient; a comparison's, or
    /// an index, does not.
    pub has_gradient: bool,
}

const fn row(name: &'static str, sample: Sample, call: fn(&[Tensor]) -> Tensor) -> OpRow {
    OpRow { name, sample, call, has_gradient: true }
}

/// A row of an operation that has no gradient.
const fn flat(name: &'static str, sample: Sample, call: fn(&[Tensor]) -> Tensor) -> OpRow {
    OpRow { name, sample, call, has_gradient: false }
}

const FAMILIES: [&[OpRow]; 7] = [
    elementwise::ROWS,
    views::ROWS,
    reduce::ROWS,
    layers::ROWS,
    index::ROWS,
    in_place::ROWS,
    join::ROWS,
];

/// Every operation.
pub const OPS: &[OpRow] = &joined::<{ count(&FAMILIES) }>(&FAMILIES);

const fn count(families: &[&[OpRow]]) -> usize {
    let (mut total, mut family) = (0, 0);
    while family < families.len() {
        total += families[family].len();
        family += 1;
    }
    total
}

/// The rows of all families in one array. Loops with counters, since iterators are not `const`.
const fn joined<const N: usize>(families: &[&[OpRow]]) -> [OpRow; N] {
    let mut rows = [families[0][0]; N];
    let (mut at, mut family) = (0, 0);
    while family < families.len() {
        let mut i = 0;
        while i < families[family].len() {
            rows[at] = families[family][i];
            at += 1;
            i += 1;
        }
        family += 1;
    }
    rows
}
