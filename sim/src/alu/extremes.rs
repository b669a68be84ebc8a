//! `min` and `max` of numbers that may be NaN, §9.7.3 and §9.7.4.
//!
//! As on the hardware −0 is less than +0. A NaN loses against a number, unless `.NaN` says that it
//! wins; `.xorsign.abs` compares absolute values and gives the result, if it is a number, the
//! product of the signs.

use super::Form;
use super::float::{FTZ, NAN, canonical, flush};
use super::half::{Binary16, Brain16, Pair};
use super::halves::Halves;
use super::lanes::{rare_two, two};
use super::value::Lane;

/// A type whose numbers are compared as `f32`, which holds them all.
trait Comparable: Lane {
    /// The number, or each of a pair, through `f`.
    fn apply(a: Self, b: Self, f: impl Fn(f32, f32) -> f32 + Copy) -> Self;
    /// Flushes subnormal numbers.
    fn flushed(self) -> Self;
}

impl Comparable for f32 {
    #[inline(always)]
    fn apply(a: f32, b: f32, f: impl Fn(f32, f32) -> f32 + Copy) -> f32 {
        f(a, b)
    }

    #[inline(always)]
    fn flushed(self) -> f32 {
        flush(self)
    }
}

impl<T: Halves> Comparable for T {
    #[inline(always)]
    fn apply(a: T, b: T, f: impl Fn(f32, f32) -> f32 + Copy) -> T {
        T::map2(a, b, f)
    }

    #[inline(always)]
    fn flushed(self) -> T {
        Halves::flushed(self)
    }
}

/// The form of `min` or `max` of the given type; `pieces` are the modifiers.
pub(super) fn form(name: &str, mut pieces: &[&str], ty: &str) -> Option<Form> {
    let mut take = |what: &'static [&'static str]| match pieces.strip_prefix(what) {
        Some(rest) => {
            pieces = rest;
            true
        }
        None => false,
    };
    let modifiers = [take(&["ftz"]), take(&["NaN"]), take(&["xorsign", "abs"])];
    let known = pieces.is_empty() && matches!(name, "min" | "max");
    if !known || modifiers[0] && ty.starts_with('b') {
        return None;
    }
    let code = [FTZ, STRICT, CROSSED].iter().zip(modifiers).filter(|(_, there)| *there);
    let code = code.fold(0, |code, (bit, _)| code | bit) | if name == "max" { MAX } else { 0 };
    Some(match ty {
        "f32" => of_type::<f32>(code),
        "f16" => of_type::<Binary16>(code),
        "f16x2" => of_type::<Pair<Binary16>>(code),
        "bf16" => of_type::<Brain16>(code),
        "bf16x2" => of_type::<Pair<Brain16>>(code),
        _ => return None,
    })
}

/// The modifiers and the name in a form's code.
const STRICT: u32 = 1;
const CROSSED: u32 = 2;
const MAX: u32 = 4;

fn of_type<T: Comparable>(code: u32) -> Form {
    match code {
        0 => two(|a: T, b| pick(0, a, b)),
        MAX => two(|a: T, b| pick(MAX, a, b)),
        _ => rare_two(code, pick::<T>),
    }
}

#[inline(always)]
fn pick<T: Comparable>(code: u32, a: T, b: T) -> T {
    let (a, b) = if code & FTZ != 0 { (a.flushed(), b.flushed()) } else { (a, b) };
    T::apply(
        a,
        b,
        #[inline(always)]
        |a, b| {
            let sign = (a.to_bits() ^ b.to_bits()) & 0x8000_0000;
            let (a, b) = if code & CROSSED != 0 { (a.abs(), b.abs()) } else { (a, b) };
            let found = match (code & MAX != 0, code & STRICT != 0) {
                (false, false) => extreme::<false, false>(a, b),
                (false, true) => extreme::<false, true>(a, b),
                (true, false) => extreme::<true, false>(a, b),
                (true, true) => extreme::<true, true>(a, b),
            };
            let crossed = code & CROSSED != 0 && !found.is_nan();
            if crossed { f32::from_bits(found.to_bits() | sign) } else { found }
        },
    )
}

#[inline(always)]
fn extreme<const MAX: bool, const STRICT: bool>(a: f32, b: f32) -> f32 {
    let first = if MAX {
        (a > b) | ((a == b) & a.is_sign_positive())
    } else {
        (a < b) | ((a == b) & a.is_sign_negative())
    };
    let found = if first | b.is_nan() { a } else { b };
    if STRICT && (a.is_nan() | b.is_nan()) { NAN } else { canonical(found) }
}

/// As [`extreme`], of `f64`, where the ISA has no modifiers.
#[inline(always)]
pub(super) fn double<const MAX: bool>(a: f64, b: f64) -> f64 {
    let first = if MAX {
        a > b || a == b && a.is_sign_positive()
    } else {
        a < b || a == b && a.is_sign_negative()
    };
    if b.is_nan() || first { a } else { b }
}
