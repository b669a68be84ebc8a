//! Floating-point results rounded from exact integers: slow, and right for every format and mode.
//!
//! A finite number is m · 2^e with an integer m. Sums, products, quotients and roots are computed
//! on integers of 128 bits; what does not fit is remembered by one **sticky** bit, the lowest of
//! m, which is set if anything below it was. With at least two bits more than the format has, the
//! sticky bit makes every rounding come out as from the exact number.

/// The rounding of §9.7.3: to nearest even, toward zero, down, up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Round {
    /// `.rn`: to the nearest, a tie to the even one.
    Nearest,
    /// `.rz`: toward zero.
    Zero,
    /// `.rm`: toward minus infinity.
    Down,
    /// `.rp`: toward plus infinity.
    Up,
}

impl Round {
    /// The rounding in the lowest two bits of a form's code.
    #[inline(always)]
    pub(super) fn of(code: u32) -> Round {
        match code & 3 {
            0 => Round::Nearest,
            1 => Round::Zero,
            2 => Round::Down,
            _ => Round::Up,
        }
    }
}

/// A binary format of IEEE 754's kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    /// Bits of the significand that are stored.
    pub fraction: u32,
    /// Bits of the exponent.
    pub exponent: u32,
}

/// `.f16`.
pub(super) const F16: Format = Format { fraction: 10, exponent: 5 };
/// `.bf16`.
pub(super) const BF16: Format = Format { fraction: 7, exponent: 8 };
/// `.f32`.
pub(super) const F32: Format = Format { fraction: 23, exponent: 8 };
/// `.f64`.
pub(super) const F64: Format = Format { fraction: 52, exponent: 11 };

impl Format {
    fn infinity(self) -> u64 {
        ((1 << self.exponent) - 1) << self.fraction
    }

    /// The exponent of the last place of the smallest numbers.
    fn lowest(self) -> i32 {
        2 - (1 << (self.exponent - 1)) - self.fraction as i32
    }
}

/// ± mantissa · 2^exponent, the lowest bit of the mantissa sticky.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exact {
    /// Whether it is below zero, or a zero with a minus.
    pub negative: bool,
    /// Its digits.
    pub mantissa: u128,
    /// The weight of the lowest digit.
    pub exponent: i32,
}

impl Exact {
    /// A finite `f64`.
    pub(super) fn of(x: f64) -> Exact {
        let bits = x.to_bits();
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, exponent) = match (bits >> 52 & 0x7ff) as i32 {
            0 => (fraction, -1074),
            biased => (fraction | 1 << 52, biased - 1075),
        };
        Exact { negative: x.is_sign_negative(), mantissa: mantissa.into(), exponent }
    }

    /// An integer.
    pub(super) fn integer(x: i128) -> Exact {
        Exact { negative: x < 0, mantissa: x.unsigned_abs(), exponent: 0 }
    }

    /// The same number with the highest bit of the mantissa at bit 125. A zero stays.
    fn normal(self) -> Exact {
        let up = self.mantissa.leading_zeros() as i32 - 2;
        match self.mantissa {
            0 => self,
            _ if up >= 0 => {
                Exact { mantissa: self.mantissa << up, exponent: self.exponent - up, ..self }
            }
            _ => Exact {
                mantissa: sticky_shift(self.mantissa, (-up) as u32),
                exponent: self.exponent - up,
                ..self
            },
        }
    }

    /// The product.
    pub(super) fn times(self, other: Exact) -> Exact {
        Exact {
            negative: self.negative != other.negative,
            mantissa: self.mantissa * other.mantissa,
            exponent: self.exponent + other.exponent,
        }
    }

    /// The sum; a zero from numbers that cancel is negative only when rounding down (§9.7.3 with
    /// IEEE 754 §6.3).
    pub(super) fn plus(self, other: Exact, mode: Round) -> Exact {
        let (a, b) = (self.normal(), other.normal());
        if a.mantissa == 0 || b.mantissa == 0 {
            let zero = Exact { negative: mode == Round::Down, ..a };
            return match (a.mantissa, b.mantissa) {
                (0, 0) if a.negative == b.negative => a,
                (0, 0) => zero,
                (0, _) => b,
                _ => a,
            };
        }
        let key = |x: Exact| (x.exponent, x.mantissa);
        let (large, small) = if key(a) >= key(b) { (a, b) } else { (b, a) };
        let shifted = sticky_shift(small.mantissa, (large.exponent - small.exponent) as u32);
        if large.negative == small.negative {
            return Exact { mantissa: large.mantissa + shifted, ..large };
        }
        match large.mantissa - shifted {
            0 => Exact { negative: mode == Round::Down, mantissa: 0, exponent: 0 },
            mantissa => Exact { mantissa, ..large },
        }
    }

    /// The quotient by a number that is not zero.
    pub(super) fn over(self, other: Exact) -> Exact {
        let (a, b) = (self.normal(), other.normal());
        let divisor = b.mantissa >> 62;
        let (quotient, rest) = (a.mantissa / divisor, a.mantissa % divisor);
        Exact {
            negative: a.negative != b.negative,
            mantissa: quotient << 1 | u128::from(rest != 0),
            exponent: a.exponent - b.exponent - 63,
        }
    }

    /// The square root of a number that is not negative.
    pub(super) fn root(self) -> Exact {
        let Exact { mantissa, exponent, .. } = self.normal();
        let (mantissa, exponent) = match exponent & 1 {
            0 => (mantissa, exponent),
            _ => (mantissa << 1, exponent - 1),
        };
        let root = mantissa.isqrt();
        let sticky = u128::from(root * root != mantissa);
        Exact { negative: false, mantissa: root << 1 | sticky, exponent: exponent / 2 - 1 }
    }

    /// The bits of the nearest number of a format, as the mode has it; beyond the largest, that or
    /// infinity.
    pub(super) fn round(self, format: Format, mode: Round) -> u64 {
        let sign = u64::from(self.negative) << (format.fraction + format.exponent);
        let x = self.normal();
        if x.mantissa == 0 {
            return sign;
        }
        // The weight of the last place that is kept: that of 2^fraction ≤ m < 2^(fraction + 1).
        let last = (x.exponent + 125 - format.fraction as i32).max(format.lowest());
        let drop = (last - x.exponent) as u32;
        let kept = x.mantissa.checked_shr(drop).unwrap_or(0) as u64;
        let (rest, inexact) = (rest_of(x.mantissa, drop), is_inexact(x.mantissa, drop));
        let up = self.rounds_up(mode, rest, kept & 1 != 0, inexact);
        // A carry out of the fraction goes into the exponent, as it should.
        let biased = (last - format.lowest()) as u64;
        let magnitude = (biased << format.fraction) + kept + u64::from(up);
        if magnitude < format.infinity() {
            return sign | magnitude;
        }
        let stays = match mode {
            Round::Nearest => false,
            Round::Zero => true,
            Round::Down => !self.negative,
            Round::Up => self.negative,
        };
        sign | (format.infinity() - u64::from(stays))
    }

    /// Whether to take the next number away from zero: `rest` compares what is dropped with half
    /// of the last place.
    fn rounds_up(self, mode: Round, rest: std::cmp::Ordering, odd: bool, inexact: bool) -> bool {
        match mode {
            Round::Nearest => rest.is_gt() || rest.is_eq() && odd,
            Round::Zero => false,
            Round::Down => inexact && self.negative,
            Round::Up => inexact && !self.negative,
        }
    }
}

/// A shift to the right that keeps in the lowest bit whether ones were lost.
fn sticky_shift(mantissa: u128, n: u32) -> u128 {
    mantissa.checked_shr(n).unwrap_or(0) | u128::from(is_inexact(mantissa, n))
}

/// Whether one of the lowest `n` bits is set.
fn is_inexact(mantissa: u128, n: u32) -> bool {
    n > 0 && mantissa << (128 - n.min(128)) != 0 || n > 128 && mantissa != 0
}

/// The lowest `n` bits, compared with half of what the next one weighs.
fn rest_of(mantissa: u128, n: u32) -> std::cmp::Ordering {
    match n {
        0 | 129.. => std::cmp::Ordering::Less,
        _ => (mantissa << (128 - n)).cmp(&(1 << 127)),
    }
}
