//! `.f16` and `.bf16`, and pairs of them: what a lane holds, and how it becomes an `f32`.
//!
//! The sum, difference, product, quotient or root of two numbers of p bits, rounded to at least
//! 2p + 2 bits and then to p, is the one rounded once (Figueroa, *When is double rounding
//! innocuous?*, 1995). `f32` has 24 bits: enough for 11 and for 8, so that both types compute in
//! `f32`. A fused product and sum has more digits, see [`Half::fuse`].

use super::exact::{BF16, Exact, F16, Format, Round};
use super::float::{odd_f32, odd_sum};
use super::value::Lane;

/// A type of 16 bits.
pub(super) trait Half: Lane<Slot = u32> {
    /// Its bits.
    fn bits(self) -> u16;
    /// From its bits.
    fn from_bits(bits: u16) -> Self;
    /// The same number.
    fn widen(self) -> f32;
    /// The nearest number; a NaN becomes the canonical one.
    fn nearest(x: f32) -> Self;
    /// self · b + c, rounded once.
    fn fuse(self, b: Self, c: Self) -> Self;
    /// The format.
    const FORMAT: Format;
    /// The canonical NaN (§9.7.4).
    const NAN: u16 = 0x7fff;

    /// Zero with the sign of a subnormal number, every other number itself.
    #[inline(always)]
    fn flush(self) -> Self {
        let bits = self.bits();
        let smallest_normal = 1 << Self::FORMAT.fraction;
        if bits & 0x7fff < smallest_normal { Self::from_bits(bits & 0x8000) } else { self }
    }
}

/// A lane of `.f16`.
#[derive(Clone, Copy)]
pub(super) struct Binary16(u16);

/// A lane of `.bf16`.
#[derive(Clone, Copy)]
pub(super) struct Brain16(u16);

impl Lane for Binary16 {
    type Slot = u32;
    const BITS: u32 = 16;

    #[inline(always)]
    fn from_lane(lane: u32) -> Binary16 {
        Binary16(lane as u16)
    }

    #[inline(always)]
    fn to_lane(self) -> u32 {
        self.0.into()
    }
}

impl Lane for Brain16 {
    type Slot = u32;
    const BITS: u32 = 16;

    #[inline(always)]
    fn from_lane(lane: u32) -> Brain16 {
        Brain16(lane as u16)
    }

    #[inline(always)]
    fn to_lane(self) -> u32 {
        self.0.into()
    }
}

impl Half for Binary16 {
    const FORMAT: Format = F16;

    #[inline(always)]
    fn bits(self) -> u16 {
        self.0
    }

    #[inline(always)]
    fn from_bits(bits: u16) -> Binary16 {
        Binary16(bits)
    }

    /// The fields are moved to where `f32` has them; a product by 2^112 then mends the bias of the
    /// exponent, of subnormal numbers as well.
    #[inline(always)]
    fn widen(self) -> f32 {
        let magnitude = u32::from(self.0 & 0x7fff) << 13;
        let scaled = f32::from_bits(magnitude) * f32::from_bits((127 + 112) << 23);
        let special = if magnitude >= 0x1f << 23 { 0xff << 23 } else { 0 };
        let sign = u32::from(self.0 & 0x8000) << 16;
        f32::from_bits(scaled.to_bits() | special | sign)
    }

    /// A normal result is rounded by adding just under half of the last place, or half where the
    /// kept digit is odd; a subnormal one by an addition whose last place is 2^−24.
    #[inline(always)]
    fn nearest(x: f32) -> Binary16 {
        let bits = x.to_bits();
        let magnitude = bits & 0x7fff_ffff;
        let half = 0xfff + (magnitude >> 13 & 1);
        let normal = magnitude.wrapping_add(half).wrapping_sub(112 << 23) >> 13;
        let magic = f32::from_bits((127 - 1) << 23);
        let subnormal = (f32::from_bits(magnitude) + magic).to_bits().wrapping_sub(126 << 23);
        let finite = if magnitude < (127 - 14) << 23 { subnormal } else { normal };
        let bounded = if magnitude >= (127 + 16) << 23 { 0x7c00 } else { finite };
        let sign = (bits >> 16 & 0x8000) as u16;
        match magnitude > 0xff << 23 {
            true => Binary16(Self::NAN),
            false => Binary16(bounded as u16 | sign),
        }
    }

    /// The product is exact in `f32`: 22 bits. A sum that `f64` has to round is further from every
    /// tie between two halves than what is lost (2^−24 against 2^−36), unless it overflows.
    #[inline(always)]
    fn fuse(self, b: Binary16, c: Binary16) -> Binary16 {
        let product = f64::from(self.widen() * b.widen());
        Binary16::nearest(odd_f32(product + f64::from(c.widen())))
    }
}

impl Half for Brain16 {
    const FORMAT: Format = BF16;

    #[inline(always)]
    fn bits(self) -> u16 {
        self.0
    }

    #[inline(always)]
    fn from_bits(bits: u16) -> Brain16 {
        Brain16(bits)
    }

    #[inline(always)]
    fn widen(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }

    #[inline(always)]
    fn nearest(x: f32) -> Brain16 {
        let bits = x.to_bits();
        let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
        Brain16(if x.is_nan() { Self::NAN } else { rounded as u16 })
    }

    /// The product has 16 bits and twice the range of exponents: exact in `f64`.
    #[inline(always)]
    fn fuse(self, b: Brain16, c: Brain16) -> Brain16 {
        let product = f64::from(self.widen()) * f64::from(b.widen());
        Brain16::nearest(odd_f32(odd_sum(product, c.widen().into())))
    }
}

/// Two numbers in one lane, the first in the low half.
#[derive(Clone, Copy)]
pub(super) struct Pair<T>(pub T, pub T);

impl<T: Half> Lane for Pair<T> {
    type Slot = u32;
    const BITS: u32 = 32;

    #[inline(always)]
    fn from_lane(lane: u32) -> Pair<T> {
        Pair(T::from_bits(lane as u16), T::from_bits((lane >> 16) as u16))
    }

    #[inline(always)]
    fn to_lane(self) -> u32 {
        u32::from(self.1.bits()) << 16 | u32::from(self.0.bits())
    }

    /// All low halves, then all high ones: two loops that the compiler can make vectors of.
    #[inline(always)]
    fn collect(lane: impl Fn(usize) -> Pair<T>) -> [u32; 32] {
        let mut result = T::collect(
            #[inline(always)]
            |i| lane(i).0,
        );
        let high = T::collect(
            #[inline(always)]
            |i| lane(i).1,
        );
        for i in 0..32 {
            result[i] |= high[i] << 16;
        }
        result
    }
}

/// A number of any format, rounded from an exact one.
pub(super) fn round<T: Half>(x: Exact, mode: Round) -> T {
    T::from_bits(x.round(T::FORMAT, mode) as u16)
}
