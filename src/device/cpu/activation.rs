//! The activation functions as formulas of one number.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, SQRT_2};

use crate::dtype::{Float, Scalar};

#[inline(always)]
fn number<T: Float>(x: f64) -> T {
    T::from_scalar(Scalar::Float(x))
}

/// x / (1 + e⁻ˣ)
#[inline(always)]
pub fn silu<T: Float>(x: T) -> T {
    x.div(x.neg().exp().add(number(1.0)))
}

/// ln(1 / (1 + e⁻ˣ)), as min(x, 0) − ln(1 + e^−|x|), whose exponential never overflows.
#[inline(always)]
pub fn logsigmoid<T: Float>(x: T) -> T {
    x.smaller(number(0.0)).sub(x.abs().neg().exp().ln_1p())
}

/// x · (1 + erf(x / √2)) / 2
#[inline(always)]
pub fn gelu<T: Float>(x: T) -> T {
    let twice = x.mul(number(FRAC_1_SQRT_2)).erf().add(number(1.0));
    x.mul(number(0.5)).mul(twice)
}

/// x · (1 + tanh(√(2/π) · (x + 0.044715 x³))) / 2
#[inline(always)]
pub fn gelu_tanh<T: Float>(x: T) -> T {
    let cube = x.mul(x).mul(x);
    let inner = x.add(cube.mul(number(0.044715))).mul(number(FRAC_2_SQRT_PI / SQRT_2));
    x.mul(number(0.5)).mul(inner.tanh().add(number(1.0)))
}

/// dy · (Φ(x) + x · e^(−x²/2) / √(2π))
#[inline(always)]
pub fn gelu_backward<T: Float>(dy: T, x: T) -> T {
    let below = x.mul(number(FRAC_1_SQRT_2)).erf().add(number(1.0)).mul(number(0.5));
    let density = x.mul(x).mul(number(-0.5)).exp().mul(number(FRAC_2_SQRT_PI / SQRT_2 / 2.0));
    dy.mul(below.add(x.mul(density)))
}

/// dy · (1 + tanh u + x · (1 − tanh² u) · u′) / 2 with u as in [`gelu_tanh`]
#[inline(always)]
pub fn gelu_tanh_backward<T: Float>(dy: T, x: T) -> T {
    let (k, square) = (number(FRAC_2_SQRT_PI / SQRT_2), x.mul(x));
    let t = x.mul(square.mul(number(0.044715)).add(number(1.0))).mul(k).tanh();
    let du = square.mul(number(3.0 * 0.044715)).add(number(1.0)).mul(k);
    let slope = x.mul(number::<T>(1.0).sub(t.mul(t))).mul(du);
    dy.mul(slope.add(t).add(number(1.0)).mul(number(0.5)))
}

/// dy · σ(x) · (1 + x · (1 − σ(x)))
#[inline(always)]
pub fn silu_backward<T: Float>(dy: T, x: T) -> T {
    let s = x.sigmoid();
    let rest = x.mul(number::<T>(1.0).sub(s)).add(number(1.0));
    dy.mul(s.mul(rest))
}

/// ln(1 + e^(βx)) / β, or x itself where βx is above the threshold.
#[inline(always)]
pub fn softplus<T: Float>(x: T, beta: f64, threshold: f64) -> T {
    let scaled = x.mul(number(beta));
    if scaled > number(threshold) { x } else { scaled.exp().ln_1p().div(number(beta)) }
}

/// x where it is positive, else slope · x.
#[inline(always)]
pub fn leaky_relu<T: Float>(x: T, slope: f64) -> T {
    if x > number(0.0) { x } else { x.mul(number(slope)) }
}
