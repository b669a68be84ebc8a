//! `prmt`, §9.7.9.7: four bytes chosen from the eight of two words.

use super::Form;
use super::lanes::three;

/// The form with the given mode.
pub(super) fn form(rest: &[&str]) -> Option<Form> {
    Some(match rest {
        ["b32"] => three(any),
        ["b32", "f4e"] => three(|a, b, c| by_index(a, b, c, |n, i| n + i)),
        ["b32", "b4e"] => three(|a, b, c| by_index(a, b, c, |n, i| n.wrapping_sub(i))),
        ["b32", "rc8"] => three(|a, b, c| by_index(a, b, c, |n, _| n)),
        ["b32", "ecl"] => three(|a, b, c| by_index(a, b, c, |n, i| n.max(i))),
        ["b32", "ecr"] => three(|a, b, c| by_index(a, b, c, |n, i| n.min(i))),
        ["b32", "rc16"] => three(|a, b, c| by_index(a, b, c, |n, i| (n & 1) * 2 + (i & 1))),
        _ => return None,
    })
}

/// Byte `i` of b:a.
#[inline(always)]
fn byte(a: u32, b: u32, i: u32) -> u32 {
    ((u64::from(b) << 32 | u64::from(a)) >> ((i & 7) * 8)) as u32 & 0xff
}

/// Each nibble of the selector names a byte; with its highest bit, eight copies of that byte's
/// sign.
#[inline(always)]
fn any(a: u32, b: u32, selector: u32) -> u32 {
    let mut word = 0;
    for i in 0..4 {
        let nibble = selector >> (i * 4);
        let chosen = byte(a, b, nibble);
        let sign = (chosen >> 7).wrapping_neg() & 0xff;
        word |= (if nibble & 8 != 0 { sign } else { chosen }) << (i * 8);
    }
    word
}

/// The modes: byte `i` of the result is that of the index computed from the low two bits of the
/// selector and `i`.
#[inline(always)]
fn by_index(a: u32, b: u32, selector: u32, index: impl Fn(u32, u32) -> u32) -> u32 {
    (0..4).fold(0, |word, i| word | byte(a, b, index(selector & 3, i)) << (i * 8))
}
