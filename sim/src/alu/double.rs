//! Double precision, §9.7.3.
//!
//! To nearest the host's arithmetic is the instruction's. In the other modes the result is rounded
//! from exact integers ([`Exact`]). A NaN comes out with the payload of the first operand that is
//! one (§9.7.3); that of an invalid operation is the hardware's.

use super::Form;
use super::approx;
use super::exact::{Exact, F64, Round};
use super::extremes;
use super::float::Modifiers;
use super::lanes::{one, rare_one, rare_three, rare_two, three, two};

/// The form of an instruction whose last piece was `f64`; `pieces` are those between.
pub(super) fn form(name: &str, pieces: &[&str]) -> Option<Form> {
    Some(match (name, pieces) {
        ("neg", []) => one(|a: f64| -a),
        ("abs", []) => one(f64::abs),
        ("copysign", []) => two(|a: f64, b: f64| b.copysign(a)),
        ("min", []) => two(extremes::double::<false>),
        ("max", []) => two(extremes::double::<true>),
        ("rcp", ["approx", "ftz"]) => one(approx::coarse_reciprocal),
        ("rsqrt", ["approx"]) => one(|a: f64| payload2(a.sqrt().recip(), a, a)),
        ("rsqrt", ["approx", "ftz"]) => one(approx::coarse_inverse_root),
        _ => return rounded(name, Modifiers::read(pieces)?),
    })
}

fn rounded(name: &str, m: Modifiers) -> Option<Form> {
    if m.ftz || m.sat {
        return None;
    }
    match (name, m.round) {
        ("add" | "sub" | "mul", round) => Some(arithmetic(name, round.unwrap_or(Round::Nearest))),
        ("fma" | "mad", Some(round)) => Some(fused(round)),
        ("div" | "rcp" | "sqrt", Some(round)) => Some(inverse(name, round)),
        _ => None,
    }
}

fn arithmetic(name: &str, round: Round) -> Form {
    let code = round as u32;
    match (name, round) {
        ("add", Round::Nearest) => two(|a: f64, b| payload2(a + b, a, b)),
        ("add", _) => rare_two(code, |code, a, b| sum(a, b, Round::of(code))),
        ("sub", Round::Nearest) => two(|a: f64, b| payload2(a - b, a, b)),
        ("sub", _) => rare_two(code, |code, a, b| difference(a, b, Round::of(code))),
        (_, Round::Nearest) => two(|a: f64, b| payload2(a * b, a, b)),
        (_, _) => rare_two(code, |code, a, b| product(a, b, Round::of(code))),
    }
}

fn fused(round: Round) -> Form {
    match round {
        Round::Nearest => three(|a: f64, b, c| payload3(a.mul_add(b, c), a, b, c)),
        _ => rare_three(round as u32, |code, a, b, c| fuse(a, b, c, Round::of(code))),
    }
}

fn inverse(name: &str, round: Round) -> Form {
    let code = round as u32;
    match (name, round) {
        ("div", Round::Nearest) => two(|a: f64, b| payload2(a / b, a, b)),
        ("div", _) => rare_two(code, |code, a, b| quotient(a, b, Round::of(code))),
        ("rcp", Round::Nearest) => one(|a: f64| payload2(a.recip(), a, a)),
        ("rcp", _) => rare_one(code, |code, a| quotient(1.0, a, Round::of(code))),
        (_, Round::Nearest) => one(|a: f64| payload2(a.sqrt(), a, a)),
        (_, _) => rare_one(code, |code, a| root(a, Round::of(code))),
    }
}

/// A quiet NaN with the payload of `x`.
#[inline(always)]
fn quiet(x: f64) -> f64 {
    f64::from_bits(x.to_bits() | 1 << 51)
}

/// Whether the bits are those of a NaN: bits, so that the compiler leaves its payload alone.
#[inline(always)]
fn is_nan(x: f64) -> bool {
    x.to_bits() & (u64::MAX >> 1) > 0x7ff << 52
}

/// The result, or if that is a NaN, the first operand that is one; or the hardware's own.
#[inline(always)]
fn payload2(result: f64, a: f64, b: f64) -> f64 {
    let own = f64::from_bits(0xfff8_0000_0000_0000);
    let from_b = if is_nan(b) { quiet(b) } else { own };
    let given = if is_nan(a) { quiet(a) } else { from_b };
    if is_nan(result) { given } else { result }
}

/// As [`payload2`], of three operands.
#[inline(always)]
fn payload3(result: f64, a: f64, b: f64, c: f64) -> f64 {
    let from_bc = payload2(f64::NAN, b, c);
    if is_nan(result) { payload2(result, a, from_bc) } else { result }
}

fn rounded_to(x: Exact, round: Round) -> f64 {
    f64::from_bits(x.round(F64, round))
}

fn sum(a: f64, b: f64, round: Round) -> f64 {
    match a.is_finite() && b.is_finite() {
        true => rounded_to(Exact::of(a).plus(Exact::of(b), round), round),
        false => payload2(a + b, a, b),
    }
}

fn difference(a: f64, b: f64, round: Round) -> f64 {
    if b.is_nan() { payload2(b, a, b) } else { sum(a, -b, round) }
}

fn product(a: f64, b: f64, round: Round) -> f64 {
    match a.is_finite() && b.is_finite() {
        true => rounded_to(Exact::of(a).times(Exact::of(b)), round),
        false => payload2(a * b, a, b),
    }
}

fn fuse(a: f64, b: f64, c: f64, round: Round) -> f64 {
    match a.is_finite() && b.is_finite() && c.is_finite() {
        true => rounded_to(Exact::of(a).times(Exact::of(b)).plus(Exact::of(c), round), round),
        false => payload3(a.mul_add(b, c), a, b, c),
    }
}

fn quotient(a: f64, b: f64, round: Round) -> f64 {
    match a.is_finite() && b.is_finite() && a != 0.0 && b != 0.0 {
        true => rounded_to(Exact::of(a).over(Exact::of(b)), round),
        false => payload2(a / b, a, b),
    }
}

fn root(a: f64, round: Round) -> f64 {
    match a.is_finite() && a > 0.0 {
        true => rounded_to(Exact::of(a).root(), round),
        false => payload2(a.sqrt(), a, a),
    }
}
