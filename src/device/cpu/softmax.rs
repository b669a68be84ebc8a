//! Softmax and log-softmax of rows, and ln Σ eˣ over any dimensions, shifted by the
//! maximum so that no exponential overflows.

use std::mem::MaybeUninit;

use crate::device::View;
use crate::device::cpu::parallel::{CHUNK, Loop, build_bands, vectorized};
use crate::device::cpu::{elements, operand};
use crate::dtype::{Arithmetic, Element, Float, Scalar};
use crate::layout::{inner_row, rows};
use crate::memory::room;
use crate::storage::Storage;

/// softmax(x)ᵢ = exp(xᵢ − m) / Σⱼ exp(xⱼ − m) with m = max x, or its logarithm
/// xᵢ − m − ln Σⱼ exp(xⱼ − m), for each row of `(outer, n)`. The sum is kept in `f64`.
pub fn softmax<T: Element<Compute: Float>>(x: View, log: bool) -> Storage {
    let buffer = x.storage.read("softmax");
    let values = elements::<T>(&buffer);
    let (len, step) = inner_row(x.layout);
    let starts: Vec<usize> = rows([x.layout]).map(|[start]| start).collect();
    let per_band = CHUNK.div_ceil(len.max(1));
    let numel = starts.len() * len;
    Storage::new(build_bands(numel, per_band * len, numel, |band, out| {
        let mut row = vec![T::Compute::default(); len];
        for (i, out) in out.chunks_exact_mut(len.max(1)).enumerate() {
            let x = &values[starts[band * per_band + i]..];
            vectorized(SoftmaxRow { x, step, row: &mut row, out, log });
        }
    }))
}

/// One row. It stays in the cache, so that x is read from memory, and y written to it, once.
struct SoftmaxRow<'a, T: Element> {
    x: &'a [T],
    step: usize,
    /// Room for a row in the type that is computed with.
    row: &'a mut [T::Compute],
    out: &'a mut [MaybeUninit<T>],
    log: bool,
}

impl<T: Element<Compute: Float>> Loop for SoftmaxRow<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        bring(self.x, self.step, self.row);
        let max = largest(self.row);
        let from_f64 = |x: f64| T::Compute::from_scalar(Scalar::Float(x));
        if self.log {
            let sum = sum_of(self.row, |x| x.sub(max).exp());
            let shift = from_f64(sum.ln());
            for (out, x) in self.out.iter_mut().zip(self.row) {
                out.write(T::of_compute(x.sub(max).sub(shift)));
            }
            return;
        }
        for x in self.row.iter_mut() {
            *x = x.sub(max).exp();
        }
        let scale = from_f64(1.0 / sum_of(self.row, |x| x));
        for (out, x) in self.out.iter_mut().zip(self.row) {
            out.write(T::of_compute(x.mul(scale)));
        }
    }
}

/// Fills a row with elements `step` apart, in the type that is computed with.
#[inline(always)]
pub fn bring<T: Element>(x: &[T], step: usize, row: &mut [T::Compute]) {
    if step == 1 {
        for (own, x) in row.iter_mut().zip(x) {
            *own = x.to_compute();
        }
    } else {
        for (i, own) in row.iter_mut().enumerate() {
            *own = x[i * step].to_compute();
        }
    }
}

/// Numbers that are worked on side by side: two vectors of eight `f32`.
const LANES: usize = 16;

/// The largest number, NaN left aside: it shows up in the sum.
#[inline(always)]
pub fn largest<C: Float>(row: &[C]) -> C {
    let lowest = C::from_scalar(Scalar::Float(f64::NEG_INFINITY));
    let mut lanes = [lowest; LANES];
    let (whole, rest) = row.as_chunks::<LANES>();
    for part in whole {
        for (lane, &x) in lanes.iter_mut().zip(part) {
            *lane = if x > *lane { x } else { *lane };
        }
    }
    let mut max = lowest;
    for &x in lanes.iter().chain(rest) {
        max = if x > max { x } else { max };
    }
    max
}

/// Σ f(x), in running sums over blocks of 1,024, the blocks added in `f64`.
#[inline(always)]
pub fn sum_of<C: Float>(row: &[C], f: impl Fn(C) -> C) -> f64 {
    sum_of_pairs(row, row, |x, _| f(x))
}

/// Σ f(a, b) over two rows of one length, in the same way.
#[inline(always)]
pub fn sum_of_pairs<C: Float>(a: &[C], b: &[C], f: impl Fn(C, C) -> C) -> f64 {
    let mut total = 0.0;
    for (a, b) in a.chunks(1024).zip(b.chunks(1024)) {
        let mut lanes = [C::default(); LANES];
        let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
        for (a, b) in a.iter().zip(b) {
            for (lane, (&a, &b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
                *lane = lane.add(f(a, b));
            }
        }
        for lane in lanes {
            total += lane.to_scalar().to_f64();
        }
        for (&a, &b) in a_rest.iter().zip(b_rest) {
            total += f(a, b).to_scalar().to_f64();
        }
    }
    total
}

/// ln Σ exp(x) over some dimensions, as m + ln Σ exp(x − m) with m = max x, in `f64`. An infinite m
/// is not subtracted: −∞ everywhere gives −∞, and one +∞ gives +∞.
pub fn logsumexp<T: Element>(x: View, over: &[bool]) -> Storage {
    let buffer = x.storage.read("logsumexp");
    let (values, layout) = operand::<T>(&buffer, x);
    let (kept, reduced) = layout.split(|dim| over[dim]);
    let mut out: Vec<T> = room(kept.shape().numel());
    out.extend(kept.positions().map(|first| {
        let row = || reduced.positions().map(|at| values[first + at].to_scalar().to_f64());
        let max = row().fold(f64::NEG_INFINITY, f64::larger);
        let shift = if max.is_finite() { max } else { 0.0 };
        let sum: f64 = row().map(|x| (x - shift).exp()).sum();
        T::from_scalar((shift + sum.ln()).into())
    }));
    Storage::new(out)
}
