//! Reductions: sums and maxima over any dimensions, and argmax.
//!
//! Rows that lie side by side are summed in blocks of 1,024 with eight `f32` sums each, and the
//! blocks in `f64`; all else is summed in `f64` element by element. Block size and order are fixed,
//! so the bits of a sum depend on the layout alone and never on how the work is split.

use crate::device::cpu::elements;
use crate::device::{Reduce, View};
use crate::layout::{Layout, inner_row, rows};
use crate::storage::Storage;

/// Reduces the dimensions for which `over` is true.
pub fn reduce(f: Reduce, x: View, over: &[bool]) -> Storage {
    let buffer = x.storage.read("reduce");
    let values = elements::<f32>(&buffer);
    let (kept, reduced) = x.layout.split(|dim| over[dim]);
    Storage::new(match f {
        Reduce::Sum => fold(values, &kept, &reduced, 0.0, |a, b| a + b, sum_row),
        Reduce::Max => fold(values, &kept, &reduced, f64::NEG_INFINITY, max, max_row),
    })
}

/// Two orders of walking: along reduced rows where those lie side by side in memory, else along
/// kept rows, so that the inner loop touches neighbours in both cases.
fn fold(
    values: &[f32],
    kept: &Layout,
    reduced: &Layout,
    start: f64,
    join: impl Fn(f64, f64) -> f64 + Copy,
    row: impl Fn(&[f32]) -> f64,
) -> Vec<f32> {
    let ((kept_len, kept_step), (len, step)) = (inner_row(kept), inner_row(reduced));
    let mut out = Vec::with_capacity(kept.shape().numel());
    for [first] in rows([kept]) {
        if step == 1 {
            out.extend((0..kept_len).map(|i| {
                let rows = rows([reduced]).map(|[at]| first + i * kept_step + at);
                rows.fold(start, |sum, at| join(sum, row(&values[at..at + len]))) as f32
            }));
            continue;
        }
        let mut sums = vec![start; kept_len];
        for position in reduced.positions() {
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum = join(*sum, values[first + position + i * kept_step] as f64);
            }
        }
        out.extend(sums.iter().map(|&sum| sum as f32));
    }
    out
}

/// The sum of a row: eight running sums over blocks of 1,024, the blocks added in `f64`.
fn sum_row(row: &[f32]) -> f64 {
    let block_sum = |block: &[f32]| {
        let mut lanes = [0.0f32; 8];
        let (eights, rest) = block.as_chunks::<8>();
        for eight in eights {
            for (lane, x) in lanes.iter_mut().zip(eight) {
                *lane += x;
            }
        }
        lanes.iter().chain(rest).map(|&x| x as f64).sum::<f64>()
    };
    row.chunks(1024).map(block_sum).sum()
}

fn max_row(row: &[f32]) -> f64 {
    row.iter().fold(f64::NEG_INFINITY, |largest, &x| max(largest, x as f64))
}

/// The larger of two numbers, NaN if either is: `f64::max` would drop a NaN.
fn max(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// The index of the largest element of each row of `(outer, n)`.
pub fn argmax(x: View) -> Storage {
    let buffer = x.storage.read("argmax");
    let values = elements::<f32>(&buffer);
    let (len, step) = inner_row(x.layout);
    let of_row = |[start]: [usize; 1]| {
        let mut best = 0;
        for i in 1..len {
            let (x, largest) = (values[start + i * step], values[start + best * step]);
            if !largest.is_nan() && (x > largest || x.is_nan()) {
                best = i;
            }
        }
        best as i64
    };
    Storage::new(rows([x.layout]).map(of_row).collect::<Vec<i64>>())
}
