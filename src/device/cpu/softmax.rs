//! Softmax and log-softmax of rows, shifted by the row's maximum so that no exponential overflows.

use crate::device::View;
use crate::device::cpu::elements;
use crate::layout::{inner_row, rows};
use crate::storage::Storage;

/// softmax(x)ᵢ = exp(xᵢ − m) / Σⱼ exp(xⱼ − m) with m = max x, or its logarithm
/// xᵢ − m − ln Σⱼ exp(xⱼ − m), for each row of `(outer, n)`.
pub fn softmax(x: View, log: bool) -> Storage {
    let buffer = x.storage.read("softmax");
    let values = elements::<f32>(&buffer);
    let (len, step) = inner_row(x.layout);
    let mut out = Vec::with_capacity(x.layout.shape().numel());
    for [start] in rows([x.layout]) {
        let row = (0..len).map(|i| values[start + i * step]);
        let max = row.clone().fold(f32::NEG_INFINITY, f32::max);
        let sum: f64 = row.clone().map(|x| (x - max).exp() as f64).sum();
        if log {
            let log_sum = sum.ln() as f32;
            out.extend(row.map(|x| x - max - log_sum));
        } else {
            let scale = (1.0 / sum) as f32;
            out.extend(row.map(|x| (x - max).exp() * scale));
        }
    }
    Storage::new(out)
}
