//! Kernels that lay elements out anew, as they are or as another type.

use crate::device::View;
use crate::device::cpu::turn::{is_turned, map_turned};
use crate::device::cpu::walk::map;
use crate::device::cpu::{elements, operand};
use crate::dtype::{DType, Element, with_element};
use crate::layout::coalesced;
use crate::memory::room;
use crate::storage::Storage;

/// The elements in logical order, as elements of type `to`.
pub fn copy(x: View, to: DType) -> Storage {
    if x.dtype() == to {
        return with_element!(to, T => {
            let buffer = x.storage.read("copy");
            let (values, layout) = operand::<T>(&buffer, x);
            let [layout] = coalesced([layout]);
            Storage::new(match is_turned(&layout) {
                true => map_turned((values, &layout)),
                false => map((values, &layout), |x| x),
            })
        });
    }
    with_element!(x.dtype(), From => with_element!(to, To => cast::<From, To>(x)))
}

/// The one place where elements of one type become elements of another.
fn cast<From: Element, To: Element>(x: View) -> Storage {
    let buffer = x.storage.read("to");
    Storage::new(map(operand::<From>(&buffer, x), |x| To::from_scalar(x.to_scalar())))
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
    let mut out = room(x.layout.shape().numel());
    let pairs = onward.positions().zip(backward.positions());
    out.extend(pairs.map(|(on, back)| values[on + last - back]));
    Storage::new(out)
}
