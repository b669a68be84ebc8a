//! The functions of floating-point numbers that kernels compute with.
//!
//! In `f32` they are those of `math.rs`, made for vectors; in `f64`, which is for checking, those
//! of the C library.

use crate::dtype::{Number, math};

/// A floating-point type that kernels compute with.
pub trait Float: Number {
    /// a / b by IEEE 754.
    fn div(self, b: Self) -> Self;
    /// x · a + b, rounded once.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// eˣ
    fn exp(self) -> Self;
    /// 2ˣ
    fn exp2(self) -> Self;
    /// eˣ − 1
    fn expm1(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// ln(1 + x)
    fn ln_1p(self) -> Self;
    /// Logarithm to base 2.
    fn log2(self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Sine of x radians.
    fn sin(self) -> Self;
    /// Cosine of x radians.
    fn cos(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// 1 / (1 + e⁻ˣ)
    fn sigmoid(self) -> Self;
    /// The error function.
    fn erf(self) -> Self;
    /// Rounded down.
    fn floor(self) -> Self;
    /// Rounded up.
    fn ceil(self) -> Self;
    /// The fraction cut off.
    fn trunc(self) -> Self;
    /// The nearest integer, the even one of two.
    fn round_even(self) -> Self;
}

impl Float for f32 {
    #[inline(always)]
    fn div(self, b: f32) -> f32 {
        self / b
    }

    #[inline(always)]
    fn mul_add(self, a: f32, b: f32) -> f32 {
        f32::mul_add(self, a, b)
    }

    #[inline(always)]
    fn exp(self) -> f32 {
        math::exp(self)
    }

    #[inline(always)]
    fn exp2(self) -> f32 {
        math::exp2(self)
    }

    #[inline(always)]
    fn expm1(self) -> f32 {
        math::expm1(self)
    }

    #[inline(always)]
    fn ln(self) -> f32 {
        math::ln(self)
    }

    #[inline(always)]
    fn ln_1p(self) -> f32 {
        math::log1p(self)
    }

    #[inline(always)]
    fn log2(self) -> f32 {
        math::log2(self)
    }

    #[inline(always)]
    fn sqrt(self) -> f32 {
        f32::sqrt(self)
    }

    #[inline(always)]
    fn sin(self) -> f32 {
        math::sin(self)
    }

    #[inline(always)]
    fn cos(self) -> f32 {
        math::cos(self)
    }

    #[inline(always)]
    fn tanh(self) -> f32 {
        math::tanh(self)
    }

    #[inline(always)]
    fn sigmoid(self) -> f32 {
        math::sigmoid(self)
    }

    #[inline(always)]
    fn erf(self) -> f32 {
        math::erf(self)
    }

    #[inline(always)]
    fn floor(self) -> f32 {
        f32::floor(self)
    }

    #[inline(always)]
    fn ceil(self) -> f32 {
        f32::ceil(self)
    }

    #[inline(always)]
    fn trunc(self) -> f32 {
        f32::trunc(self)
    }

    #[inline(always)]
    fn round_even(self) -> f32 {
        self.round_ties_even()
    }
}

impl Float for f64 {
    #[inline(always)]
    fn div(self, b: f64) -> f64 {
        self / b
    }

    #[inline(always)]
    fn mul_add(self, a: f64, b: f64) -> f64 {
        f64::mul_add(self, a, b)
    }

    #[inline(always)]
    fn exp(self) -> f64 {
        f64::exp(self)
    }

    #[inline(always)]
    fn exp2(self) -> f64 {
        f64::exp2(self)
    }

    #[inline(always)]
    fn expm1(self) -> f64 {
        self.exp_m1()
    }

    #[inline(always)]
    fn ln(self) -> f64 {
        f64::ln(self)
    }

    #[inline(always)]
    fn ln_1p(self) -> f64 {
        f64::ln_1p(self)
    }

    #[inline(always)]
    fn log2(self) -> f64 {
        f64::log2(self)
    }

    #[inline(always)]
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }

    #[inline(always)]
    fn sin(self) -> f64 {
        f64::sin(self)
    }

    #[inline(always)]
    fn cos(self) -> f64 {
        f64::cos(self)
    }

    #[inline(always)]
    fn tanh(self) -> f64 {
        f64::tanh(self)
    }

    #[inline(always)]
    fn sigmoid(self) -> f64 {
        1.0 / (1.0 + f64::exp(-self))
    }

    #[inline(always)]
    fn erf(self) -> f64 {
        libm::erf(self)
    }

    #[inline(always)]
    fn floor(self) -> f64 {
        f64::floor(self)
    }

    #[inline(always)]
    fn ceil(self) -> f64 {
        f64::ceil(self)
    }

    #[inline(always)]
    fn trunc(self) -> f64 {
        f64::trunc(self)
    }

    #[inline(always)]
    fn round_even(self) -> f64 {
        self.round_ties_even()
    }
}
