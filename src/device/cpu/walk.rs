//! Walks over the elements of one, two or three operands of one shape, in logical order.
//!
//! Dimensions that can be walked as one are joined first. Then the rows go to the loops of
//! `lanes.rs`: those whose elements lie side by side, and those of any stride.

use std::mem::MaybeUninit;

use crate::device::cpu::lanes::{Each, EachApart, Function, Function2, Pairs, PairsApart, Plain};
use crate::device::cpu::parallel::{build, vectorized};
use crate::device::cpu::turn::{is_turned, map_turned};
use crate::layout::{Layout, coalesced, inner_row, pieces, rows};

/// Elements and where they lie.
pub type Operand<'a, T> = (&'a [T], &'a Layout);

/// f(x) for every element.
pub fn map<T: Copy + Sync, U: Copy + Send>(
    x: Operand<T>,
    f: impl Fn(T) -> U + Copy + Sync,
) -> Vec<U> {
    map_function(x, Plain(f))
}

/// As [`map`] with a function that is put into the loop whatever its size.
pub fn map_function<T: Copy + Sync, U: Copy + Send>(
    (x, layout): Operand<T>,
    f: impl Function<T, U>,
) -> Vec<U> {
    let [layout] = coalesced([layout]);
    if is_turned(&layout) {
        return map_turned((x, &layout), f);
    }
    let step = inner_row(&layout).1;
    build(layout.shape().numel(), |range, out| {
        let mut rest = out;
        for ([at], len) in pieces([&layout], range) {
            let out = next(&mut rest, len);
            match step {
                1 => vectorized(Each { x: &x[at..at + len], out, f }),
                _ => vectorized(EachApart { x: &x[at..], step, out, f }),
            }
        }
    })
}

/// f(a, b) for every pair of elements.
pub fn zip<A: Copy + Sync, B: Copy + Sync, U: Send>(
    a: Operand<A>,
    b: Operand<B>,
    f: impl Fn(A, B) -> U + Copy + Sync,
) -> Vec<U> {
    zip_function(a, b, Plain(f))
}

/// As [`zip`] with a function that is put into the loop whatever its size.
pub fn zip_function<A: Copy + Sync, B: Copy + Sync, U: Send>(
    (a, a_layout): Operand<A>,
    (b, b_layout): Operand<B>,
    f: impl Function2<A, B, U>,
) -> Vec<U> {
    let [a_layout, b_layout] = coalesced([a_layout, b_layout]);
    let steps = (inner_row(&a_layout).1, inner_row(&b_layout).1);
    build(a_layout.shape().numel(), |range, out| {
        let mut rest = out;
        for ([at, bt], len) in pieces([&a_layout, &b_layout], range) {
            let out = next(&mut rest, len);
            match steps {
                (1, 1) => {
                    let (a, b) = (&a[at..at + len], &b[bt..bt + len]);
                    vectorized(Pairs { a, b, out, f });
                }
                _ => vectorized(PairsApart { a: &a[at..], b: &b[bt..], steps, out, f }),
            }
        }
    })
}

/// a where the condition holds, else b.
pub fn select<T: Copy + Sync + Send>(
    (condition, c_layout): Operand<bool>,
    (a, a_layout): Operand<T>,
    (b, b_layout): Operand<T>,
) -> Vec<T> {
    let layouts = coalesced([c_layout, a_layout, b_layout]);
    let [i, j, k] = layouts.each_ref().map(|layout| inner_row(layout).1);
    build(c_layout.shape().numel(), |range, out| {
        let mut rest = out;
        for ([ct, at, bt], len) in pieces(layouts.each_ref(), range) {
            for (n, place) in next(&mut rest, len).iter_mut().enumerate() {
                let (a, b) = (a[at + n * j], b[bt + n * k]);
                place.write(if condition[ct + n * i] { a } else { b });
            }
        }
    })
}

/// Cuts the first `len` places off the room that is left.
fn next<'a, U>(rest: &mut &'a mut [MaybeUninit<U>], len: usize) -> &'a mut [MaybeUninit<U>] {
    rest.split_off_mut(..len).expect("the pieces of a range are as long as its room")
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
