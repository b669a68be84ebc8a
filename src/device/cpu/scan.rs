//! Kernels that walk along rows and remember where they were: argmax, running sums and products,
//! running extremes, sorting.

use std::cmp::Ordering;

use crate::device::cpu::elements;
use crate::device::{Reduce, Scan, View};
use crate::dtype::{Arithmetic, Element};
use crate::layout::{inner_row, rows};
use crate::memory::room;
use crate::storage::Storage;

/// The index of the largest element of each row of `(outer, n)`, or of the smallest.
pub fn arg_reduce<T: Element>(f: Reduce, x: View) -> Storage {
    let buffer = x.storage.read("argmax");
    let values = elements::<T>(&buffer);
    let (len, step) = inner_row(x.layout);
    let better = |x: T, best: T| match f {
        Reduce::Max => x > best,
        _ => x < best,
    };
    let of_row = |[start]: [usize; 1]| {
        let mut best = 0;
        for i in 1..len {
            let (x, so_far) = (values[start + i * step], values[start + best * step]);
            if !is_nan(so_far) && (better(x, so_far) || is_nan(x)) {
                best = i;
            }
        }
        best as i64
    };
    Storage::new(rows([x.layout]).map(of_row).collect::<Vec<i64>>())
}

fn is_nan<T: Element>(x: T) -> bool {
    x.partial_cmp(&x).is_none()
}

/// What a scan leaves at each element of `(outer, n)`.
pub fn scan<T: Element>(f: Scan, x: View) -> Storage {
    let buffer = x.storage.read("scan");
    let values = elements::<T>(&buffer);
    let (len, step) = inner_row(x.layout);
    let rows = rows([x.layout]).map(|[start]| (0..len).map(move |i| values[start + i * step]));
    match f {
        Scan::CumSum => running(rows, x.layout.shape().numel(), (0.0, f64::add), (0, i64::add)),
        Scan::CumProd => running(rows, x.layout.shape().numel(), (1.0, f64::mul), (1, i64::mul)),
        Scan::CumMax => places(rows, |row| extremes(row, |x, best| x >= best)),
        Scan::CumMin => places(rows, |row| extremes(row, |x, best| x <= best)),
        Scan::Sort => places(rows, sort),
    }
}

/// Running sums or products, from a start and by a way to go on: of floating-point numbers in
/// `f64`, rounded at each element; of integers in `i64`.
fn running<T: Element>(
    rows: impl Iterator<Item = impl Iterator<Item = T>>,
    numel: usize,
    (start, join): (f64, fn(f64, f64) -> f64),
    (whole_start, join_whole): (i64, fn(i64, i64) -> i64),
) -> Storage {
    if !T::DTYPE.is_floating_point() {
        let mut out: Vec<i64> = room(numel);
        for row in rows {
            out.extend(row.scan(whole_start, |so_far, x| {
                *so_far = join_whole(*so_far, x.to_scalar().to_i64());
                Some(*so_far)
            }));
        }
        return Storage::new(out);
    }
    let mut out: Vec<T> = room(numel);
    for row in rows {
        out.extend(row.scan(start, |so_far, x| {
            *so_far = join(*so_far, x.to_scalar().to_f64());
            Some(T::from_scalar((*so_far).into()))
        }));
    }
    Storage::new(out)
}

/// A row's places, for each row.
fn places<T: Element, R: Iterator<Item = T>>(
    rows: impl Iterator<Item = R>,
    of_row: fn(&[T]) -> Vec<usize>,
) -> Storage {
    let places = rows.flat_map(|row| of_row(&row.collect::<Vec<T>>()));
    Storage::new(places.map(|place| place as i64).collect::<Vec<i64>>())
}

/// Where the extreme element so far is: the last one of equals, as in PyTorch.
fn extremes<T: Element>(row: &[T], beats: fn(T, T) -> bool) -> Vec<usize> {
    let mut best = 0;
    let so_far = |i: usize| {
        if is_nan(row[i]) || (!is_nan(row[best]) && beats(row[i], row[best])) {
            best = i;
        }
        best
    };
    (0..row.len()).map(so_far).collect()
}

/// Where the smallest element is, the next one, and so on; NaN comes last.
fn sort<T: Element>(row: &[T]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..row.len()).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (row[a], row[b]);
        a.partial_cmp(&b).unwrap_or_else(|| match (is_nan(a), is_nan(b)) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            _ => Ordering::Less,
        })
    });
    order
}
