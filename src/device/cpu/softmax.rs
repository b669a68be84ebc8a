//! Softmax and log-softmax of rows, and ln Σ eˣ over any dimensions, shifted by the
//! maximum so that no exponential overflows.

use crate::device::View;
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
    let to_f64 = |x: T::Compute| x.to_scalar().to_f64();
    let from_f64 = |x: f64| T::Compute::from_scalar(Scalar::Float(x));
    let mut out = room(x.layout.shape().numel());
    for [start] in rows([x.layout]) {
        let row = (0..len).map(|i| values[start + i * step].to_compute());
        let lowest = from_f64(f64::NEG_INFINITY);
        let max = row.clone().fold(lowest, |max, x| if x > max { x } else { max });
        let sum: f64 = row.clone().map(|x| to_f64(x.sub(max).exp())).sum();
        if log {
            let log_sum = from_f64(sum.ln());
            out.extend(row.map(|x| T::of_compute(x.sub(max).sub(log_sum))));
        } else {
            let scale = from_f64(1.0 / sum);
            out.extend(row.map(|x| T::of_compute(x.sub(max).exp().mul(scale))));
        }
    }
    Storage::new(out)
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
