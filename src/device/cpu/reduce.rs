//! Reductions: sums, products, maxima and minima over any dimensions.
//!
//! Floating-point numbers are reduced in `f64` and integers in `i64`, whatever their type is, and
//! rounded once at the end. Rows that lie side by side are summed in blocks of 1,024 with eight
//! running sums each (in `f32` for `f32` and the half types), and the blocks in `f64`. Block size
//! and order are fixed, so the bits of a sum depend on the layout alone and never on how the work
//! is split.

use crate::device::cpu::operand;
use crate::device::cpu::walk::Operand;
use crate::device::{Reduce, View};
use crate::dtype::{Arithmetic, DType, Element, Scalar, with_element};
use crate::layout::{inner_row, rows};
use crate::memory::room;
use crate::storage::Storage;

/// Reduces the dimensions for which `over` is true, to elements of type `to`.
pub fn reduce(f: Reduce, x: View, over: &[bool], to: DType) -> Storage {
    with_element!(x.dtype(), T => {
        let buffer = x.storage.read("reduce");
        let x = operand::<T>(&buffer, x);
        match f {
            Reduce::Norm1 | Reduce::Norm2 | Reduce::NormInf => norms(f, x, over, to),
            _ if T::DTYPE.is_floating_point() => floats(f, x, over, to),
            _ => integers(f, x, over, to),
        }
    })
}

fn floats<T: Element>(f: Reduce, x: Operand<T>, over: &[bool], to: DType) -> Storage {
    let widen = |x: T| x.to_scalar().to_f64();
    let (nothing, join) = identity(f, (f64::NEG_INFINITY, f64::INFINITY));
    let row = |row: &[T]| row.iter().fold(nothing, |a, &x| join(a, widen(x)));
    narrowed(
        to,
        match f {
            Reduce::Sum => fold(x, over, nothing, join, widen, sum_row::<T>),
            _ => fold(x, over, nothing, join, widen, row),
        },
    )
}

/// Σ |x|, √Σ x² or max |x|. No square of an `f32` is too large for an `f64`.
fn norms<T: Element>(f: Reduce, x: Operand<T>, over: &[bool], to: DType) -> Storage {
    let widen = |x: T| {
        let x = x.to_scalar().to_f64();
        if f == Reduce::Norm2 { x * x } else { x.abs() }
    };
    let join = if f == Reduce::NormInf { f64::larger } else { f64::add };
    let row = |row: &[T]| row.iter().fold(0.0, |a, &x| join(a, widen(x)));
    let mut sums = fold(x, over, 0.0, join, widen, row);
    if f == Reduce::Norm2 {
        sums.iter_mut().for_each(|sum| *sum = sum.sqrt());
    }
    narrowed(to, sums)
}

fn integers<T: Element>(f: Reduce, x: Operand<T>, over: &[bool], to: DType) -> Storage {
    let widen = |x: T| x.to_scalar().to_i64();
    let (nothing, join) = identity(f, (i64::MIN, i64::MAX));
    let row = |row: &[T]| row.iter().fold(nothing, |a, &x| join(a, widen(x)));
    narrowed(to, fold(x, over, nothing, join, widen, row))
}

/// What the reduction of nothing is, and how two parts join; `ends` are the lowest and the highest
/// number.
fn identity<A: Arithmetic>(f: Reduce, (lowest, highest): (A, A)) -> (A, fn(A, A) -> A) {
    match f {
        Reduce::Sum => (A::default(), A::add),
        Reduce::Prod => (A::from_scalar(Scalar::Int(1)), A::mul),
        Reduce::Max => (lowest, A::larger),
        Reduce::Min => (highest, A::smaller),
        Reduce::Norm1 | Reduce::Norm2 | Reduce::NormInf => unreachable!("norms have their own"),
    }
}

/// Two orders of walking: along reduced rows where those lie side by side in memory, else along
/// kept rows, so that the inner loop touches neighbours in both cases.
fn fold<T: Element, A: Arithmetic>(
    (values, layout): Operand<T>,
    over: &[bool],
    start: A,
    join: impl Fn(A, A) -> A + Copy,
    widen: impl Fn(T) -> A + Copy,
    row: impl Fn(&[T]) -> A,
) -> Vec<A> {
    let (kept, reduced) = layout.split(|dim| over[dim]);
    let ((kept_len, kept_step), (len, step)) = (inner_row(&kept), inner_row(&reduced));
    let mut out = room(kept.shape().numel());
    for [first] in rows([&kept]) {
        if step == 1 {
            out.extend((0..kept_len).map(|i| {
                let rows = rows([&reduced]).map(|[at]| first + i * kept_step + at);
                rows.fold(start, |sum, at| join(sum, row(&values[at..at + len])))
            }));
            continue;
        }
        let mut sums = vec![start; kept_len];
        for position in reduced.positions() {
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum = join(*sum, widen(values[first + position + i * kept_step]));
            }
        }
        out.extend_from_slice(&sums);
    }
    out
}

fn narrowed<A: Element>(to: DType, values: Vec<A>) -> Storage {
    with_element!(to, D => {
        Storage::new(values.iter().map(|x| D::from_scalar(x.to_scalar())).collect::<Vec<D>>())
    })
}

/// The sum of a row: eight running sums over blocks of 1,024, the blocks added in `f64`.
fn sum_row<T: Element>(row: &[T]) -> f64 {
    let to_f64 = |x: T::Compute| x.to_scalar().to_f64();
    let block_sum = |block: &[T]| {
        let mut lanes = [T::Compute::default(); 8];
        let (eights, rest) = block.as_chunks::<8>();
        for eight in eights {
            for (lane, x) in lanes.iter_mut().zip(eight) {
                *lane = lane.add(x.to_compute());
            }
        }
        let rest = rest.iter().map(|x| x.to_compute());
        lanes.into_iter().chain(rest).map(to_f64).sum::<f64>()
    };
    row.chunks(1024).map(block_sum).sum()
}
