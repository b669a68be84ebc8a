//! Elementwise kernels: functions of one, two and three operands.
//!
//! The half types are widened to `f32`, computed and rounded once, element by element.

use crate::device::cpu::lanes::Computed;
use crate::device::cpu::walk::{map, map_in_vectors, select as select_walk, zip, zip_in_vectors};
use crate::device::cpu::{activation, elements, operand};
use crate::device::{Binary, Compare, Unary, View};
use crate::dtype::{Arithmetic, Bits, Element, Float, Number, Scalar, with_element};
use crate::storage::Storage;

/// y = f(x).
pub fn unary(f: Unary, x: View) -> Storage {
    match f {
        Unary::DivScalar(c) => with_element!(x.dtype(), float T => {
            let c = <T as Element>::Compute::from_scalar(c);
            apply::<T>(f, x, |x| x.div(c))
        }),
        Unary::Neg => with_element!(x.dtype(), number T => apply::<T>(f, x, Number::neg)),
        Unary::Abs => with_element!(x.dtype(), number T => apply::<T>(f, x, Number::abs)),
        Unary::Sign => with_element!(x.dtype(), number T => apply::<T>(f, x, Number::sign)),
        Unary::PowScalar(c) => power(f, x, c),
        Unary::BitwiseNot => with_element!(x.dtype(), bits T => {
            let buffer = x.storage.read(f.name());
            Storage::new(map(operand::<T>(&buffer, x), Bits::not))
        }),
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
        _ => with_element!(x.dtype(), float T => of_float::<T>(f, x)),
    }
}

fn of_float<T: Element<Compute: Float>>(f: Unary, x: View) -> Storage {
    match f {
        Unary::Sqrt => apply::<T>(f, x, Float::sqrt),
        Unary::Rsqrt => apply::<T>(f, x, |x| one::<T>().div(x.sqrt())),
        Unary::Reciprocal => apply::<T>(f, x, |x| one::<T>().div(x)),
        Unary::Exp => apply::<T>(f, x, Float::exp),
        Unary::Exp2 => apply::<T>(f, x, Float::exp2),
        Unary::Expm1 => apply::<T>(f, x, Float::expm1),
        Unary::Log => apply::<T>(f, x, Float::ln),
        Unary::Log2 => apply::<T>(f, x, Float::log2),
        Unary::Log1p => apply::<T>(f, x, Float::ln_1p),
        Unary::Sin => apply::<T>(f, x, Float::sin),
        Unary::Cos => apply::<T>(f, x, Float::cos),
        Unary::Tanh => apply::<T>(f, x, Float::tanh),
        Unary::Erf => apply::<T>(f, x, Float::erf),
        Unary::Floor => apply::<T>(f, x, Float::floor),
        Unary::Ceil => apply::<T>(f, x, Float::ceil),
        Unary::Round => apply::<T>(f, x, Float::round_even),
        Unary::Trunc => apply::<T>(f, x, Float::trunc),
        _ => of_activation::<T>(f, x),
    }
}

fn of_activation<T: Element<Compute: Float>>(f: Unary, x: View) -> Storage {
    match f {
        Unary::Sigmoid => apply::<T>(f, x, Float::sigmoid),
        Unary::LogSigmoid => apply::<T>(f, x, activation::logsigmoid),
        Unary::Silu => apply::<T>(f, x, activation::silu),
        Unary::Gelu => apply::<T>(f, x, activation::gelu),
        Unary::GeluTanh => apply::<T>(f, x, activation::gelu_tanh),
        Unary::Softplus { beta, threshold } => {
            apply::<T>(f, x, |x| activation::softplus(x, beta, threshold))
        }
        Unary::LeakyRelu(slope) => apply::<T>(f, x, |x| activation::leaky_relu(x, slope)),
        _ => unreachable!("every other function has been told apart before"),
    }
}

fn one<T: Element>() -> T::Compute {
    T::Compute::from_scalar(Scalar::Int(1))
}

/// x to the power of a number. The powers that a few exact operations give are computed by these,
/// as in PyTorch: they are faster, and √(−0) is −0.
fn power(f: Unary, x: View, c: Scalar) -> Storage {
    if !x.dtype().is_floating_point() {
        return with_element!(x.dtype(), number T => {
            let c = <T as Element>::Compute::from_scalar(c);
            apply::<T>(f, x, |x| Number::pow(x, c))
        });
    }
    with_element!(x.dtype(), float T => match c.to_f64() {
        0.5 => apply::<T>(f, x, Float::sqrt),
        2.0 => apply::<T>(f, x, |x| x.mul(x)),
        3.0 => apply::<T>(f, x, |x| x.mul(x).mul(x)),
        -0.5 => apply::<T>(f, x, |x| one::<T>().div(x.sqrt())),
        -1.0 => apply::<T>(f, x, |x| one::<T>().div(x)),
        -2.0 => apply::<T>(f, x, |x| one::<T>().div(x.mul(x))),
        _ => {
            let c = <T as Element>::Compute::from_scalar(c);
            apply::<T>(f, x, |x| Number::pow(x, c))
        }
    })
}

fn apply<T: Element>(
    name: Unary,
    x: View,
    f: impl Fn(T::Compute) -> T::Compute + Copy + Sync,
) -> Storage {
    let buffer = x.storage.read(name.name());
    let x = operand::<T>(&buffer, x);
    if const { T::IN_VECTORS } {
        return Storage::new(map_in_vectors(x, Computed(f)));
    }
    // One loop for all functions of a type: the compiler has many.
    let f: &(dyn Fn(T::Compute) -> T::Compute + Sync) = &f;
    Storage::new(map(x, |x| T::of_compute(f(x.to_compute()))))
}

/// y = f(a, b).
pub fn binary(f: Binary, a: View, b: View) -> Storage {
    match f {
        Binary::Div => with_element!(a.dtype(), float T => combine::<T>(f, a, b, Float::div)),
        Binary::FloorDivide | Binary::TruncDivide | Binary::Remainder | Binary::Pow => {
            with_element!(a.dtype(), number T => of_numbers::<T>(f, a, b))
        }
        Binary::BitwiseAnd | Binary::BitwiseOr | Binary::BitwiseXor => {
            with_element!(a.dtype(), bits T => of_bits::<T>(f, a, b))
        }
        Binary::GeluBackward => with_element!(a.dtype(), float T => {
            combine::<T>(f, a, b, activation::gelu_backward)
        }),
        Binary::GeluTanhBackward => with_element!(a.dtype(), float T => {
            combine::<T>(f, a, b, activation::gelu_tanh_backward)
        }),
        Binary::SiluBackward => with_element!(a.dtype(), float T => {
            combine::<T>(f, a, b, activation::silu_backward)
        }),
        _ => with_element!(a.dtype(), T => arithmetic::<T>(f, a, b)),
    }
}

fn of_bits<T: Bits>(f: Binary, a: View, b: View) -> Storage {
    let (left, right) = (a.storage.read(f.name()), b.storage.read(f.name()));
    let (left, right) = (operand::<T>(&left, a), operand::<T>(&right, b));
    Storage::new(match f {
        Binary::BitwiseAnd => zip(left, right, Bits::and),
        Binary::BitwiseOr => zip(left, right, Bits::or),
        _ => zip(left, right, Bits::xor),
    })
}

fn of_numbers<T: Element<Compute: Number>>(f: Binary, a: View, b: View) -> Storage {
    match f {
        Binary::Pow => combine::<T>(f, a, b, Number::pow),
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
    f: impl Fn(T::Compute, T::Compute) -> T::Compute + Copy + Sync,
) -> Storage {
    let (left, right) = (a.storage.read(name.name()), b.storage.read(name.name()));
    let (left, right) = (operand::<T>(&left, a), operand::<T>(&right, b));
    if const { T::IN_VECTORS } {
        return Storage::new(zip_in_vectors(left, right, Computed(f)));
    }
    let f: &(dyn Fn(T::Compute, T::Compute) -> T::Compute + Sync) = &f;
    Storage::new(zip(left, right, |a, b| T::of_compute(f(a.to_compute(), b.to_compute()))))
}

/// Where f(a, b) holds.
pub fn compare(f: Compare, a: View, b: View) -> Storage {
    with_element!(a.dtype(), T => {
        let (left, right) = (a.storage.read(f.name()), b.storage.read(f.name()));
        let (left, right) = (operand::<T>(&left, a), operand::<T>(&right, b));
        let holds: fn(&T, &T) -> bool = match f {
            Compare::Eq => T::eq,
            Compare::Ne => T::ne,
            Compare::Lt => T::lt,
            Compare::Le => T::le,
            Compare::Gt => T::gt,
            Compare::Ge => T::ge,
        };
        Storage::new(zip(left, right, |a, b| holds(&a, &b)))
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
