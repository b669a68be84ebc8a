//! Half precision: the `.f16` and `.bf16` forms of §9.7.4, alone and in pairs.

use super::Form;
use super::exact::Round;
use super::float::{FTZ, Modifiers, SAT, saturate};
use super::half::{Binary16, Brain16, Half, Pair};
use super::lanes::{rare_one, rare_three, rare_two, three, two};
use super::value::Lane;
use super::{approx, extremes};

/// A lane of one number or two.
pub(super) trait Halves: Lane {
    /// `f` of the number, or of each of the pair.
    fn map1(a: Self, f: impl Fn(f32) -> f32 + Copy) -> Self;
    /// As [`Halves::map1`], of two.
    fn map2(a: Self, b: Self, f: impl Fn(f32, f32) -> f32 + Copy) -> Self;
    /// self · b + c, rounded once.
    fn fuse(self, b: Self, c: Self) -> Self;
    /// The bits of the number, or of each of the pair, through `f`.
    fn bits1(a: Self, f: impl Fn(u16) -> u16 + Copy) -> Self;
    /// Flushes subnormal numbers.
    fn flushed(self) -> Self;
}

impl<T: Half> Halves for T {
    #[inline(always)]
    fn map1(a: T, f: impl Fn(f32) -> f32 + Copy) -> T {
        T::nearest(f(a.widen()))
    }

    #[inline(always)]
    fn map2(a: T, b: T, f: impl Fn(f32, f32) -> f32 + Copy) -> T {
        T::nearest(f(a.widen(), b.widen()))
    }

    #[inline(always)]
    fn fuse(self, b: T, c: T) -> T {
        <T as Half>::fuse(self, b, c)
    }

    #[inline(always)]
    fn bits1(a: T, f: impl Fn(u16) -> u16 + Copy) -> T {
        T::from_bits(f(a.bits()))
    }

    #[inline(always)]
    fn flushed(self) -> T {
        self.flush()
    }
}

impl<T: Half> Halves for Pair<T> {
    #[inline(always)]
    fn map1(a: Pair<T>, f: impl Fn(f32) -> f32 + Copy) -> Pair<T> {
        Pair(T::map1(a.0, f), T::map1(a.1, f))
    }

    #[inline(always)]
    fn map2(a: Pair<T>, b: Pair<T>, f: impl Fn(f32, f32) -> f32 + Copy) -> Pair<T> {
        Pair(T::map2(a.0, b.0, f), T::map2(a.1, b.1, f))
    }

    #[inline(always)]
    fn fuse(self, b: Pair<T>, c: Pair<T>) -> Pair<T> {
        Pair(<T as Half>::fuse(self.0, b.0, c.0), <T as Half>::fuse(self.1, b.1, c.1))
    }

    #[inline(always)]
    fn bits1(a: Pair<T>, f: impl Fn(u16) -> u16 + Copy) -> Pair<T> {
        Pair(T::from_bits(f(a.0.bits())), T::from_bits(f(a.1.bits())))
    }

    #[inline(always)]
    fn flushed(self) -> Pair<T> {
        Pair(self.0.flush(), self.1.flush())
    }
}

/// The form of an instruction whose last piece was a type of 16 bits or a pair.
pub(super) fn form(name: &str, pieces: &[&str], ty: &str) -> Option<Form> {
    if let Some(form) = extremes::form(name, pieces, ty) {
        return Some(form);
    }
    match ty {
        "f16" => of_type::<Binary16>(name, pieces, true),
        "f16x2" => of_type::<Pair<Binary16>>(name, pieces, true),
        "bf16" => of_type::<Brain16>(name, pieces, false),
        "bf16x2" => of_type::<Pair<Brain16>>(name, pieces, false),
        _ => None,
    }
}

fn of_type<T: Halves>(name: &str, pieces: &[&str], ieee: bool) -> Option<Form> {
    arithmetic::<T>(name, pieces, ieee).or_else(|| approx::half::<T>(name, pieces, ieee))
}

fn arithmetic<T: Halves>(name: &str, pieces: &[&str], ieee: bool) -> Option<Form> {
    if let ("fma", [modifiers @ .., "relu"]) = (name, pieces) {
        let m = Modifiers::read(modifiers).filter(|m| nearest(*m, ieee) && !m.sat)?;
        return m.round.map(|_| rare_three(m.code() | RELU, fused_as::<T>));
    }
    let m = Modifiers::read(pieces).filter(|m| nearest(*m, ieee))?;
    let plain = m.round.is_none() && !m.sat;
    match name {
        "add" => Some(binary::<T>(m, |a, b| a + b)),
        "sub" => Some(binary::<T>(m, |a, b| a - b)),
        "mul" => Some(binary::<T>(m, |a, b| a * b)),
        "fma" if m.code() == 0 => m.round.map(|_| fused::<T>()),
        "fma" => m.round.map(|_| rare_three(m.code(), fused_as::<T>)),
        "neg" if plain => Some(bits::<T>(m, |a| a ^ 0x8000)),
        "abs" if plain => Some(bits::<T>(m, |a| a & 0x7fff)),
        _ => None,
    }
}

/// Whether the modifiers are of this type: `.rn` alone, and `.ftz` and `.sat` for `.f16` only.
fn nearest(m: Modifiers, ieee: bool) -> bool {
    m.round.is_none_or(|round| round == Round::Nearest) && (ieee || !m.ftz && !m.sat)
}

/// `.relu`: a negative result becomes +0, a NaN the canonical one.
const RELU: u32 = 64;

fn start<T: Halves>(code: u32, x: T) -> T {
    if code & FTZ != 0 { x.flushed() } else { x }
}

/// A result, flushed, then clamped.
fn finish<T: Halves>(code: u32, x: T) -> T {
    T::map1(start(code, x), |x| match code & (SAT | RELU) {
        SAT => saturate(x),
        RELU if x <= 0.0 => 0.0,
        _ => x,
    })
}

fn binary<T: Halves>(m: Modifiers, f: impl Fn(f32, f32) -> f32 + Copy + 'static) -> Form {
    match m.code() {
        0 => two(move |a, b| T::map2(a, b, f)),
        code => rare_two(code, move |code, a, b| {
            finish(code, T::map2(start(code, a), start(code, b), f))
        }),
    }
}

/// Always inlined, so that the loops become vector code.
fn fused<T: Halves>() -> Form {
    three(
        #[inline(always)]
        |a: T, b, c| a.fuse(b, c),
    )
}

fn fused_as<T: Halves>(code: u32, a: T, b: T, c: T) -> T {
    finish(code, start(code, a).fuse(start(code, b), start(code, c)))
}

fn bits<T: Halves>(m: Modifiers, f: impl Fn(u16) -> u16 + Copy + 'static) -> Form {
    rare_one(m.code(), move |code, a| T::bits1(start(code, a), f))
}
