//! The approximate functions of §9.7.3 and §9.7.4: within the error that the ISA states, not equal
//! to the hardware bit for bit.
//!
//! They are computed more precisely than asked, in the same way on every system, so that equal
//! programs give equal data everywhere.

use super::Form;
use super::float::{Modifiers, single1, single2};
use super::halves::Halves;
use super::lanes::rare_one;

/// The `.f32` forms; `pieces` are the modifiers.
pub(super) fn form(name: &str, pieces: &[&str]) -> Option<Form> {
    let m = match pieces {
        ["approx" | "full"] => Modifiers::default(),
        ["approx" | "full", "ftz"] => Modifiers { ftz: true, ..Modifiers::default() },
        _ => return None,
    };
    Some(match (name, pieces[0]) {
        ("div", "approx") => single2(m, |_, a, b| fast_quotient(a, b)),
        ("div", "full") => single2(m, |_, a, b| a / b),
        ("rcp", "approx") => single1(m, |_, a| a.recip()),
        ("sqrt", "approx") => single1(m, |_, a| a.sqrt()),
        ("rsqrt", "approx") => single1(m, |_, a| f64::from(a).sqrt().recip() as f32),
        ("sin", "approx") => single1(m, |_, a| by(a, libm::sin)),
        ("cos", "approx") => single1(m, |_, a| by(a, libm::cos)),
        ("lg2", "approx") => single1(m, |_, a| by(a, libm::log2)),
        ("ex2", "approx") => single1(m, |_, a| exp2(a)),
        ("tanh", "approx") if !m.ftz => single1(m, |_, a| by(a, libm::tanh)),
        _ => return None,
    })
}

/// `div.approx`: a divisor above 2^126 has a reciprocal that is flushed to zero.
#[inline(always)]
fn fast_quotient(a: f32, b: f32) -> f32 {
    const LIMIT: f32 = f32::from_bits((127 + 126) << 23);
    let reciprocal = if b.abs() > LIMIT { 0.0_f32.copysign(b) } else { 1.0 };
    if reciprocal == 1.0 { a / b } else { a * reciprocal }
}

/// 2^a: the nearest integer goes to the exponent, the exponential series of the rest is added up to
/// its 11th power, which is 10^-14 from the sum. No branch and no call, so that it becomes vectors.
#[inline(always)]
fn exp2(a: f32) -> f32 {
    /// Added to a smaller number, it leaves the nearest integer in the lowest bits.
    const SHIFT: f64 = 1.5 * (1_u64 << 52) as f64;
    /// The inverse factorials from 11 down to 0.
    const SERIES: [f64; 12] = [
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        1.0 / 2.0,
        1.0,
        1.0,
    ];
    // Beyond this the result is zero or infinite anyway.
    let x = f64::from(a).clamp(-200.0, 200.0);
    let shifted = x + SHIFT;
    let rest = (x - (shifted - SHIFT)) * std::f64::consts::LN_2;
    let mut sum = 0.0;
    for term in &SERIES {
        sum = sum * rest + term;
    }
    let power = f64::from_bits((shifted.to_bits() + 1023) << 52);
    (sum * power) as f32
}

/// A function of `f64`, rounded to nearest.
#[inline(always)]
fn by(a: f32, f: impl Fn(f64) -> f64) -> f32 {
    f(a.into()) as f32
}

/// The forms of 16-bit types and pairs of them.
pub(super) fn half<T: Halves>(name: &str, pieces: &[&str], ieee: bool) -> Option<Form> {
    Some(match (name, pieces) {
        ("ex2", ["approx"]) if ieee => rare_one(0, |_, a: T| T::map1(a, exp2)),
        ("ex2", ["approx", "ftz"]) if !ieee => {
            rare_one(0, |_, a: T| T::map1(a.flushed(), exp2).flushed())
        }
        ("tanh", ["approx"]) => rare_one(0, |_, a: T| T::map1(a, |a| by(a, libm::tanh))),
        _ => return None,
    })
}

/// The upper word of an `f64`, the lower one zero: what the gross approximations give (§9.7.3).
#[inline(always)]
fn upper(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & 0xffff_ffff_0000_0000)
}

/// Zero with the sign of a subnormal number, every other number itself.
#[inline(always)]
fn flush64(x: f64) -> f64 {
    if x.is_subnormal() { 0.0_f64.copysign(x) } else { x }
}

#[inline(always)]
fn coarse(result: f64) -> f64 {
    if result.is_nan() { f64::from_bits(0x7fff_ffff_0000_0000) } else { flush64(upper(result)) }
}

/// `rcp.approx.ftz.f64`: 20 bits of the fraction.
#[inline(always)]
pub(super) fn coarse_reciprocal(a: f64) -> f64 {
    coarse(flush64(upper(a)).recip())
}

/// `rsqrt.approx.ftz.f64`.
#[inline(always)]
pub(super) fn coarse_inverse_root(a: f64) -> f64 {
    coarse(flush64(upper(a)).sqrt().recip())
}
