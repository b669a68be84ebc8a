//! `cvt`, §9.7.9.21: between integers and floats of all widths.
//!
//! The conversions that compilers emit most have a loop of their own ([`common`]). All others go
//! through exact integers, with the modifiers in the form's code.

use super::Form;
use super::exact::{Exact, Round};
use super::float::{FTZ, NAN, SAT, canonical, flush, saturate};
use super::half::{Binary16, Brain16, Half};
use super::lanes::{one, rare_one};
use super::number::{Real, Whole, limits};

/// Further modifiers in a code: rounding to an integer, `.relu`, a signed integer target.
const INTEGRAL: u32 = 8;
const RELU: u32 = 64;
const SIGNED: u32 = 128;
/// The width of an integer target lies above.
const WIDTH: u32 = 8;

/// The form of `cvt`; `rest` are its modifiers and the two types.
pub(super) fn form(name: &str, rest: &[&str]) -> Option<Form> {
    if name != "cvt" {
        return None;
    }
    if let Some(form) = super::pack::form(rest) {
        return Some(form);
    }
    let (modifiers, [to, from]) = rest.split_last_chunk::<2>()?;
    let code = modifiers_code(modifiers)?;
    let legal = match (float_bits(to), float_bits(from)) {
        (None, None) => code & !SAT == 0,
        (Some(_), None) => is_rounded(modifiers) && code & (INTEGRAL | FTZ | RELU) == 0,
        (None, Some(_)) => code & INTEGRAL != 0 && code & RELU == 0,
        (Some(to_bits), Some(from_bits)) => {
            let narrowing = to_bits < from_bits || to != from && to_bits == from_bits;
            narrowing == is_rounded(modifiers) && !(code & INTEGRAL != 0 && to != from)
        }
    };
    let single = [*to, *from].contains(&"f32");
    let relu_fits = code & RELU == 0 || matches!(*to, "f16" | "bf16") && *from == "f32";
    if !legal || code & FTZ != 0 && !single || !relu_fits {
        return None;
    }
    let form = common(modifiers, to, from).or_else(|| any(code, to, from))?;
    Some(Form { signed: to.starts_with('s'), ..form })
}

fn float_bits(ty: &str) -> Option<u32> {
    Some(match ty {
        "f16" | "bf16" => 16,
        "f32" => 32,
        "f64" => 64,
        _ => return None,
    })
}

fn is_rounded(modifiers: &[&str]) -> bool {
    modifiers.first().is_some_and(|first| super::float::mode(first).is_some())
}

/// The modifiers, in the order of the ISA's syntax.
fn modifiers_code(mut modifiers: &[&str]) -> Option<u32> {
    let mut code = 0;
    if let Some((first, rest)) = modifiers.split_first() {
        let (name, integral) = match first.strip_suffix('i') {
            Some(name) => (name, INTEGRAL),
            None => (*first, 0),
        };
        if let Some(round) = super::float::mode(name) {
            code = round as u32 | integral;
            modifiers = rest;
        }
    }
    for (name, bit) in [("ftz", FTZ), ("relu", RELU), ("sat", SAT)] {
        if modifiers.first() == Some(&name) {
            code |= bit;
            modifiers = &modifiers[1..];
        }
    }
    modifiers.is_empty().then_some(code)
}

fn common(modifiers: &[&str], to: &str, from: &str) -> Option<Form> {
    Some(match (modifiers, to, from) {
        ([], "u16" | "s16", "u32" | "s32") => one(|a: u32| a as u16),
        ([], "u16" | "s16", "u64" | "s64") => one(|a: u64| a as u16),
        ([], "u32" | "s32", "u16") => one(|a: u16| u32::from(a)),
        ([], "s32" | "u32", "s16") => one(|a: i16| i32::from(a)),
        ([], "s16" | "u16", "s8") => one(|a: i8| i16::from(a)),
        ([], "s32" | "u32", "s8") => one(|a: i8| i32::from(a)),
        ([], "u32" | "s32", "u64" | "s64") => one(|a: u64| a as u32),
        ([], "u64" | "s64", "u32") => one(|a: u32| u64::from(a)),
        ([], "s64" | "u64", "s32") => one(|a: i32| i64::from(a)),
        ([], "f64", "f32") => one(|a: f32| f64::from(a)),
        (["ftz"], "f64", "f32") => one(|a: f32| f64::from(flush(a))),
        (["rn"], "f32", "f64") => one(|a: f64| canonical(a as f32)),
        (["rn", "ftz"], "f32", "f64") => one(|a: f64| flush(canonical(a as f32))),
        ([], "f32", "f16") => one(|a: Binary16| canonical(a.widen())),
        ([], "f32", "bf16") => one(|a: Brain16| canonical(a.widen())),
        (["rn"], "f16", "f32") => one(Binary16::nearest),
        (["rn"], "bf16", "f32") => one(Brain16::nearest),
        (["rni"], "f32", "f32") => one(|a: f32| canonical(a.round_ties_even())),
        (["rzi"], "f32", "f32") => one(|a: f32| canonical(a.trunc())),
        (["rmi"], "f32", "f32") => one(|a: f32| canonical(a.floor())),
        (["rpi"], "f32", "f32") => one(|a: f32| canonical(a.ceil())),
        (["sat"], "f32", "f32") => one(saturate),
        (["ftz", "sat"], "f32", "f32") => one(|a| saturate(flush(a))),
        (["rn"], "f32", "u32") => one(|a: u32| a as f32),
        (["rn"], "f32", "s32") => one(|a: i32| a as f32),
        (["rn"], "f32", "u64") => one(|a: u64| a as f32),
        (["rn"], "f32", "s64") => one(|a: i64| a as f32),
        (["rn"], "f64", "u32") => one(|a: u32| f64::from(a)),
        (["rn"], "f64", "s32") => one(|a: i32| f64::from(a)),
        (["rn"], "f64", "u64") => one(|a: u64| a as f64),
        (["rn"], "f64", "s64") => one(|a: i64| a as f64),
        (["rzi"], "s32", "f32") => one(|a: f32| a as i32),
        (["rzi", "ftz"], "s32", "f32") => one(|a: f32| a as i32),
        (["rzi"], "u32", "f32") => one(|a: f32| a as u32),
        (["rzi", "ftz"], "u32", "f32") => one(|a: f32| a as u32),
        (["rni"], "s32", "f32") => one(|a: f32| a.round_ties_even() as i32),
        (["rni", "ftz"], "s32", "f32") => one(|a: f32| a.round_ties_even() as i32),
        _ => return None,
    })
}

fn any(code: u32, to: &str, from: &str) -> Option<Form> {
    Some(match from {
        "u8" => from_whole::<u8>(code, to)?,
        "s8" => from_whole::<i8>(code, to)?,
        "u16" => from_whole::<u16>(code, to)?,
        "s16" => from_whole::<i16>(code, to)?,
        "u32" => from_whole::<u32>(code, to)?,
        "s32" => from_whole::<i32>(code, to)?,
        "u64" => from_whole::<u64>(code, to)?,
        "s64" => from_whole::<i64>(code, to)?,
        "f16" => from_real::<Binary16>(code, to)?,
        "bf16" => from_real::<Brain16>(code, to)?,
        "f32" => from_real::<f32>(code, to)?,
        "f64" => from_real::<f64>(code, to)?,
        _ => return None,
    })
}

fn from_whole<A: Whole>(code: u32, to: &str) -> Option<Form> {
    match to {
        "f16" => return Some(rare_one(code, whole_to_real::<A, Binary16>)),
        "bf16" => return Some(rare_one(code, whole_to_real::<A, Brain16>)),
        "f32" => return Some(rare_one(code, whole_to_real::<A, f32>)),
        "f64" => return Some(rare_one(code, whole_to_real::<A, f64>)),
        _ => (),
    }
    to_whole(code, to, whole_to_whole::<A, u32>, whole_to_whole::<A, u64>)
}

/// A form whose target is an integer, by one of two functions for the two sizes of a lane.
fn to_whole<A: super::value::Value>(
    code: u32,
    to: &str,
    narrow: impl Fn(u32, A) -> u32 + Copy + 'static,
    wide: impl Fn(u32, A) -> u64 + Copy + 'static,
) -> Option<Form> {
    let (bits, signed) = (to.get(1..)?.parse().ok()?, to.starts_with('s'));
    if !matches!(bits, 8 | 16 | 32 | 64) || !to.starts_with(['s', 'u']) {
        return None;
    }
    let code = code | if signed { SIGNED } else { 0 } | bits << WIDTH;
    let form = if bits == 64 { rare_one(code, wide) } else { rare_one(code, narrow) };
    Some(Form { bits, signed, ..form })
}

/// The limits of the integer type in a code.
fn limits_of(code: u32) -> (i128, i128) {
    limits(code >> WIDTH, code & SIGNED != 0)
}

/// A number as a register of the code's type has it: an 8-bit one sign-extended to 16 bits.
fn fitted<R: Whole>(code: u32, x: i128) -> R {
    let bits = (code >> WIDTH).max(16);
    R::wrap(x & limits(bits, false).1)
}

fn whole_to_whole<A: Whole, R: Whole>(code: u32, a: A) -> R {
    let (least, greatest) = limits_of(code);
    if code & SAT != 0 {
        return fitted(code, a.into().clamp(least, greatest));
    }
    let above = 128 - (code >> WIDTH);
    let high = a.into() << above;
    fitted(code, if least < 0 { high >> above } else { (high as u128 >> above) as i128 })
}

fn whole_to_real<A: Whole, R: Real>(code: u32, a: A) -> R {
    finish(code, Exact::integer(a.into()))
}

/// The bits of a result, clamped to [0, 1] or from below at 0 as the code says.
fn finish<R: Real>(code: u32, x: Exact) -> R {
    let zero = x.mantissa == 0 || x.negative;
    let result = match code & (SAT | RELU) {
        0 => R::of_bits(x.round(R::FORMAT, Round::of(code))),
        _ if zero => R::of_bits(0),
        RELU => R::of_bits(x.round(R::FORMAT, Round::of(code))),
        _ => R::of_bits(x.round(R::FORMAT, Round::of(code)).min(one_of::<R>())),
    };
    if code & FTZ != 0 { result.flushed() } else { result }
}

/// The bits of 1.
fn one_of<R: Real>() -> u64 {
    ((1 << (R::FORMAT.exponent - 1)) - 1) << R::FORMAT.fraction
}

fn from_real<A: Real>(code: u32, to: &str) -> Option<Form> {
    Some(match to {
        "f16" => rare_one(code, real_to_real::<A, Binary16>),
        "bf16" => rare_one(code, real_to_real::<A, Brain16>),
        "f32" => rare_one(code, real_to_real::<A, f32>),
        "f64" => rare_one(code, real_to_real::<A, f64>),
        _ => return to_whole(code, to, real_to_whole::<A, u32>, real_to_whole::<A, u64>),
    })
}

fn to_integral(x: f64, code: u32) -> f64 {
    match Round::of(code) {
        Round::Nearest => x.round_ties_even(),
        Round::Zero => x.trunc(),
        Round::Down => x.floor(),
        _ => x.ceil(),
    }
}

fn real_to_real<A: Real, R: Real>(code: u32, a: A) -> R {
    let x = if code & FTZ != 0 { a.flushed() } else { a }.real();
    let x = if code & INTEGRAL != 0 { to_integral(x, code) } else { x };
    let infinity = one_of::<R>() << 1 | 1 << R::FORMAT.fraction;
    match x {
        _ if x.is_nan() => R::of_bits(if code & SAT != 0 { 0 } else { R::NAN }),
        _ if x.is_finite() => finish(code, Exact::of(x)),
        _ if code & SAT != 0 => R::of_bits(if x > 0.0 { one_of::<R>() } else { 0 }),
        _ if x < 0.0 && code & RELU != 0 => R::of_bits(0),
        _ if x < 0.0 => R::of_bits(infinity | 1 << (R::FORMAT.fraction + R::FORMAT.exponent)),
        _ => R::of_bits(infinity),
    }
}

/// Out of range, the nearest number in it; NaN is 0, or, where 64 bits are on either side, the
/// highest bit alone (§9.7.9.21).
fn real_to_whole<A: Real, R: Whole>(code: u32, a: A) -> R {
    let x = if code & FTZ != 0 { a.flushed() } else { a }.real();
    let (least, greatest) = limits_of(code);
    if x.is_nan() {
        let wide = A::BITS == 64 || code >> WIDTH == 64;
        let highest = if least < 0 { least } else { 1 << ((code >> WIDTH) - 1) };
        return fitted(code, if wide { highest } else { 0 });
    }
    // A cast to i128 saturates; what is beyond is beyond every type here.
    fitted(code, (to_integral(x, code) as i128).clamp(least, greatest))
}

/// `.rna.tf32`: to nearest with 10 bits of fraction, a tie away from zero; the other bits zero.
pub(super) fn tf32(a: f32) -> f32 {
    let rounded = f32::from_bits((a.to_bits() + 0x1000) & !0x1fff);
    match a {
        _ if a.is_nan() => NAN,
        _ if a.is_infinite() => a,
        _ => rounded,
    }
}
