//! Walking layouts: rows, and pieces of rows, of one or several layouts in step.

use std::ops::Range;

use crate::layout::Layout;

/// Length and stride of the last dimension; one element for a tensor without dimensions.
pub fn inner_row(layout: &Layout) -> (usize, usize) {
    match (layout.shape.last(), layout.strides.last()) {
        (Some(&len), Some(&step)) => (len, step),
        _ => (1, 1),
    }
}

/// Walks `N` layouts of one shape in step and yields where each row, that is each run along the
/// last dimension, starts. The inner loop over a row is the caller's, so that it can be fast.
pub fn rows<const N: usize>(layouts: [&Layout; N]) -> impl Iterator<Item = [usize; N]> {
    let shape = layouts[0].shape;
    let outer = shape.len().saturating_sub(1);
    let count: usize = if shape.contains(&0) { 0 } else { shape[..outer].iter().product() };
    let strides = layouts.map(|layout| layout.strides);
    let mut starts = layouts.map(|layout| layout.offset);
    let mut index = shape;
    index.fill(0);
    (0..count).map(move |_| {
        let current = starts;
        for dim in (0..outer).rev() {
            index[dim] += 1;
            for (start, stride) in starts.iter_mut().zip(&strides) {
                *start += stride[dim];
            }
            if index[dim] < shape[dim] {
                break;
            }
            index[dim] = 0;
            for (start, stride) in starts.iter_mut().zip(&strides) {
                *start -= stride[dim] * shape[dim];
            }
        }
        current
    })
}

/// The same elements in the same order with as few dimensions as possible: those of size 1 go, and
/// neighbours that every layout steps through as one become one. So the rows get long.
pub fn coalesced<const N: usize>(layouts: [&Layout; N]) -> [Layout; N] {
    let mut out = layouts.map(|layout| *layout);
    let shape = layouts[0].shape;
    if shape.contains(&0) {
        return out;
    }
    let mut kept = 0;
    for dim in (0..shape.len()).filter(|&dim| shape[dim] != 1) {
        let joins =
            |out: &Layout, own: &Layout| out.strides[kept - 1] == own.strides[dim] * shape[dim];
        let merge = kept > 0 && out.iter().zip(layouts).all(|(out, own)| joins(out, own));
        kept += usize::from(!merge);
        for (out, own) in out.iter_mut().zip(layouts) {
            let before = if merge { out.shape[kept - 1] } else { 1 };
            out.shape[kept - 1] = before * shape[dim];
            out.strides[kept - 1] = own.strides[dim];
        }
    }
    for layout in &mut out {
        layout.shape = layout.shape.first(kept);
        layout.strides = layout.strides.first(kept);
    }
    out
}

/// The elements number `range` in logical order of `N` layouts of one shape, as pieces of rows: the
/// position of the first element in each layout, and how many follow it.
pub fn pieces<const N: usize>(
    layouts: [&Layout; N],
    range: Range<usize>,
) -> impl Iterator<Item = ([usize; N], usize)> {
    let shape = layouts[0].shape;
    let outer = shape.len().saturating_sub(1);
    let row_len = shape.last().copied().unwrap_or(1);
    let strides = layouts.map(|layout| layout.strides);
    let steps = layouts.map(|layout| inner_row(layout).1);
    // The index of the first row, from the last dimension to the first.
    let mut index = shape;
    let mut row = range.start.checked_div(row_len).unwrap_or(0);
    let mut starts = layouts.map(|layout| layout.offset);
    for dim in (0..outer).rev() {
        // Of a dimension without elements there is no row, and nothing will be walked.
        let size = shape[dim].max(1);
        index[dim] = row % size;
        row /= size;
        for (start, stride) in starts.iter_mut().zip(&strides) {
            *start += index[dim] * stride[dim];
        }
    }
    let mut skipped = range.start.checked_rem(row_len).unwrap_or(0);
    let mut left = range.len();
    std::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        let len = left.min(row_len - skipped);
        let mut first = starts;
        for (first, step) in first.iter_mut().zip(&steps) {
            *first += skipped * step;
        }
        (skipped, left) = (0, left - len);
        for dim in (0..outer).rev() {
            index[dim] += 1;
            for (start, stride) in starts.iter_mut().zip(&strides) {
                *start += stride[dim];
            }
            if index[dim] < shape[dim] {
                break;
            }
            index[dim] = 0;
            for (start, stride) in starts.iter_mut().zip(&strides) {
                *start -= stride[dim] * shape[dim];
            }
        }
        Some((first, len))
    })
}
