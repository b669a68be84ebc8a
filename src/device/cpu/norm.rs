//! Mean and variance: of any dimensions, and of rows that are brought to mean 0 and variance 1.

use std::mem::MaybeUninit;

use crate::device::View;
use crate::device::cpu::parallel::{CHUNK, Loop, share, vectorized};
use crate::device::cpu::softmax::{bring, sum_of};
use crate::device::cpu::{elements, operand};
use crate::dtype::{Arithmetic, Element, Float};
use crate::layout::{inner_row, rows};
use crate::memory::{filled, room};
use crate::storage::Storage;

/// Σ (x − mean)² / divisor over some dimensions, or the root of it. The mean comes first and in
/// `f64`: Σ x² − n · mean² would cancel where the mean is large.
pub fn variance<T: Element>(x: View, over: &[bool], divisor: f64, root: bool) -> Storage {
    let buffer = x.storage.read("var");
    let (values, layout) = operand::<T>(&buffer, x);
    let (kept, reduced) = layout.split(|dim| over[dim]);
    let count = reduced.shape().numel() as f64;
    let mut out: Vec<T> = room(kept.shape().numel());
    out.extend(kept.positions().map(|first| {
        let row = || reduced.positions().map(|at| values[first + at].to_scalar().to_f64());
        let mean = row().sum::<f64>() / count;
        let variance = row().map(|x| (x - mean) * (x - mean)).sum::<f64>() / divisor;
        T::from_scalar(if root { variance.sqrt() } else { variance }.into())
    }));
    Storage::new(out)
}

/// `(outer, n) → (outer, n), (outer), (outer)`: y = (x − mean) · rstd · weight + bias for each row,
/// and its mean and rstd = 1 / √(variance + ε), of the type that is computed with. If not
/// `centred`, the mean is taken to be 0, as in RMSNorm. Reads x and writes y once: a row stays in
/// the cache while its moments are taken.
pub fn layer_norm<T: Element<Compute: Float>>(
    x: View,
    weight: Option<View>,
    bias: Option<View>,
    eps: f64,
    centred: bool,
) -> [Storage; 3] {
    let buffer = x.storage.read("layer_norm");
    let values = elements::<T>(&buffer);
    let (weight, bias) = (weight.map(factors::<T>), bias.map(factors::<T>));
    let (weight, bias) = (weight.as_deref(), bias.as_deref());
    let (len, step) = inner_row(x.layout);
    let starts: Vec<usize> = rows([x.layout]).map(|[start]| start).collect();
    let (outer, numel) = (starts.len(), starts.len() * len);
    let zeros = || filled(T::Compute::default(), outer);
    let (mut y, mut means, mut rstds): (Vec<T>, _, _) = (room(numel), zeros(), zeros());
    let many = CHUNK.div_ceil(len.max(1));
    let space = &mut y.spare_capacity_mut()[..numel];
    let bands = space.chunks_mut((many * len).max(1)).zip(starts.chunks(many));
    let moments = means.chunks_mut(many).zip(rstds.chunks_mut(many));
    share(bands.zip(moments), numel, |((out, starts), (means, rstds))| {
        let mut row = vec![T::Compute::default(); len];
        let outs = out.chunks_mut(len.max(1)).zip(starts);
        for ((out, &start), (mean, rstd)) in outs.zip(means.iter_mut().zip(rstds)) {
            let (x, row) = (&values[start..], &mut row[..]);
            let row = NormRow::<T> { x, step, row, weight, bias, eps, centred, out };
            (*mean, *rstd) = vectorized(row);
        }
    });
    // SAFETY: `room` made space for `numel` elements, the bands are all of it, and each row has
    // filled its part.
    unsafe { y.set_len(numel) };
    [Storage::new(y), Storage::new(means), Storage::new(rstds)]
}

/// One row; its mean and rstd come out.
struct NormRow<'a, T: Element> {
    x: &'a [T],
    step: usize,
    /// Room for a row in the type that is computed with.
    row: &'a mut [T::Compute],
    weight: Option<&'a [T::Compute]>,
    bias: Option<&'a [T::Compute]>,
    eps: f64,
    centred: bool,
    out: &'a mut [MaybeUninit<T>],
}

impl<T: Element<Compute: Float>> Loop for NormRow<'_, T> {
    type Output = (T::Compute, T::Compute);

    #[inline(always)]
    fn run(self) -> Self::Output {
        let len = self.row.len();
        let row: &[T::Compute] = match T::as_computed(self.x) {
            Some(x) if self.step == 1 => &x[..len],
            _ => {
                bring(self.x, self.step, self.row);
                self.row
            }
        };
        let from_f64 = |x: f64| T::Compute::from_scalar(x.into());
        let mean = if self.centred { sum_of(row, |x| x) / len as f64 } else { 0.0 };
        let mean = from_f64(mean);
        let square = |x: T::Compute| x.sub(mean).mul(x.sub(mean));
        let rstd = from_f64(1.0 / (sum_of(row, square) / len as f64 + self.eps).sqrt());
        let normal = |x: T::Compute| x.sub(mean).mul(rstd);
        let pairs = self.out.iter_mut().zip(row);
        match (self.weight, self.bias) {
            (None, None) => pairs.for_each(|(out, &x)| {
                out.write(T::of_compute(normal(x)));
            }),
            (Some(weight), None) => pairs.zip(weight).for_each(|((out, &x), &weight)| {
                out.write(T::of_compute(normal(x).mul(weight)));
            }),
            (None, Some(bias)) => pairs.zip(bias).for_each(|((out, &x), &bias)| {
                out.write(T::of_compute(normal(x).add(bias)));
            }),
            (Some(weight), Some(bias)) => {
                pairs.zip(weight.iter().zip(bias)).for_each(|((out, &x), (&weight, &bias))| {
                    out.write(T::of_compute(normal(x).mul(weight).add(bias)));
                });
            }
        }
        (mean, rstd)
    }
}

/// One number for each place of a row.
pub fn factors<T: Element>(x: View) -> Vec<T::Compute> {
    let buffer = x.storage.read("layer_norm");
    let values = elements::<T>(&buffer);
    x.layout.positions().map(|at| values[at].to_compute()).collect()
}
