//! What the float forms have in common: modifiers, NaN, subnormal numbers, roundings (§9.7.3).

use super::Form;
use super::exact::Round;
use super::lanes::{one, rare_one, rare_three, rare_two, three, two};

/// The bits of modifiers in a form's code; the rounding lies below.
pub(super) const FTZ: u32 = 16;
/// `.sat`.
pub(super) const SAT: u32 = 32;

/// The modifiers of a float instruction, taken out of its opcode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Modifiers {
    /// The rounding, if it is named.
    pub round: Option<Round>,
    /// `.ftz`: subnormal inputs and results become zeros of the same sign.
    pub ftz: bool,
    /// `.sat`: the result is clamped to [0, 1], NaN becoming +0.
    pub sat: bool,
}

impl Modifiers {
    /// Reads a rounding, `.ftz` and `.sat`, in this order, each at most once; `None` if anything
    /// else is there.
    pub(super) fn read(mut pieces: &[&str]) -> Option<Modifiers> {
        let mut take = |what: &[&str]| match pieces.split_first() {
            Some((first, rest)) if what.contains(first) => {
                pieces = rest;
                Some(*first)
            }
            _ => None,
        };
        let round = take(&["rn", "rz", "rm", "rp"]).and_then(mode);
        let (ftz, sat) = (take(&["ftz"]).is_some(), take(&["sat"]).is_some());
        pieces.is_empty().then_some(Modifiers { round, ftz, sat })
    }

    /// As a form's code.
    pub(super) fn code(self) -> u32 {
        let round = self.round.map_or(0, |round| round as u32);
        round | if self.ftz { FTZ } else { 0 } | if self.sat { SAT } else { 0 }
    }
}

/// The rounding of a name.
pub(super) fn mode(name: &str) -> Option<Round> {
    Some(match name {
        "rn" => Round::Nearest,
        "rz" => Round::Zero,
        "rm" => Round::Down,
        "rp" => Round::Up,
        _ => return None,
    })
}

/// The NaN that single-precision instructions give.
pub(super) const NAN: f32 = f32::from_bits(0x7fff_ffff);

/// A result of an `f32` instruction: a NaN becomes the canonical one. (Seen as a number, a NaN may
/// be exchanged for another by the compiler; as bits it may not.)
#[inline(always)]
pub(super) fn canonical(x: f32) -> f32 {
    let bits = x.to_bits();
    if bits & 0x7fff_ffff > 0x7f80_0000 { NAN } else { x }
}

/// A zero with the sign of a subnormal number, every other number itself.
#[inline(always)]
pub(super) fn flush(x: f32) -> f32 {
    let bits = x.to_bits();
    if bits & 0x7f80_0000 == 0 { f32::from_bits(bits & 0x8000_0000) } else { x }
}

/// Clamps to [0, 1]; NaN and −0 become +0.
#[inline(always)]
pub(super) fn saturate(x: f32) -> f32 {
    let low = if x > 0.0 { x } else { 0.0 };
    if low < 1.0 { low } else { 1.0 }
}

/// An operand, flushed if the code says so.
#[inline(always)]
fn start(code: u32, x: f32) -> f32 {
    if code & FTZ != 0 { flush(x) } else { x }
}

/// A result, clamped and flushed as the code says.
#[inline(always)]
fn finish(code: u32, x: f32) -> f32 {
    start(code, if code & SAT != 0 { saturate(x) } else { canonical(x) })
}

/// The form of a function of one `f32`, with the modifiers. The function is told the rounding.
pub(super) fn single1(m: Modifiers, f: impl Fn(Round, f32) -> f32 + Copy + 'static) -> Form {
    match m.code() {
        0 => one(move |a| finish(0, f(Round::Nearest, a))),
        FTZ => one(move |a| finish(FTZ, f(Round::Nearest, flush(a)))),
        code => rare_one(code, move |code, a| finish(code, f(Round::of(code), start(code, a)))),
    }
}

/// As [`single1`], of two.
pub(super) fn single2(m: Modifiers, f: impl Fn(Round, f32, f32) -> f32 + Copy + 'static) -> Form {
    match m.code() {
        0 => two(move |a, b| finish(0, f(Round::Nearest, a, b))),
        FTZ => two(move |a, b| finish(FTZ, f(Round::Nearest, flush(a), flush(b)))),
        code => rare_two(code, move |code, a, b| {
            finish(code, f(Round::of(code), start(code, a), start(code, b)))
        }),
    }
}

/// As [`single1`], of three.
pub(super) fn single3(
    m: Modifiers,
    f: impl Fn(Round, f32, f32, f32) -> f32 + Copy + 'static,
) -> Form {
    match m.code() {
        0 => three(move |a, b, c| finish(0, f(Round::Nearest, a, b, c))),
        FTZ => three(move |a, b, c| finish(FTZ, f(Round::Nearest, flush(a), flush(b), flush(c)))),
        code => rare_three(code, move |code, a, b, c| {
            finish(code, f(Round::of(code), start(code, a), start(code, b), start(code, c)))
        }),
    }
}

/// a + b, **rounded to odd**: where the sum is not exact, the one of its two neighbours whose last
/// bit is set. Rounded again, to at least two bits less, it gives what the exact sum gives in any
/// mode (Boldo and Melquiond, *Emulation of FMA and correctly rounded sums*, 2008).
#[inline(always)]
pub(super) fn odd_sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    // Knuth's exact error of the sum.
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    odd(sum, error)
}

/// The nearest number to an exact one, and the sign of what it lacks: the exact one rounded to odd.
#[inline(always)]
pub(super) fn odd(nearest: f64, error: f64) -> f64 {
    let bits = nearest.to_bits();
    let even = bits & 1 == 0;
    let outward = (error > 0.0) == (nearest > 0.0);
    let moved = if outward { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    let inexact = error != 0.0 && !error.is_nan();
    f64::from_bits(if inexact && even { moved } else { bits })
}

/// An `f64`, itself exact or rounded to odd, as the `f32` rounded to odd.
#[inline(always)]
pub(super) fn odd_f32(x: f64) -> f32 {
    let nearest = x as f32;
    let bits = nearest.to_bits();
    let too_large = f64::from(nearest).abs() > x.abs();
    let inexact = f64::from(nearest) != x && !x.is_nan();
    let down = if too_large { bits.wrapping_sub(1) } else { bits };
    f32::from_bits(if inexact { down | 1 } else { bits })
}

/// An `f64`, exact or rounded to odd, as the `f32` of a mode.
#[inline(always)]
pub(super) fn narrow(x: f64, mode: Round) -> f32 {
    let nearest = x as f32;
    let wide = f64::from(nearest);
    let bits = nearest.to_bits();
    let (inward, outward) = (bits.wrapping_sub(1), bits.wrapping_add(1));
    let moved = match mode {
        Round::Zero if wide.abs() > x.abs() => inward,
        Round::Down if wide > x => {
            if x > 0.0 {
                inward
            } else {
                outward
            }
        }
        Round::Up if wide < x => {
            if x < 0.0 {
                inward
            } else {
                outward
            }
        }
        _ => return nearest,
    };
    f32::from_bits(moved)
}
