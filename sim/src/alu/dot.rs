//! Dot products of bytes and halves, §9.7.1.

use super::Form;
use super::lanes::three;

/// `dp4a` and `dp2a`: the sum of products of the parts of two words, added to a third.
pub(super) fn form(name: &str, rest: &[&str]) -> Option<Form> {
    Some(match (name, rest) {
        ("dp4a", ["u32", "u32"]) => three(|a, b, c| dp4(unsigned(a), unsigned(b), c)),
        ("dp4a", ["u32", "s32"]) => three(|a, b, c| dp4(unsigned(a), signed(b), c)),
        ("dp4a", ["s32", "u32"]) => three(|a, b, c| dp4(signed(a), unsigned(b), c)),
        ("dp4a", ["s32", "s32"]) => three(|a, b, c| dp4(signed(a), signed(b), c)),
        ("dp2a", ["lo", "u32", "u32"]) => three(|a, b, c| dp2(u_pair(a), unsigned(b), 0, c)),
        ("dp2a", ["lo", "u32", "s32"]) => three(|a, b, c| dp2(u_pair(a), signed(b), 0, c)),
        ("dp2a", ["lo", "s32", "u32"]) => three(|a, b, c| dp2(s_pair(a), unsigned(b), 0, c)),
        ("dp2a", ["lo", "s32", "s32"]) => three(|a, b, c| dp2(s_pair(a), signed(b), 0, c)),
        ("dp2a", ["hi", "u32", "u32"]) => three(|a, b, c| dp2(u_pair(a), unsigned(b), 2, c)),
        ("dp2a", ["hi", "u32", "s32"]) => three(|a, b, c| dp2(u_pair(a), signed(b), 2, c)),
        ("dp2a", ["hi", "s32", "u32"]) => three(|a, b, c| dp2(s_pair(a), unsigned(b), 2, c)),
        ("dp2a", ["hi", "s32", "s32"]) => three(|a, b, c| dp2(s_pair(a), signed(b), 2, c)),
        _ => return None,
    })
}

/// Byte `i` of a word.
#[inline(always)]
fn unsigned(word: u32) -> impl Fn(u32) -> i32 {
    move |i| i32::from((word >> (8 * i)) as u8)
}

/// As [`unsigned`].
#[inline(always)]
fn signed(word: u32) -> impl Fn(u32) -> i32 {
    move |i| i32::from((word >> (8 * i)) as i8)
}

/// Half `i` of a word.
#[inline(always)]
fn u_pair(word: u32) -> impl Fn(u32) -> i32 {
    move |i| i32::from((word >> (16 * i)) as u16)
}

/// As [`u_pair`].
#[inline(always)]
fn s_pair(word: u32) -> impl Fn(u32) -> i32 {
    move |i| i32::from((word >> (16 * i)) as i16)
}

#[inline(always)]
fn dp4(a: impl Fn(u32) -> i32, b: impl Fn(u32) -> i32, c: i32) -> i32 {
    let mut sum = c;
    for i in 0..4 {
        sum = sum.wrapping_add(a(i) * b(i));
    }
    sum
}

/// The two parts of `a` with the bytes of `b` from `first` on.
#[inline(always)]
fn dp2(a: impl Fn(u32) -> i32, b: impl Fn(u32) -> i32, first: u32, c: i32) -> i32 {
    let low = a(0).wrapping_mul(b(first));
    c.wrapping_add(low).wrapping_add(a(1).wrapping_mul(b(first + 1)))
}
