//! Elementwise kernels: unary, binary, copies and in-place updates, row by row.

use crate::device::cpu::{elements, elements_mut};
use crate::device::{Binary, Unary, View};
use crate::dtype::Element;
use crate::layout::{Layout, inner_row, rows};
use crate::storage::Storage;

/// y = f(x).
pub fn unary(f: Unary, x: View) -> Storage {
    let buffer = x.storage.read(f.name());
    let (values, layout) = (elements(&buffer), x.layout);
    Storage::new(match f {
        Unary::Neg => map(values, layout, |x: f32| -x),
        Unary::Exp => map(values, layout, f32::exp),
        Unary::Log => map(values, layout, f32::ln),
        Unary::Tanh => map(values, layout, f32::tanh),
        // Written so that NaN, for which every comparison is false, comes through.
        Unary::Relu => map(values, layout, |x: f32| if x < 0.0 { 0.0 } else { x }),
        Unary::AddScalar(c) => map(values, layout, |x: f32| x + c),
        Unary::MulScalar(c) => map(values, layout, |x: f32| x * c),
    })
}

/// y = f(a, b).
pub fn binary(f: Binary, a: View, b: View) -> Storage {
    let (left, right) = (a.storage.read(f.name()), b.storage.read(f.name()));
    let (left, right) = ((elements(&left), a.layout), (elements(&right), b.layout));
    Storage::new(match f {
        Binary::Add => zip(left, right, |a: f32, b: f32| a + b),
        Binary::Sub => zip(left, right, |a, b| a - b),
        Binary::Mul => zip(left, right, |a, b| a * b),
        Binary::Div => zip(left, right, |a, b| a / b),
        Binary::Eq => zip(left, right, |a, b| if a == b { 1.0 } else { 0.0 }),
        Binary::ThresholdBackward => zip(left, right, |a, b| if b <= 0.0 { 0.0 } else { a }),
    })
}

/// The elements in logical order.
pub fn copy<T: Element>(x: View) -> Storage {
    let buffer = x.storage.read("copy");
    Storage::new(map(elements::<T>(&buffer), x.layout, |x| x))
}

/// The elements with some dimensions backwards. A stride cannot be negative, so the way back is
/// counted down from the last element: what the forward steps of those dimensions would add is
/// subtracted.
pub fn flip<T: Element>(x: View, over: &[bool]) -> Storage {
    let buffer = x.storage.read("flip");
    let values = elements::<T>(&buffer);
    let (onward, backward) =
        (x.layout.stepping(|dim| !over[dim]), x.layout.stepping(|dim| over[dim]));
    let last = backward.positions().last().unwrap_or(0);
    let mut out = Vec::with_capacity(x.layout.shape().numel());
    let pairs = onward.positions().zip(backward.positions());
    out.extend(pairs.map(|(on, back)| values[on + last - back]));
    Storage::new(out)
}

/// x += alpha · y. One storage on both sides is read from a copy, so overlap is harmless.
pub fn add_in_place(x: View, y: View, alpha: f32) {
    if std::ptr::eq(x.storage, y.storage) {
        let packed = Layout::contiguous(y.layout.shape());
        return add_in_place(x, View { storage: &copy::<f32>(y), layout: &packed }, alpha);
    }
    let (mut target, source) = (x.storage.write("add_"), y.storage.read("add_"));
    let (target, source) = (elements_mut::<f32>(&mut target), elements::<f32>(&source));
    for (at, from) in x.layout.positions().zip(y.layout.positions()) {
        target[at] += alpha * source[from];
    }
}

/// x = value.
pub fn fill_in_place(x: View, value: f32) {
    let mut buffer = x.storage.write("fill_");
    let values = elements_mut::<f32>(&mut buffer);
    for position in x.layout.positions() {
        values[position] = value;
    }
}

fn map<T: Element>(values: &[T], layout: &Layout, f: impl Fn(T) -> T + Copy) -> Vec<T> {
    let numel = layout.shape().numel();
    if layout.is_contiguous() {
        return values[layout.offset()..layout.offset() + numel].iter().map(|&x| f(x)).collect();
    }
    let (len, step) = inner_row(layout);
    let mut out = Vec::with_capacity(numel);
    for [start] in rows([layout]) {
        if step == 1 {
            out.extend(values[start..start + len].iter().map(|&x| f(x)));
        } else {
            out.extend((0..len).map(|i| f(values[start + i * step])));
        }
    }
    out
}

fn zip(
    (a, a_layout): (&[f32], &Layout),
    (b, b_layout): (&[f32], &Layout),
    f: impl Fn(f32, f32) -> f32 + Copy,
) -> Vec<f32> {
    let numel = a_layout.shape().numel();
    let mut out = Vec::with_capacity(numel);
    let pairs = |a: &'_ [f32], b: &'_ [f32], out: &mut Vec<f32>| {
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
