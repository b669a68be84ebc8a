//! Single precision: the `.f32` forms of §9.7.3 whose result is exactly defined.
//!
//! A product of two `f32` is exact in `f64`, a sum is rounded to odd there ([`odd_sum`]), and so
//! are quotients and roots: the rounding that the instruction names then decides once.

use super::Form;
use super::exact::Round;
use super::float::{Modifiers, flush, narrow, odd, odd_sum, single1, single2, single3};
use super::lanes::{one, two};

/// The form of an instruction whose last piece was `f32`; `pieces` are those between.
pub(super) fn form(name: &str, pieces: &[&str]) -> Option<Form> {
    match name {
        "add" | "sub" | "mul" => Some(arithmetic(name, Modifiers::read(pieces)?)),
        // Since sm_20 `mad` is `fma` (§9.7.3.7), and both name their rounding.
        "fma" | "mad" => {
            let modifiers = Modifiers::read(pieces)?;
            modifiers.round.map(|_| fused(modifiers))
        }
        "div" | "rcp" | "sqrt" => match Modifiers::read(pieces) {
            Some(m) if !m.sat => m.round.map(|_| inverse(name, m)),
            _ => super::approx::form(name, pieces),
        },
        "neg" | "abs" => sign(name, pieces),
        "copysign" if pieces.is_empty() => Some(two(|a: f32, b: f32| b.copysign(a))),
        "min" | "max" => super::extremes::form(name, pieces, "f32"),
        _ => super::approx::form(name, pieces),
    }
}

fn sign(name: &str, pieces: &[&str]) -> Option<Form> {
    Some(match (name, pieces) {
        ("neg", []) => one(|a: f32| -a),
        ("neg", ["ftz"]) => one(|a: f32| -flush(a)),
        ("abs", []) => one(f32::abs),
        ("abs", ["ftz"]) => one(|a: f32| flush(a).abs()),
        _ => return None,
    })
}

fn arithmetic(name: &str, m: Modifiers) -> Form {
    match name {
        "add" => single2(m, |round, a, b| match round {
            Round::Nearest => a + b,
            _ => sum(a.into(), b, round),
        }),
        "sub" => single2(m, |round, a, b| match round {
            Round::Nearest => a - b,
            _ => sum(a.into(), -b, round),
        }),
        _ => single2(m, |round, a, b| match round {
            Round::Nearest => a * b,
            _ => narrow(product(a, b), round),
        }),
    }
}

fn fused(m: Modifiers) -> Form {
    single3(m, |round, a, b, c| match round {
        Round::Nearest => a.mul_add(b, c),
        _ => sum(product(a, b), c, round),
    })
}

fn inverse(name: &str, m: Modifiers) -> Form {
    match name {
        "div" => single2(m, quotient),
        "rcp" => single1(m, |round, a| quotient(round, 1.0, a)),
        _ => single1(m, root),
    }
}

#[inline(always)]
fn product(a: f32, b: f32) -> f64 {
    f64::from(a) * f64::from(b)
}

/// A product or a number, plus a number. A zero from numbers that cancel is −0 when rounding down.
#[inline(always)]
fn sum(a: f64, b: f32, round: Round) -> f32 {
    let exact = odd_sum(a, b.into());
    let positive = a.to_bits() == 0 && b.to_bits() == 0;
    match round {
        Round::Down if exact == 0.0 && !positive => -0.0,
        _ => narrow(exact, round),
    }
}

#[inline(always)]
fn quotient(round: Round, a: f32, b: f32) -> f32 {
    if round == Round::Nearest {
        return a / b;
    }
    let (a, b) = (f64::from(a), f64::from(b));
    let nearest = a / b;
    if !nearest.is_finite() || nearest == 0.0 {
        return nearest as f32;
    }
    // The rest has the sign of what the quotient lacks, times that of the divisor.
    let rest = (-nearest).mul_add(b, a);
    narrow(odd(nearest, if b < 0.0 { -rest } else { rest }), round)
}

#[inline(always)]
fn root(round: Round, a: f32) -> f32 {
    if round == Round::Nearest {
        return a.sqrt();
    }
    let a = f64::from(a);
    let nearest = a.sqrt();
    if !nearest.is_finite() || nearest == 0.0 {
        return nearest as f32;
    }
    narrow(odd(nearest, (-nearest).mul_add(nearest, a)), round)
}
