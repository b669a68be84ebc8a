//! Walks over the elements of one, two or three operands of one shape, in logical order.
//!
//! Each has a fast path for elements that lie side by side, and one for rows of any stride. What is
//! done with an element is the caller's closure, which the compiler puts into the loop.

use crate::layout::{Layout, inner_row, rows};
use crate::memory::room;

/// Elements and where they lie.
pub type Operand<'a, T> = (&'a [T], &'a Layout);

/// f(x) for every element.
pub fn map<T: Copy, U>((x, layout): Operand<T>, f: impl Fn(T) -> U + Copy) -> Vec<U> {
    let numel = layout.shape().numel();
    let mut out = room(numel);
    if layout.is_contiguous() {
        out.extend(x[layout.offset()..layout.offset() + numel].iter().map(|&x| f(x)));
        return out;
    }
    let (len, step) = inner_row(layout);
    for [start] in rows([layout]) {
        match step {
            1 => out.extend(x[start..start + len].iter().map(|&x| f(x))),
            _ => out.extend((0..len).map(|i| f(x[start + i * step]))),
        }
    }
    out
}

/// f(a, b) for every pair of elements.
pub fn zip<A: Copy, B: Copy, U>(
    (a, a_layout): Operand<A>,
    (b, b_layout): Operand<B>,
    f: impl Fn(A, B) -> U + Copy,
) -> Vec<U> {
    let numel = a_layout.shape().numel();
    let mut out = room(numel);
    let pairs = |a: &[A], b: &[B], out: &mut Vec<U>| {
        out.extend(a.iter().zip(b).map(|(&a, &b)| f(a, b)));
    };
    if a_layout.is_contiguous() && b_layout.is_contiguous() {
        let (at, bt) = (a_layout.offset(), b_layout.offset());
        pairs(&a[at..at + numel], &b[bt..bt + numel], &mut out);
        return out;
    }
    let ((len, a_step), (_, b_step)) = (inner_row(a_layout), inner_row(b_layout));
    for [at, bt] in rows([a_layout, b_layout]) {
        match (a_step, b_step) {
            (1, 1) => pairs(&a[at..at + len], &b[bt..bt + len], &mut out),
            (1, 0) => out.extend(a[at..at + len].iter().map(|&a| f(a, b[bt]))),
            (0, 1) => out.extend(b[bt..bt + len].iter().map(|&b| f(a[at], b))),
            _ => out.extend((0..len).map(|i| f(a[at + i * a_step], b[bt + i * b_step]))),
        }
    }
    out
}

/// a where the condition holds, else b.
pub fn select<T: Copy>(
    (condition, c_layout): Operand<bool>,
    (a, a_layout): Operand<T>,
    (b, b_layout): Operand<T>,
) -> Vec<T> {
    let mut out = room(c_layout.shape().numel());
    let (len, c_step) = inner_row(c_layout);
    let ((_, a_step), (_, b_step)) = (inner_row(a_layout), inner_row(b_layout));
    for [ct, at, bt] in rows([c_layout, a_layout, b_layout]) {
        out.extend((0..len).map(|i| {
            let (a, b) = (a[at + i * a_step], b[bt + i * b_step]);
            if condition[ct + i * c_step] { a } else { b }
        }));
    }
    out
}

/// Hands every element of x, to be changed, and the element of y at the same place to `f`.
pub fn update<X, Y: Copy>(
    (x, x_layout): (&mut [X], &Layout),
    (y, y_layout): Operand<Y>,
    f: impl Fn(&mut X, Y) + Copy,
) {
    let ((len, x_step), (_, y_step)) = (inner_row(x_layout), inner_row(y_layout));
    for [xt, yt] in rows([x_layout, y_layout]) {
        match (x_step, y_step) {
            (1, 1) => x[xt..xt + len].iter_mut().zip(&y[yt..yt + len]).for_each(|(x, &y)| f(x, y)),
            (1, 0) => {
                x[xt..xt + len].iter_mut().for_each(|x| f(x, y[yt]));
            }
            _ => (0..len).for_each(|i| f(&mut x[xt + i * x_step], y[yt + i * y_step])),
        }
    }
}
