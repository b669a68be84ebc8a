//! `cvt` of two numbers into one register, and to `.tf32`: §9.7.9.21 and `cvt.pack`, §9.7.9.22.

use super::Form;
use super::convert::tf32;
use super::exact::{Exact, Round};
use super::half::{Binary16, Brain16, Half, Pair, round};
use super::lanes::{one, three, two};

/// The form, if the target is a pair, packed integers, or `.tf32`.
pub(super) fn form(rest: &[&str]) -> Option<Form> {
    Some(match rest {
        ["rna", "tf32", "f32"] => one(tf32),
        ["rn", "f16x2", "f32"] => two(|a, b| Pair(Binary16::nearest(b), Binary16::nearest(a))),
        ["rn", "bf16x2", "f32"] => two(|a, b| Pair(Brain16::nearest(b), Brain16::nearest(a))),
        ["rn", "relu", "f16x2", "f32"] => two(|a, b| positive::<Binary16>(a, b, Half::nearest)),
        ["rn", "relu", "bf16x2", "f32"] => two(|a, b| positive::<Brain16>(a, b, Half::nearest)),
        ["rz", "f16x2", "f32"] => two(|a, b| Pair(toward_zero::<Binary16>(b), toward_zero(a))),
        ["rz", "bf16x2", "f32"] => two(|a, b| Pair(toward_zero::<Brain16>(b), toward_zero(a))),
        ["rz", "relu", "f16x2", "f32"] => two(|a, b| positive::<Binary16>(a, b, toward_zero)),
        ["rz", "relu", "bf16x2", "f32"] => two(|a, b| positive::<Brain16>(a, b, toward_zero)),
        ["pack", "sat", "u16", "s32"] => two(|a, b| packed(a, b, 0, 16, 0, 0xffff)),
        ["pack", "sat", "s16", "s32"] => two(|a, b| packed(a, b, 0, 16, -0x8000, 0x7fff)),
        ["pack", "sat", "u8", "s32", "b32"] => three(|a, b, c| packed(a, b, c, 8, 0, 0xff)),
        ["pack", "sat", "s8", "s32", "b32"] => three(|a, b, c| packed(a, b, c, 8, -0x80, 0x7f)),
        ["pack", "sat", "u4", "s32", "b32"] => three(|a, b, c| packed(a, b, c, 4, 0, 15)),
        ["pack", "sat", "s4", "s32", "b32"] => three(|a, b, c| packed(a, b, c, 4, -8, 7)),
        ["pack", "sat", "u2", "s32", "b32"] => three(|a, b, c| packed(a, b, c, 2, 0, 3)),
        ["pack", "sat", "s2", "s32", "b32"] => three(|a, b, c| packed(a, b, c, 2, -2, 1)),
        _ => return None,
    })
}

/// The first source is the high half.
fn positive<T: Half>(a: f32, b: f32, to: impl Fn(f32) -> T) -> Pair<T> {
    let relu = |x: f32| if x <= 0.0 { 0.0 } else { x };
    Pair(to(relu(b)), to(relu(a)))
}

fn toward_zero<T: Half>(x: f32) -> T {
    match x.is_finite() {
        true => round(Exact::of(x.into()), Round::Zero),
        false => T::nearest(x),
    }
}

/// `b`, then `a`, each clamped and in `bits` bits, then the low bits of `c`.
fn packed(a: i32, b: i32, c: u32, bits: u32, least: i32, greatest: i32) -> u32 {
    let [a, b] = [a, b].map(|x| x.clamp(least, greatest) as u32 & (u32::MAX >> (32 - bits)));
    c.checked_shl(2 * bits).unwrap_or(0) | a << bits | b
}
