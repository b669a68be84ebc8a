//! The types between which `cvt` converts, as integers of any width and as reals.

use super::exact::{F32, F64, Format};
use super::float::flush;
use super::half::Half;
use super::value::{Lane, Slot};

/// An integer type.
pub(super) trait Whole: Lane + Into<i128> {
    /// The low bits of a number.
    #[inline(always)]
    fn wrap(x: i128) -> Self {
        Self::from_lane(Self::Slot::of_bits(x as u64))
    }
}

impl<T: Lane + Into<i128>> Whole for T {}

/// The least and the greatest number of an integer type.
pub(super) fn limits(bits: u32, signed: bool) -> (i128, i128) {
    if signed { (-1 << (bits - 1), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// A floating-point type.
pub(super) trait Real: Lane {
    /// The format.
    const FORMAT: Format;
    /// The bits of a result that is not a number.
    const NAN: u64;
    /// The same number.
    fn real(self) -> f64;
    /// From its bits.
    fn of_bits(bits: u64) -> Self;
    /// As `.ftz` has it, which concerns `.f32` only (§9.7.9.21).
    fn flushed(self) -> Self;
}

impl Real for f32 {
    const FORMAT: Format = F32;
    const NAN: u64 = 0x7fff_ffff;
    #[inline(always)]
    fn real(self) -> f64 {
        self.into()
    }
    #[inline(always)]
    fn of_bits(bits: u64) -> f32 {
        f32::from_bits(bits as u32)
    }
    #[inline(always)]
    fn flushed(self) -> f32 {
        flush(self)
    }
}

impl Real for f64 {
    const FORMAT: Format = F64;
    const NAN: u64 = 0xfff8_0000_0000_0000;
    #[inline(always)]
    fn real(self) -> f64 {
        self
    }
    #[inline(always)]
    fn of_bits(bits: u64) -> f64 {
        f64::from_bits(bits)
    }
    #[inline(always)]
    fn flushed(self) -> f64 {
        self
    }
}

impl<T: Half> Real for T {
    const FORMAT: Format = <T as Half>::FORMAT;
    const NAN: u64 = <T as Half>::NAN as u64;
    #[inline(always)]
    fn real(self) -> f64 {
        self.widen().into()
    }
    #[inline(always)]
    fn of_bits(bits: u64) -> T {
        T::from_bits(bits as u16)
    }
    #[inline(always)]
    fn flushed(self) -> T {
        self
    }
}
