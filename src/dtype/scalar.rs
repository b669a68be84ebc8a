//! One number of any type, and the rules by which it becomes a number of another type.

use std::fmt;

use crate::dtype::{DType, bf16, f16};

/// A number outside a tensor. It is also the middle of every cast: each element type becomes one
/// of these without loss, and each is made from one by the rules here.
///
/// - To a floating-point type: the nearest value, the even one of two; NaN stays NaN. The half
///   types are reached through `f32`, as in PyTorch, so an `f64` is rounded twice.
/// - From a floating-point to an integer type: cut off towards zero; beyond the range the nearest
///   end of it, and 0 for NaN. (PyTorch leaves these undefined.)
/// - From an integer to a narrower one: the low bits, as in PyTorch.
/// - To `bool`: whether it is not 0; so NaN is true and −0.0 is false.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar {
    /// A floating-point number.
    Float(f64),
    /// An integer.
    Int(i64),
    /// True or false.
    Bool(bool),
}

impl Scalar {
    /// The type that the number counts as beside tensors: `f32`, `i64` or `bool`.
    pub fn dtype(self) -> DType {
        match self {
            Scalar::Float(_) => DType::F32,
            Scalar::Int(_) => DType::I64,
            Scalar::Bool(_) => DType::Bool,
        }
    }

    /// Whether a number of type `dtype` can stand for this one: not too large for it, and not NaN
    /// or infinite where it has no such number. A fraction may be cut off.
    pub fn fits(self, dtype: DType) -> bool {
        let x = self.to_f64();
        let within = |least: f64, most: f64| (least..=most).contains(&x.trunc());
        match dtype {
            DType::Bool | DType::F64 => true,
            _ if dtype.is_floating_point() && !x.is_finite() => true,
            DType::F32 => (x as f32).is_finite(),
            DType::BF16 => bf16::from_f32(x as f32).is_finite(),
            DType::F16 => f16::from_f32(x as f32).is_finite(),
            // The largest f64 below 2^63 is 2^63 - 1024.
            DType::I64 => {
                matches!(self, Scalar::Int(_)) || within(-(2f64.powi(63)), 2f64.powi(63) - 1024.0)
            }
            DType::I32 => within(i32::MIN.into(), i32::MAX.into()),
            DType::U8 => within(0.0, u8::MAX.into()),
        }
    }

    /// As an `f64`.
    #[inline(always)]
    pub fn to_f64(self) -> f64 {
        match self {
            Scalar::Float(x) => x,
            Scalar::Int(x) => x as f64,
            Scalar::Bool(x) => f64::from(u8::from(x)),
        }
    }

    /// As an `f32`, rounded once: an `i64` must not pass through `f64` on its way.
    pub fn to_f32(self) -> f32 {
        match self {
            Scalar::Float(x) => x as f32,
            Scalar::Int(x) => x as f32,
            Scalar::Bool(x) => f32::from(u8::from(x)),
        }
    }

    /// As an `i64`.
    pub fn to_i64(self) -> i64 {
        match self {
            Scalar::Float(x) => x as i64,
            Scalar::Int(x) => x,
            Scalar::Bool(x) => i64::from(x),
        }
    }

    /// As an `i32`.
    pub fn to_i32(self) -> i32 {
        match self {
            Scalar::Float(x) => x as i32,
            Scalar::Int(x) => x as i32,
            Scalar::Bool(x) => i32::from(x),
        }
    }

    /// As a `u8`.
    pub fn to_u8(self) -> u8 {
        match self {
            Scalar::Float(x) => x as u8,
            Scalar::Int(x) => x as u8,
            Scalar::Bool(x) => u8::from(x),
        }
    }

    /// Whether it is not 0.
    pub fn to_bool(self) -> bool {
        match self {
            Scalar::Float(x) => x != 0.0,
            Scalar::Int(x) => x != 0,
            Scalar::Bool(x) => x,
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Scalar::Float(x) => write!(f, "{x:?}"),
            Scalar::Int(x) => write!(f, "{x}"),
            Scalar::Bool(x) => write!(f, "{x}"),
        }
    }
}

impl From<f64> for Scalar {
    fn from(x: f64) -> Scalar {
        Scalar::Float(x)
    }
}

impl From<f32> for Scalar {
    fn from(x: f32) -> Scalar {
        Scalar::Float(f64::from(x))
    }
}

impl From<i64> for Scalar {
    fn from(x: i64) -> Scalar {
        Scalar::Int(x)
    }
}

impl From<i32> for Scalar {
    fn from(x: i32) -> Scalar {
        Scalar::Int(i64::from(x))
    }
}

impl From<bool> for Scalar {
    fn from(x: bool) -> Scalar {
        Scalar::Bool(x)
    }
}
