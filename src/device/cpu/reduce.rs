//! Reductions: sums, products, maxima and minima over any dimensions.
//!
//! Floating-point numbers are reduced in `f64` and integers in `i64`, whatever their type is, and
//! rounded once at the end. Rows that lie side by side are summed in blocks of 1,024 with 32
//! running sums each (in `f32` for `f32` and the half types), and the blocks in `f64`. Block size
//! and order are fixed, so the bits of a sum depend on the layout alone and never on how the work
//! is split.

use crate::device::cpu::operand;
use crate::device::cpu::parallel::{CHUNK, Loop, collect, vectorized};
use crate::device::cpu::walk::Operand;
use crate::device::{Reduce, View};
use crate::dtype::{Arithmetic, DType, Element, Scalar, with_element};
use crate::layout::{coalesced, inner_row, rows};
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
    let sum = |a: f64, b: f64| a + b;
    let reduced = match f {
        Reduce::Sum => fold(x, over, nothing, sum, widen, sum_row::<T>),
        _ => fold(x, over, nothing, join, widen, row),
    };
    narrowed(to, reduced)
}

/// Σ |x|, √Σ x² or max |x|. No square of an `f32` is too large for an `f64`.
fn norms<T: Element>(f: Reduce, x: Operand<T>, over: &[bool], to: DType) -> Storage {
    let widen = move |x: T| {
        let x = x.to_compute().to_scalar().to_f64();
        if f == Reduce::Norm2 { x * x } else { x.abs() }
    };
    let inf = f == Reduce::NormInf;
    let join = move |a: f64, b: f64| if inf { a.larger(b) } else { a.add(b) };
    let row = |row: &[T]| {
        if row.len() <= CHUNK {
            return vectorized(JoinRow(row, join, widen));
        }
        let chunks: Vec<&[T]> = row.chunks(CHUNK).collect();
        let parts = collect(chunks.len(), CHUNK, |i| vectorized(JoinRow(chunks[i], join, widen)));
        parts.into_iter().fold(0.0, join)
    };
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
    join: impl Fn(A, A) -> A + Copy + Sync + Send,
    widen: impl Fn(T) -> A + Copy + Sync + Send,
    row: impl Fn(&[T]) -> A + Sync + Send,
) -> Vec<A> {
    let (kept, reduced) = layout.split(|dim| over[dim]);
    let [reduced] = coalesced([&reduced]);
    let (len, step) = inner_row(&reduced);
    let cost = reduced.shape().numel();
    if step == 1 {
        let firsts: Vec<usize> = kept.positions().collect();
        if reduced.shape().len() <= 1 {
            let start = reduced.offset();
            return collect(firsts.len(), cost, |i| {
                let first = firsts[i] + start;
                row(&values[first..first + len])
            });
        }
        return collect(firsts.len(), cost, |i| {
            let rows = rows([&reduced]).map(|[at]| firsts[i] + at);
            rows.fold(start, |sum, at| join(sum, row(&values[at..at + len])))
        });
    }
    let (kept_len, kept_step) = inner_row(&kept);
    let firsts: Vec<usize> = rows([&kept]).map(|[first]| first).collect();
    // Columns in blocks, each walked down by one thread.
    let blocks = kept_len.div_ceil(COLUMNS);
    let sums = collect(firsts.len() * blocks, cost * COLUMNS, |i| {
        let first = firsts[i / blocks] + i % blocks * COLUMNS * kept_step;
        let mut sums = vec![start; (kept_len - i % blocks * COLUMNS).min(COLUMNS)];
        for position in reduced.positions() {
            let (x, sums) = (&values[first + position..], &mut sums);
            vectorized(AddRow { x, step: kept_step, sums, join, widen });
        }
        sums
    });
    sums.concat()
}

/// Columns that are reduced together.
const COLUMNS: usize = 256;

/// sums = sums + x, as `join` and `widen` say.
struct AddRow<'a, T, A, J, W> {
    x: &'a [T],
    step: usize,
    sums: &'a mut [A],
    join: J,
    widen: W,
}

impl<T: Copy, A: Copy, J: Fn(A, A) -> A, W: Fn(T) -> A> Loop for AddRow<'_, T, A, J, W> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        if self.step == 1 {
            for (sum, &x) in self.sums.iter_mut().zip(self.x) {
                *sum = (self.join)(*sum, (self.widen)(x));
            }
        } else {
            for (i, sum) in self.sums.iter_mut().enumerate() {
                *sum = (self.join)(*sum, (self.widen)(self.x[i * self.step]));
            }
        }
    }
}

fn narrowed<A: Element>(to: DType, values: Vec<A>) -> Storage {
    with_element!(to, D => {
        Storage::new(values.iter().map(|x| D::from_scalar(x.to_scalar())).collect::<Vec<D>>())
    })
}

/// The sum of a row: its chunks are summed, by several threads if there are many, and then added.
fn sum_row<T: Element>(row: &[T]) -> f64 {
    if row.len() <= CHUNK {
        return vectorized(SumRow(row));
    }
    let chunks: Vec<&[T]> = row.chunks(CHUNK).collect();
    collect(chunks.len(), CHUNK, |i| vectorized(SumRow(chunks[i]))).into_iter().sum()
}

/// Four vectors added into one.
#[inline(always)]
fn folded<C: Arithmetic>(lanes: [C; LANES]) -> [C; LANES / 4] {
    let (quarters, _) = lanes.as_chunks::<{ LANES / 4 }>();
    let mut sum = quarters[0];
    for quarter in &quarters[1..] {
        for (sum, &x) in sum.iter_mut().zip(quarter) {
            *sum = sum.add(x);
        }
    }
    sum
}

/// All of a row joined, in lanes side by side: an addition need not wait for the one before.
struct JoinRow<'a, T, J, W>(&'a [T], J, W);

impl<T: Element, J: Fn(f64, f64) -> f64, W: Fn(T) -> f64> Loop for JoinRow<'_, T, J, W> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let JoinRow(row, join, widen) = self;
        let mut lanes = [0.0; LANES];
        let (whole, rest) = row.as_chunks::<LANES>();
        for part in whole {
            for (lane, &x) in lanes.iter_mut().zip(part) {
                *lane = join(*lane, widen(x));
            }
        }
        let rest = rest.iter().map(|&x| widen(x)).fold(0.0, &join);
        lanes.into_iter().fold(rest, join)
    }
}

/// The sum of a row, in running sums over blocks of 1,024 elements, the blocks added in `f64`.
struct SumRow<'a, T>(&'a [T]);

/// Running sums side by side: four vectors of eight, so that no addition waits for the one before.
const LANES: usize = 32;

impl<T: Element> Loop for SumRow<'_, T> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let mut total = 0.0;
        for block in self.0.chunks(1024) {
            let mut lanes = [T::Compute::default(); LANES];
            let (whole, rest) = block.as_chunks::<LANES>();
            for part in whole {
                for (lane, x) in lanes.iter_mut().zip(part) {
                    *lane = lane.add(x.to_compute());
                }
            }
            for lane in folded(lanes) {
                total += lane.to_scalar().to_f64();
            }
            for x in rest {
                total += x.to_scalar().to_f64();
            }
        }
        total
    }
}
