//! Mean and variance: of any dimensions, and of rows that are brought to mean 0 and variance 1.

use crate::device::View;
use crate::device::cpu::{elements, operand};
use crate::dtype::{Arithmetic, Element, Float};
use crate::layout::{inner_row, rows};
use crate::memory::room;
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
    let (len, step) = inner_row(x.layout);
    let outer = x.layout.shape().numel() / len.max(1);
    let (mut y, mut means, mut rstds) = (room(outer * len), room(outer), room(outer));
    let from_f64 = |x: f64| T::Compute::from_scalar(x.into());
    for [start] in rows([x.layout]) {
        let row = (0..len).map(|i| values[start + i * step]);
        let wide = row.clone().map(|x| x.to_scalar().to_f64());
        let mean = if centred { wide.clone().sum::<f64>() / len as f64 } else { 0.0 };
        let variance = wide.map(|x| (x - mean) * (x - mean)).sum::<f64>() / len as f64;
        let (mean, rstd) = (from_f64(mean), from_f64(1.0 / (variance + eps).sqrt()));
        y.extend(row.enumerate().map(|(i, x)| {
            let normal = x.to_compute().sub(mean).mul(rstd);
            let scaled = weight.as_ref().map_or(normal, |weight| normal.mul(weight[i]));
            T::of_compute(bias.as_ref().map_or(scaled, |bias| scaled.add(bias[i])))
        }));
        means.push(mean);
        rstds.push(rstd);
    }
    [Storage::new::<T>(y), Storage::new(means), Storage::new(rstds)]
}

/// One number for each place of a row.
fn factors<T: Element>(x: View) -> Vec<T::Compute> {
    let buffer = x.storage.read("layer_norm");
    let values = elements::<T>(&buffer);
    x.layout.positions().map(|at| values[at].to_compute()).collect()
}
