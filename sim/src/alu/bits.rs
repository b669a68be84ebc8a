//! Logic, shifts, and instructions on fields of bits: §9.7.8 and the bit instructions of §9.7.1.
//!
//! A shift by at least the width gives zero, or the sign (§9.7.8): never the shift modulo the
//! width, as most processors have it.

use super::Form;
use super::lanes::{four, one, rare_three, rare_two, three, two};

/// The form of an instruction on bits: its name, then its modifiers and types.
pub(super) fn form(name: &str, rest: &[&str]) -> Option<Form> {
    match name {
        "and" | "or" | "xor" => logic(name, rest),
        "not" | "cnot" | "mov" | "brev" => one_word(name, rest),
        "shl" | "shr" => shift(name, rest),
        "popc" | "clz" | "bfind" => count(name, rest),
        "shf" | "lop3" | "prmt" | "fns" | "bmsk" | "szext" => word(name, rest),
        "bfe" | "bfi" => field(name, rest),
        _ => None,
    }
}

fn logic(name: &str, rest: &[&str]) -> Option<Form> {
    Some(match (name, rest) {
        ("and", ["pred"]) => two(|a: bool, b: bool| a & b),
        ("and", ["b16"]) => two(|a: u16, b: u16| a & b),
        ("and", ["b32"]) => two(|a: u32, b: u32| a & b),
        ("and", ["b64"]) => two(|a: u64, b: u64| a & b),
        ("or", ["pred"]) => two(|a: bool, b: bool| a | b),
        ("or", ["b16"]) => two(|a: u16, b: u16| a | b),
        ("or", ["b32"]) => two(|a: u32, b: u32| a | b),
        ("or", ["b64"]) => two(|a: u64, b: u64| a | b),
        ("xor", ["pred"]) => two(|a: bool, b: bool| a ^ b),
        ("xor", ["b16"]) => two(|a: u16, b: u16| a ^ b),
        ("xor", ["b32"]) => two(|a: u32, b: u32| a ^ b),
        ("xor", ["b64"]) => two(|a: u64, b: u64| a ^ b),
        _ => return None,
    })
}

fn one_word(name: &str, rest: &[&str]) -> Option<Form> {
    Some(match (name, rest) {
        ("not", ["pred"]) => one(|a: bool| !a),
        ("not", ["b16"]) => one(|a: u16| !a),
        ("not", ["b32"]) => one(|a: u32| !a),
        ("not", ["b64"]) => one(|a: u64| !a),
        ("cnot", ["b16"]) => one(|a: u16| u16::from(a == 0)),
        ("cnot", ["b32"]) => one(|a: u32| u32::from(a == 0)),
        ("cnot", ["b64"]) => one(|a: u64| u64::from(a == 0)),
        ("mov", ["pred"]) => one(|a: bool| a),
        ("mov", ["b16" | "u16" | "s16" | "f16" | "bf16"]) => one(|a: u16| a),
        ("mov", ["b32" | "u32" | "s32" | "f32" | "f16x2" | "bf16x2"]) => one(|a: u32| a),
        ("mov", ["b64" | "u64" | "s64" | "f64"]) => one(|a: u64| a),
        ("brev", ["b32"]) => one(u32::reverse_bits),
        ("brev", ["b64"]) => one(u64::reverse_bits),
        _ => return None,
    })
}

fn shift(name: &str, rest: &[&str]) -> Option<Form> {
    Some(match (name, rest) {
        ("shl", ["b16"]) => two(|a: u16, n| a.checked_shl(n).unwrap_or(0)),
        ("shl", ["b32"]) => two(|a: u32, n| a.checked_shl(n).unwrap_or(0)),
        ("shl", ["b64"]) => two(|a: u64, n| a.checked_shl(n).unwrap_or(0)),
        ("shr", ["b16" | "u16"]) => two(|a: u16, n| a.checked_shr(n).unwrap_or(0)),
        ("shr", ["b32" | "u32"]) => two(|a: u32, n| a.checked_shr(n).unwrap_or(0)),
        ("shr", ["b64" | "u64"]) => two(|a: u64, n| a.checked_shr(n).unwrap_or(0)),
        ("shr", ["s16"]) => two(|a: i16, n: u32| a >> n.min(15)),
        ("shr", ["s32"]) => two(|a: i32, n: u32| a >> n.min(31)),
        ("shr", ["s64"]) => two(|a: i64, n: u32| a >> n.min(63)),
        _ => return None,
    })
}

/// The position of the highest bit that counts, `u32::MAX` where there is none.
#[inline(always)]
fn find(a: u64) -> u32 {
    63_u32.wrapping_sub(a.leading_zeros())
}

/// `bfind.shiftamt`: how far to shift left for that bit to be the highest of `width`.
#[inline(always)]
fn shift_amount(a: u64, width: u32) -> u32 {
    if a == 0 { u32::MAX } else { width - 1 - find(a) }
}

/// In a negative number the bits that count are the zeros.
#[inline(always)]
fn counting(a: i64) -> u64 {
    (if a < 0 { !a } else { a }) as u64
}

fn count(name: &str, rest: &[&str]) -> Option<Form> {
    Some(match (name, rest) {
        ("popc", ["b32"]) => one(u32::count_ones),
        ("popc", ["b64"]) => one(u64::count_ones),
        ("clz", ["b32"]) => one(u32::leading_zeros),
        ("clz", ["b64"]) => one(u64::leading_zeros),
        ("bfind", ["u32"]) => one(|a: u32| find(a.into())),
        ("bfind", ["s32"]) => one(|a: i32| find(counting(a.into()))),
        ("bfind", ["u64"]) => one(find),
        ("bfind", ["s64"]) => one(|a| find(counting(a))),
        ("bfind", ["shiftamt", "u32"]) => one(|a: u32| shift_amount(a.into(), 32)),
        ("bfind", ["shiftamt", "s32"]) => one(|a: i32| shift_amount(counting(a.into()), 32)),
        ("bfind", ["shiftamt", "u64"]) => one(|a| shift_amount(a, 64)),
        ("bfind", ["shiftamt", "s64"]) => one(|a| shift_amount(counting(a), 64)),
        _ => return None,
    })
}

fn word(name: &str, rest: &[&str]) -> Option<Form> {
    Some(match (name, rest) {
        ("shf", ["l", "wrap", "b32"]) => three(|a, b, n: u32| funnel_left(a, b, n & 31)),
        ("shf", ["l", "clamp", "b32"]) => three(|a, b, n: u32| funnel_left(a, b, n.min(32))),
        ("shf", ["r", "wrap", "b32"]) => three(|a, b, n: u32| funnel_right(a, b, n & 31)),
        ("shf", ["r", "clamp", "b32"]) => three(|a, b, n: u32| funnel_right(a, b, n.min(32))),
        ("lop3", ["b32"]) => four(lop3),
        ("fns", ["b32"]) => rare_three(0, |_, a, b, c| nth_set(a, b, c)),
        ("bmsk", ["wrap", "b32"]) => rare_two(31, |n, a: u32, b: u32| bit_mask(a & n, b & n)),
        ("bmsk", ["clamp", "b32"]) => rare_two(0, |_, a, b| bit_mask(a, b)),
        ("szext", ["wrap", "u32"]) => rare_two(31, |m, a, n: u32| zero_extend(a, n & m)),
        ("szext", ["clamp", "u32"]) => rare_two(0, |_, a, n| zero_extend(a, n)),
        ("szext", ["wrap", "s32"]) => rare_two(31, |m, a, n: u32| sign_extend(a, n & m)),
        ("szext", ["clamp", "s32"]) => rare_two(0, |_, a, n| sign_extend(a, n)),
        ("prmt", _) => return super::permute::form(rest),
        _ => return None,
    })
}

/// The high word of b:a after a shift to the left by at most 32.
#[inline(always)]
fn funnel_left(a: u32, b: u32, n: u32) -> u32 {
    ((u64::from(b) << 32 | u64::from(a)) << n >> 32) as u32
}

/// The low word of b:a after a shift to the right by at most 32.
#[inline(always)]
fn funnel_right(a: u32, b: u32, n: u32) -> u32 {
    ((u64::from(b) << 32 | u64::from(a)) >> n) as u32
}

/// Any function of three bits: bit *i* of the table is its value where the bits of a, b and c,
/// in this order, make the number *i*.
#[inline(always)]
fn lop3(a: u32, b: u32, c: u32, table: u32) -> u32 {
    let mut word = 0;
    for i in 0..8 {
        let pick = |x: u32, bit: u32| if i >> bit & 1 != 0 { x } else { !x };
        let chosen = (table >> i & 1).wrapping_neg();
        word |= pick(a, 2) & pick(b, 1) & pick(c, 0) & chosen;
    }
    word
}

/// `fns`: the position of the n-th set bit from `base` on, upwards for n > 0 and downwards for
/// n < 0; `base` itself if it is set and n is 0; else all ones.
fn nth_set(mask: u32, base: u32, n: i32) -> u32 {
    let step = if n == 0 { 0 } else { n.signum() };
    let mut left = n.unsigned_abs().max(1);
    let mut at = i64::from(base);
    while (0..32).contains(&at) {
        left -= mask >> at & 1;
        match left {
            0 => return at as u32,
            _ if step == 0 => break,
            _ => at += i64::from(step),
        }
    }
    u32::MAX
}

/// A mask of `width` ones from bit `start` on, cut at bit 31.
fn bit_mask(start: u32, width: u32) -> u32 {
    let ones = |n: u32| if n >= 32 { u32::MAX } else { (1 << n) - 1 };
    ones(start.saturating_add(width)) & !ones(start)
}

/// The low `n` bits, the others zero.
fn zero_extend(a: u32, n: u32) -> u32 {
    a & bit_mask(0, n)
}

/// The low `n` bits, the others as the highest of them; 0 for none.
fn sign_extend(a: i32, n: u32) -> i32 {
    match n {
        0 => 0,
        1..32 => a << (32 - n) >> (32 - n),
        _ => a,
    }
}

fn field(name: &str, rest: &[&str]) -> Option<Form> {
    Some(match (name, rest) {
        ("bfe", ["u32"]) => three(|a: u32, at, len| extract(a.into(), 32, false, at, len) as u32),
        ("bfe", ["s32"]) => three(|a: u32, at, len| extract(a.into(), 32, true, at, len) as u32),
        ("bfe", ["u64"]) => three(|a, at, len| extract(a, 64, false, at, len)),
        ("bfe", ["s64"]) => three(|a, at, len| extract(a, 64, true, at, len)),
        ("bfi", ["b32"]) => {
            four(|a: u32, b: u32, at, len| insert(a.into(), b.into(), 32, at, len) as u32)
        }
        ("bfi", ["b64"]) => four(|a, b, at, len| insert(a, b, 64, at, len)),
        _ => return None,
    })
}

/// The ones of a field of `len` bits: all of 64 if there are more.
#[inline(always)]
fn ones(len: u32) -> u64 {
    u64::MAX.checked_shr(64 - len.min(64)).unwrap_or(0)
}

/// `bfe`: the field of `a` that begins at bit `at`; the sign of a signed one is its last bit that
/// the word has. Position and length are bytes.
#[inline(always)]
fn extract(a: u64, width: u32, signed: bool, at: u32, len: u32) -> u64 {
    let [at, len] = [at & 0xff, len & 0xff];
    let sign = signed && len > 0 && a >> (at + len - 1).min(width - 1) & 1 != 0;
    let present = len.min(width.saturating_sub(at));
    let field = a.checked_shr(at).unwrap_or(0) & ones(present);
    if sign { field | !ones(present) } else { field }
}

/// `bfi`: `b`, with the low bits of `a` in the field that begins at bit `at`.
#[inline(always)]
fn insert(a: u64, b: u64, width: u32, at: u32, len: u32) -> u64 {
    let [at, len] = [at & 0xff, len & 0xff];
    if at >= width {
        return b;
    }
    let field = ones(len) << at;
    b & !field | a << at & field
}
