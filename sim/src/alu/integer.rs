//! Integer arithmetic, §9.7.1.
//!
//! Addition, subtraction and the low half of a product do not depend on the sign of their
//! operands. A quotient by zero, which the ISA leaves open, has all bits set, and its remainder is
//! the dividend: as on NVIDIA's GPUs.

use super::Form;
use super::carry::high;
use super::lanes::{one, three, two};

/// The form of an instruction of §9.7.1: its name, then its modifiers and types.
pub(super) fn form(name: &str, rest: &[&str]) -> Option<Form> {
    match name {
        "add" | "sub" => sum(name, rest),
        "mul" => product(rest),
        "mad" => product_and_sum(rest),
        "mul24" | "mad24" => product24(name, rest),
        "div" | "rem" => quotient(name, rest),
        "min" | "max" => extreme(name, rest),
        "abs" | "neg" => sign(name, rest),
        "sad" => distance(rest),
        "dp4a" | "dp2a" => super::dot::form(name, rest),
        _ => None,
    }
}

fn sum(name: &str, rest: &[&str]) -> Option<Form> {
    Some(match (name, rest) {
        ("add", ["u16" | "s16"]) => two(u16::wrapping_add),
        ("add", ["u32" | "s32"]) => two(u32::wrapping_add),
        ("add", ["u64" | "s64"]) => two(u64::wrapping_add),
        ("add", ["sat", "s32"]) => two(i32::saturating_add),
        ("add", ["u16x2" | "s16x2"]) => two(|a, b| halves(a, b, u16::wrapping_add)),
        ("sub", ["u16" | "s16"]) => two(u16::wrapping_sub),
        ("sub", ["u32" | "s32"]) => two(u32::wrapping_sub),
        ("sub", ["u64" | "s64"]) => two(u64::wrapping_sub),
        ("sub", ["sat", "s32"]) => two(i32::saturating_sub),
        _ => return None,
    })
}

/// Applies `f` to the low and to the high 16 bits.
#[inline(always)]
fn halves(a: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    let [low, high] = [f(a as u16, b as u16), f((a >> 16) as u16, (b >> 16) as u16)];
    u32::from(high) << 16 | u32::from(low)
}

/// As [`halves`], on signed numbers.
#[inline(always)]
fn signed_halves(a: u32, b: u32, f: impl Fn(i16, i16) -> i16) -> u32 {
    halves(a, b, |a, b| f(a as i16, b as i16) as u16)
}

fn product(rest: &[&str]) -> Option<Form> {
    Some(match rest {
        ["lo", "u16" | "s16"] => two(u16::wrapping_mul),
        ["lo", "u32" | "s32"] => two(u32::wrapping_mul),
        ["lo", "u64" | "s64"] => two(u64::wrapping_mul),
        ["hi", "u16"] => two(high::<u16>),
        ["hi", "s16"] => two(high::<i16>),
        ["hi", "u32"] => two(high::<u32>),
        ["hi", "s32"] => two(high::<i32>),
        ["hi", "u64"] => two(high::<u64>),
        ["hi", "s64"] => two(high::<i64>),
        ["wide", "u16"] => two(|a: u16, b: u16| u32::from(a) * u32::from(b)),
        ["wide", "s16"] => two(|a: i16, b: i16| i32::from(a) * i32::from(b)),
        ["wide", "u32"] => two(|a: u32, b: u32| u64::from(a) * u64::from(b)),
        ["wide", "s32"] => two(|a: i32, b: i32| i64::from(a) * i64::from(b)),
        _ => return None,
    })
}

fn product_and_sum(rest: &[&str]) -> Option<Form> {
    Some(match rest {
        ["lo", "u16" | "s16"] => three(|a: u16, b: u16, c| a.wrapping_mul(b).wrapping_add(c)),
        ["lo", "u32" | "s32"] => three(|a: u32, b: u32, c| a.wrapping_mul(b).wrapping_add(c)),
        ["lo", "u64" | "s64"] => three(|a: u64, b: u64, c| a.wrapping_mul(b).wrapping_add(c)),
        ["hi", "u16"] => three(|a: u16, b, c| high(a, b).wrapping_add(c)),
        ["hi", "s16"] => three(|a: i16, b, c| high(a, b).wrapping_add(c)),
        ["hi", "u32"] => three(|a: u32, b, c| high(a, b).wrapping_add(c)),
        ["hi", "s32"] => three(|a: i32, b, c| high(a, b).wrapping_add(c)),
        ["hi", "sat", "s32"] => three(|a: i32, b, c| high(a, b).saturating_add(c)),
        ["hi", "u64"] => three(|a: u64, b, c| high(a, b).wrapping_add(c)),
        ["hi", "s64"] => three(|a: i64, b, c| high(a, b).wrapping_add(c)),
        ["wide", "u16"] => {
            three(|a: u16, b: u16, c: u32| (u32::from(a) * u32::from(b)).wrapping_add(c))
        }
        ["wide", "s16"] => {
            three(|a: i16, b: i16, c: i32| (i32::from(a) * i32::from(b)).wrapping_add(c))
        }
        ["wide", "u32"] => {
            three(|a: u32, b: u32, c: u64| (u64::from(a) * u64::from(b)).wrapping_add(c))
        }
        ["wide", "s32"] => {
            three(|a: i32, b: i32, c: i64| (i64::from(a) * i64::from(b)).wrapping_add(c))
        }
        _ => return None,
    })
}

/// The product of the low 24 bits: 48 bits, of which `lo` takes 0 to 31 and `hi` 16 to 47.
#[inline(always)]
fn unsigned24(a: u32, b: u32, from: u32) -> u32 {
    let [a, b] = [a, b].map(|x| u64::from(x & 0xff_ffff));
    ((a * b) >> from) as u32
}

/// As [`unsigned24`], on signed numbers of 24 bits.
#[inline(always)]
fn signed24(a: i32, b: i32, from: u32) -> i32 {
    let [a, b] = [a, b].map(|x| i64::from(x << 8 >> 8));
    ((a * b) >> from) as i32
}

fn product24(name: &str, rest: &[&str]) -> Option<Form> {
    Some(match (name, rest) {
        ("mul24", ["lo", "u32"]) => two(|a, b| unsigned24(a, b, 0)),
        ("mul24", ["lo", "s32"]) => two(|a, b| signed24(a, b, 0)),
        ("mul24", ["hi", "u32"]) => two(|a, b| unsigned24(a, b, 16)),
        ("mul24", ["hi", "s32"]) => two(|a, b| signed24(a, b, 16)),
        ("mad24", ["lo", "u32"]) => three(|a, b, c| unsigned24(a, b, 0).wrapping_add(c)),
        ("mad24", ["lo", "s32"]) => three(|a, b, c| signed24(a, b, 0).wrapping_add(c)),
        ("mad24", ["hi", "u32"]) => three(|a, b, c| unsigned24(a, b, 16).wrapping_add(c)),
        ("mad24", ["hi", "s32"]) => three(|a, b, c| signed24(a, b, 16).wrapping_add(c)),
        ("mad24", ["hi", "sat", "s32"]) => three(|a, b, c| signed24(a, b, 16).saturating_add(c)),
        _ => return None,
    })
}

fn quotient(name: &str, rest: &[&str]) -> Option<Form> {
    Some(match (name, rest) {
        ("div", ["u16"]) => two(|a: u16, b| a.checked_div(b).unwrap_or(u16::MAX)),
        ("div", ["s16"]) => two(|a: i16, b| if b == 0 { -1 } else { a.wrapping_div(b) }),
        ("div", ["u32"]) => two(|a: u32, b| a.checked_div(b).unwrap_or(u32::MAX)),
        ("div", ["s32"]) => two(|a: i32, b| if b == 0 { -1 } else { a.wrapping_div(b) }),
        ("div", ["u64"]) => two(|a: u64, b| a.checked_div(b).unwrap_or(u64::MAX)),
        ("div", ["s64"]) => two(|a: i64, b| if b == 0 { -1 } else { a.wrapping_div(b) }),
        ("rem", ["u16"]) => two(|a: u16, b| a.checked_rem(b).unwrap_or(a)),
        ("rem", ["s16"]) => two(|a: i16, b| if b == 0 { a } else { a.wrapping_rem(b) }),
        ("rem", ["u32"]) => two(|a: u32, b| a.checked_rem(b).unwrap_or(a)),
        ("rem", ["s32"]) => two(|a: i32, b| if b == 0 { a } else { a.wrapping_rem(b) }),
        ("rem", ["u64"]) => two(|a: u64, b| a.checked_rem(b).unwrap_or(a)),
        ("rem", ["s64"]) => two(|a: i64, b| if b == 0 { a } else { a.wrapping_rem(b) }),
        _ => return None,
    })
}

fn extreme(name: &str, rest: &[&str]) -> Option<Form> {
    Some(match (name, rest) {
        ("min", ["u16"]) => two(u16::min),
        ("min", ["s16"]) => two(i16::min),
        ("min", ["u32"]) => two(u32::min),
        ("min", ["s32"]) => two(i32::min),
        ("min", ["u64"]) => two(u64::min),
        ("min", ["s64"]) => two(i64::min),
        ("min", ["u16x2"]) => two(|a, b| halves(a, b, u16::min)),
        ("min", ["s16x2"]) => two(|a, b| signed_halves(a, b, i16::min)),
        ("min", ["relu", "s32"]) => two(|a: i32, b| a.min(b).max(0)),
        ("min", ["relu", "s16x2"]) => two(|a, b| signed_halves(a, b, |a, b| a.min(b).max(0))),
        ("max", ["u16"]) => two(u16::max),
        ("max", ["s16"]) => two(i16::max),
        ("max", ["u32"]) => two(u32::max),
        ("max", ["s32"]) => two(i32::max),
        ("max", ["u64"]) => two(u64::max),
        ("max", ["s64"]) => two(i64::max),
        ("max", ["u16x2"]) => two(|a, b| halves(a, b, u16::max)),
        ("max", ["s16x2"]) => two(|a, b| signed_halves(a, b, i16::max)),
        ("max", ["relu", "s32"]) => two(|a: i32, b| a.max(b).max(0)),
        ("max", ["relu", "s16x2"]) => two(|a, b| signed_halves(a, b, |a, b| a.max(b).max(0))),
        _ => return None,
    })
}

fn sign(name: &str, rest: &[&str]) -> Option<Form> {
    Some(match (name, rest) {
        ("abs", ["s16"]) => one(i16::wrapping_abs),
        ("abs", ["s32"]) => one(i32::wrapping_abs),
        ("abs", ["s64"]) => one(i64::wrapping_abs),
        ("neg", ["s16"]) => one(i16::wrapping_neg),
        ("neg", ["s32"]) => one(i32::wrapping_neg),
        ("neg", ["s64"]) => one(i64::wrapping_neg),
        _ => return None,
    })
}

/// `sad`: c + |a − b|.
fn distance(rest: &[&str]) -> Option<Form> {
    Some(match rest {
        ["u16"] => three(|a: u16, b, c| a.abs_diff(b).wrapping_add(c)),
        ["s16"] => three(|a: i16, b, c| a.abs_diff(b).wrapping_add(c)),
        ["u32"] => three(|a: u32, b, c| a.abs_diff(b).wrapping_add(c)),
        ["s32"] => three(|a: i32, b, c| a.abs_diff(b).wrapping_add(c)),
        ["u64"] => three(|a: u64, b, c| a.abs_diff(b).wrapping_add(c)),
        ["s64"] => three(|a: i64, b, c| a.abs_diff(b).wrapping_add(c)),
        _ => return None,
    })
}
