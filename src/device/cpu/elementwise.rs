//! Elementwise kernels: functions of one, two and three operands.
//!
//! The half types are widened to `f32`, computed and rounded once, element by element.

use crate::device::cpu::walk::{map, select as select_walk, zip};
use crate::device::cpu::{elements, operand};
use crate::device::{Binary, Compare, Unary, View};
use crate::dtype::{Arithmetic, Element, Float, Number, with_element};
use crate::storage::Storage;

/// y = f(x).
pub fn unary(f: Unary, x: View) -> Storage {
    match f {
        Unary::Exp => of_float(f, x),
        Unary::Log => of_float(f, x),
        Unary::Tanh => of_float(f, x),
        Unary::DivScalar(c) => with_element!(x.dtype(), float T => {
            let c = <T as Element>::Compute::from_scalar(c);
            apply::<T>(f, x, |x| x.div(c))
        }),
        Unary::Neg => with_element!(x.dtype(), number T => apply::<T>(f, x, Number::neg)),
        Unary::AddScalar(c) => with_element!(x.dtype(), T => {
            let c = <T as Element>::Compute::from_scalar(c);
            apply::<T>(f, x, |x| x.add(c))
        }),
        Unary::MulScalar(c) => with_element!(x.dtype(), T => {
            let c = <T as Element>::Compute::from_scalar(c);
            apply::<T>(f, x, |x| x.mul(c))
        }),
        Unary::ClampMax(c) => with_element!(x.dtype(), T => {
            let c = <T as Element>::Compute::from_scalar(c);
            apply::<T>(f, x, |x| x.smaller(c))
        }),
        Unary::ClampMin(c) => with_element!(x.dtype(), T => {
            let c = <T as Element>::Compute::from_scalar(c);
            apply::<T>(f, x, |x| x.larger(c))
        }),
    }
}

fn of_float(f: Unary, x: View) -> Storage {
    with_element!(x.dtype(), float T => match f {
        Unary::Exp => apply::<T>(f, x, Float::exp),
        Unary::Log => apply::<T>(f, x, Float::ln),
        _ => apply::<T>(f, x, Float::tanh),
    })
}

fn apply<T: Element>(name: Unary, x: View, f: impl Fn(T::Compute) -> T::Compute + Copy) -> Storage {
    let buffer = x.storage.read(name.name());
    Storage::new(map(operand::<T>(&buffer, x), |x| T::of_compute(f(x.to_compute()))))
}

/// y = f(a, b).
pub fn binary(f: Binary, a: View, b: View) -> Storage {
    match f {
        Binary::Div => with_element!(a.dtype(), float T => combine::<T>(f, a, b, Float::div)),
        Binary::FloorDivide | Binary::TruncDivide | Binary::Remainder => {
            with_element!(a.dtype(), number T => division::<T>(f, a, b))
        }
        _ => with_element!(a.dtype(), T => arithmetic::<T>(f, a, b)),
    }
}

fn division<T: Element<Compute: Number>>(f: Binary, a: View, b: View) -> Storage {
    match f {
        Binary::FloorDivide => combine::<T>(f, a, b, Number::floor_divide),
        Binary::TruncDivide => combine::<T>(f, a, b, Number::trunc_divide),
        _ => combine::<T>(f, a, b, Number::remainder),
    }
}

fn arithmetic<T: Element>(f: Binary, a: View, b: View) -> Storage {
    let zero = T::Compute::default();
    match f {
        Binary::Add => combine::<T>(f, a, b, Arithmetic::add),
        Binary::Sub => combine::<T>(f, a, b, Arithmetic::sub),
        Binary::Mul => combine::<T>(f, a, b, Arithmetic::mul),
        Binary::Maximum => combine::<T>(f, a, b, Arithmetic::larger),
        Binary::Minimum => combine::<T>(f, a, b, Arithmetic::smaller),
        _ => combine::<T>(f, a, b, |a, b| if b <= zero { zero } else { a }),
    }
}

fn combine<T: Element>(
    name: Binary,
    a: View,
    b: View,
    f: impl Fn(T::Compute, T::Compute) -> T::Compute + Copy,
) -> Storage {
    let (left, right) = (a.storage.read(name.name()), b.storage.read(name.name()));
    let (left, right) = (operand::<T>(&left, a), operand::<T>(&right, b));
    Storage::new(zip(left, right, |a, b| T::of_compute(f(a.to_compute(), b.to_compute()))))
}

/// Where f(a, b) holds.
#[expect(clippy::bool_comparison, reason = "one of the types that are compared is bool")]
pub fn compare(f: Compare, a: View, b: View) -> Storage {
    with_element!(a.dtype(), T => {
        let (left, right) = (a.storage.read(f.name()), b.storage.read(f.name()));
        let (left, right) = (operand::<T>(&left, a), operand::<T>(&right, b));
        Storage::new(match f {
            Compare::Eq => zip(left, right, |a, b| a == b),
            Compare::Ne => zip(left, right, |a, b| a != b),
            Compare::Lt => zip(left, right, |a, b| a < b),
            Compare::Le => zip(left, right, |a, b| a <= b),
            Compare::Gt => zip(left, right, |a, b| a > b),
            Compare::Ge => zip(left, right, |a, b| a >= b),
        })
    })
}

/// y = a where the condition holds, else b.
pub fn select(condition: View, a: View, b: View) -> Storage {
    with_element!(a.dtype(), T => {
        let mask = condition.storage.read("where");
        let (left, right) = (a.storage.read("where"), b.storage.read("where"));
        let condition = (elements::<bool>(&mask), condition.layout);
        Storage::new(select_walk(condition, operand::<T>(&left, a), operand::<T>(&right, b)))
    })
}
