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

fn unsigned(word: u32) -> [i32; 4] {
    word.to_le_bytes().map(i32::from)
}

fn signed(word: u32) -> [i32; 4] {
    word.to_le_bytes().map(|byte| i32::from(byte as i8))
}

fn u_pair(word: u32) -> [i32; 2] {
    [word as u16, (word >> 16) as u16].map(i32::from)
}

fn s_pair(word: u32) -> [i32; 2] {
    [word as i16, (word >> 16) as i16].map(i32::from)
}

fn dp4(a: [i32; 4], b: [i32; 4], c: i32) -> i32 {
    a.iter().zip(b).fold(c, |sum, (a, b)| sum.wrapping_add(a * b))
}

/// The two parts of `a` with the bytes of `b` from `first` on.
fn dp2(a: [i32; 2], b: [i32; 4], first: usize, c: i32) -> i32 {
    let products = [a[0].wrapping_mul(b[first]), a[1].wrapping_mul(b[first + 1])];
    c.wrapping_add(products[0]).wrapping_add(products[1])
}
