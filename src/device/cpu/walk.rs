//! Walks over the elements of one, two or three operands of one shape, in logical order.
//!
//! Dimensions that can be walked as one are joined first, so that rows get long. Arithmetic in
//! `f32`, which the half types are computed in too, runs several elements to an instruction: its
//! loops are those of `lanes.rs`. All else takes one element after the other.

use std::mem::MaybeUninit;
use std::ops::Range;

use crate::device::cpu::lanes::{Computed, Each, Pairs};
use crate::device::cpu::parallel::{Loop, build, vectorized};
use crate::device::cpu::turn::{is_turned, map_turned};
use crate::dtype::Element;
use crate::layout::{Layout, coalesced, inner_row, pieces, rows};

/// Elements and where they lie.
pub type Operand<'a, T> = (&'a [T], &'a Layout);

/// f(x) for every element.
pub fn map<T: Copy + Sync, U: Send>(
    (x, layout): Operand<T>,
    f: impl Fn(T) -> U + Copy + Sync,
) -> Vec<U> {
    let [layout] = coalesced([layout]);
    let step = inner_row(&layout).1;
    build(layout.shape().numel(), |range, mut out| {
        for ([at], len) in pieces([&layout], range) {
            let out = next(&mut out, len);
            match step {
                1 => fill(out, x[at..at + len].iter().map(|&x| f(x))),
                _ => fill(out, (0..len).map(|i| f(x[at + i * step]))),
            }
        }
    })
}

/// f(a, b) for every pair of elements.
pub fn zip<A: Copy + Sync, B: Copy + Sync, U: Send>(
    (a, a_layout): Operand<A>,
    (b, b_layout): Operand<B>,
    f: impl Fn(A, B) -> U + Copy + Sync,
) -> Vec<U> {
    let [a_layout, b_layout] = coalesced([a_layout, b_layout]);
    let (i, j) = (inner_row(&a_layout).1, inner_row(&b_layout).1);
    build(a_layout.shape().numel(), |range, mut out| {
        for ([at, bt], len) in pieces([&a_layout, &b_layout], range) {
            let out = next(&mut out, len);
            match (i, j) {
                (1, 1) => {
                    let pairs = a[at..at + len].iter().zip(&b[bt..bt + len]);
                    fill(out, pairs.map(|(&a, &b)| f(a, b)));
                }
                _ => fill(out, (0..len).map(|n| f(a[at + n * i], b[bt + n * j]))),
            }
        }
    })
}

/// Elements that are brought together on the stack, where they are not side by side or not of the
/// type that is computed with.
const BATCH: usize = 256;

/// f(x) for every element, in wide vectors.
pub fn map_in_vectors<T: Element>(
    (x, layout): Operand<T>,
    f: Computed<impl Fn(T::Compute) -> T::Compute + Copy + Sync>,
) -> Vec<T> {
    let [layout] = coalesced([layout]);
    if is_turned(&layout) {
        let packed = map_turned((x, &layout));
        return map_in_vectors((&packed, &Layout::contiguous(layout.shape())), f);
    }
    let step = inner_row(&layout).1;
    build(layout.shape().numel(), |range, mut out| {
        for ([at], len) in pieces([&layout], range) {
            let row = next(&mut out, len);
            if step == 1
                && let Some(x) = T::as_computed(&x[at..at + len])
            {
                let out = T::as_computed_room(row).expect("both or none are computed with");
                vectorized(Each { x, out, f });
                continue;
            }
            for (n, out) in row.chunks_mut(BATCH).enumerate() {
                let x = brought(&x[at + n * BATCH * step..], step, out.len());
                deliver(out, |y| vectorized(Each { x: &x[..y.len()], out: y, f }));
            }
        }
    })
}

/// f(a, b) for every pair of elements, in wide vectors.
pub fn zip_in_vectors<T: Element>(
    (a, a_layout): Operand<T>,
    (b, b_layout): Operand<T>,
    f: Computed<impl Fn(T::Compute, T::Compute) -> T::Compute + Copy + Sync>,
) -> Vec<T> {
    if a_layout.is_contiguous()
        && b_layout.is_contiguous()
        && !a_layout.shape().contains(&0)
        && let (Some(a), Some(b)) = (T::as_computed(a), T::as_computed(b))
    {
        let (a, b) = (&a[a_layout.offset()..], &b[b_layout.offset()..]);
        return build(a_layout.shape().numel(), |range, out| {
            let out = T::as_computed_room(out).expect("all or none are computed with");
            vectorized(Pairs { a: &a[range.clone()], b: &b[range], out, f });
        });
    }
    let [a_layout, b_layout] = coalesced([a_layout, b_layout]);
    let (a, b) = ((a, &a_layout), (b, &b_layout));
    build(a_layout.shape().numel(), |range, out| vectorized(PairRows { a, b, range, out, f }))
}

/// Some rows of two operands of any strides, in one go: rows may be short.
struct PairRows<'a, T, F> {
    a: Operand<'a, T>,
    b: Operand<'a, T>,
    range: Range<usize>,
    out: &'a mut [MaybeUninit<T>],
    f: Computed<F>,
}

impl<T: Element, F: Fn(T::Compute, T::Compute) -> T::Compute + Copy> Loop for PairRows<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let ((a, a_layout), (b, b_layout), f) = (self.a, self.b, self.f);
        let (i, j) = (inner_row(a_layout).1, inner_row(b_layout).1);
        let mut rest = self.out;
        for ([at, bt], len) in pieces([a_layout, b_layout], self.range) {
            let row = next(&mut rest, len);
            if (i, j) == (1, 1)
                && let Some(a) = T::as_computed(&a[at..at + len])
                && let Some(b) = T::as_computed(&b[bt..bt + len])
            {
                let out = T::as_computed_room(row).expect("all or none are computed with");
                Pairs { a, b, out, f }.run();
                continue;
            }
            for (n, out) in row.chunks_mut(BATCH).enumerate() {
                let (n, len) = (n * BATCH, out.len());
                let a = brought(&a[at + n * i..], i, len);
                let b = brought(&b[bt + n * j..], j, len);
                deliver(out, |y| {
                    let len = y.len();
                    Pairs { a: &a[..len], b: &b[..len], out: y, f }.run();
                });
            }
        }
    }
}

/// Elements `step` apart, side by side in the type that is computed with.
fn brought<T: Element>(x: &[T], step: usize, len: usize) -> [T::Compute; BATCH] {
    let mut together = [T::Compute::default(); BATCH];
    match step {
        0 => together[..len].fill(x[0].to_compute()),
        1 => {
            for (place, x) in together.iter_mut().zip(&x[..len]) {
                *place = x.to_compute();
            }
        }
        _ => {
            for (place, x) in together[..len].iter_mut().zip(x.iter().step_by(step)) {
                *place = x.to_compute();
            }
        }
    }
    together
}

/// Lets `compute` fill a row, and rounds what it has computed to elements.
fn deliver<T: Element>(
    out: &mut [MaybeUninit<T>],
    compute: impl Fn(&mut [MaybeUninit<T::Compute>]),
) {
    if let Some(out) = T::as_computed_room(out) {
        return compute(out);
    }
    let mut computed = [const { MaybeUninit::uninit() }; BATCH];
    let computed = &mut computed[..out.len()];
    compute(computed);
    for (place, y) in out.iter_mut().zip(computed) {
        // SAFETY: `compute` has filled all of the row.
        place.write(T::of_compute(unsafe { y.assume_init_read() }));
    }
}

/// a where the condition holds, else b.
pub fn select<T: Copy + Sync + Send>(
    (condition, c_layout): Operand<bool>,
    (a, a_layout): Operand<T>,
    (b, b_layout): Operand<T>,
) -> Vec<T> {
    let layouts = coalesced([c_layout, a_layout, b_layout]);
    let [i, j, k] = layouts.each_ref().map(|layout| inner_row(layout).1);
    build(c_layout.shape().numel(), |range, mut out| {
        for ([ct, at, bt], len) in pieces(layouts.each_ref(), range) {
            let row = (0..len).map(|n| {
                let (a, b) = (a[at + n * j], b[bt + n * k]);
                if condition[ct + n * i] { a } else { b }
            });
            fill(next(&mut out, len), row);
        }
    })
}

/// Cuts the first `len` places off the room that is left.
fn next<'a, U>(rest: &mut &'a mut [MaybeUninit<U>], len: usize) -> &'a mut [MaybeUninit<U>] {
    rest.split_off_mut(..len).expect("the pieces of a range are as long as its room")
}

/// Fills a row; `values` has as many.
fn fill<U>(row: &mut [MaybeUninit<U>], values: impl ExactSizeIterator<Item = U>) {
    assert_eq!(row.len(), values.len());
    for (place, value) in row.iter_mut().zip(values) {
        place.write(value);
    }
}

/// Hands every element of x, to be changed, and the element of y at the same place to `f`.
pub fn update<X, Y: Copy>(
    (x, x_layout): (&mut [X], &Layout),
    (y, y_layout): Operand<Y>,
    f: impl Fn(&mut X, Y) + Copy,
) {
    let [x_layout, y_layout] = coalesced([x_layout, y_layout]);
    let ((len, i), (_, j)) = (inner_row(&x_layout), inner_row(&y_layout));
    for [xt, yt] in rows([&x_layout, &y_layout]) {
        match (i, j) {
            (1, 1) => {
                let pairs = x[xt..xt + len].iter_mut().zip(&y[yt..yt + len]);
                pairs.for_each(|(x, &y)| f(x, y));
            }
            (1, 0) => {
                let y = y[yt];
                x[xt..xt + len].iter_mut().for_each(|x| f(x, y));
            }
            _ => (0..len).for_each(|n| f(&mut x[xt + n * i], y[yt + n * j])),
        }
    }
}
