//! Kernels that change numbers where they are.
//!
//! If both operands lie in one storage, the second is read from a copy: a storage cannot be read
//! and written at once. The caller has refused operands that overlap in part.

use crate::device::View;
use crate::device::cpu::copy::copy;
use crate::device::cpu::walk::update;
use crate::device::cpu::{elements, elements_mut, operand};
use crate::dtype::{Arithmetic, Element, Scalar, with_element};
use crate::layout::Layout;

/// x += alpha · y.
pub fn add(x: View, y: View, alpha: Scalar) {
    with_element!(x.dtype(), T => {
        let alpha = <T as Element>::Compute::from_scalar(alpha);
        combine::<T>("add_", x, y, |x, y| {
            *x = T::of_compute(x.to_compute().add(y.to_compute().mul(alpha)));
        });
    })
}

/// x = x · y.
pub fn mul(x: View, y: View) {
    with_element!(x.dtype(), T => {
        combine::<T>("mul_", x, y, |x, y| *x = T::of_compute(x.to_compute().mul(y.to_compute())));
    })
}

/// x = y.
pub fn assign(op: &'static str, x: View, y: View) {
    with_element!(x.dtype(), T => combine::<T>(op, x, y, |x, y| *x = y))
}

fn combine<T: Element>(op: &'static str, x: View, y: View, f: impl Fn(&mut T, T) + Copy) {
    if std::ptr::eq(x.storage, y.storage) {
        let packed = Layout::contiguous(y.layout.shape());
        let y = copy(y, T::DTYPE);
        return combine(op, x, View { storage: &y, layout: &packed }, f);
    }
    let (mut target, source) = (x.storage.write(op), y.storage.read(op));
    update((elements_mut::<T>(&mut target), x.layout), operand::<T>(&source, y), f);
}

/// x = value where the mask holds.
pub fn masked_fill(x: View, mask: View, value: Scalar) {
    with_element!(x.dtype(), T => {
        let value = T::from_scalar(value);
        let (mut target, mask_buffer) =
            (x.storage.write("masked_fill_"), mask.storage.read("masked_fill_"));
        let mask = (elements::<bool>(&mask_buffer), mask.layout);
        update((elements_mut::<T>(&mut target), x.layout), mask, |x, masked| {
            if masked {
                *x = value;
            }
        });
    })
}

/// The element of x at place `index[i]`, counted in logical order, becomes `src[i]`, or that is
/// added to it.
pub fn put<T: Element>(op: &'static str, x: View, index: View, src: View, accumulate: bool) {
    if std::ptr::eq(x.storage, src.storage) {
        let packed = Layout::contiguous(src.layout.shape());
        let src = copy(src, T::DTYPE);
        return put::<T>(op, x, index, View { storage: &src, layout: &packed }, accumulate);
    }
    let places: Vec<usize> = x.layout.positions().collect();
    let (index_buffer, source) = (index.storage.read(op), src.storage.read(op));
    let (indices, source) = (elements::<i64>(&index_buffer), elements::<T>(&source));
    let mut target = x.storage.write(op);
    let target = elements_mut::<T>(&mut target);
    let pairs = index.layout.positions().zip(src.layout.positions());
    let pairs = pairs.map(|(at, from)| (indices[at] as usize, source[from]));
    if !accumulate {
        return pairs.for_each(|(place, value)| target[places[place]] = value);
    }
    // Rounded once, after all that falls on one place has been added up.
    let mut sums: Vec<T::Compute> = places.iter().map(|&at| target[at].to_compute()).collect();
    pairs.for_each(|(place, value)| sums[place] = sums[place].add(value.to_compute()));
    for (&at, sum) in places.iter().zip(sums) {
        target[at] = T::of_compute(sum);
    }
}
