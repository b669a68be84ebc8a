//! The arithmetic that kernels do on elements.
//!
//! What stands in an innermost loop is marked `inline(always)`: an incremental build, as `cargo
//! test` makes, would else call it as a function for each element.

use crate::dtype::Element;

/// A type that kernels compute with. Integers wrap around; for `bool`, + is "or" and · is "and".
pub trait Arithmetic: Element<Compute = Self> {
    /// a + b
    fn add(self, b: Self) -> Self;
    /// a − b
    fn sub(self, b: Self) -> Self;
    /// a · b
    fn mul(self, b: Self) -> Self;
    /// Whether this is NaN.
    #[inline(always)]
    fn is_nan(self) -> bool {
        self.partial_cmp(&self).is_none()
    }
    /// The larger one; NaN if one is NaN.
    #[inline(always)]
    fn larger(self, b: Self) -> Self {
        if self > b || self.is_nan() { self } else { b }
    }
    /// The smaller one; NaN if one is NaN.
    #[inline(always)]
    fn smaller(self, b: Self) -> Self {
        if self < b || self.is_nan() { self } else { b }
    }
}

/// A type that counts: all but `bool`. An integer divisor is not 0; the public methods have looked.
pub trait Number: Arithmetic {
    /// −x
    fn neg(self) -> Self;
    /// |x|; the lowest integer, whose negative does not fit, stays.
    fn abs(self) -> Self;
    /// −1, 0 or 1; 0 for NaN, as in PyTorch.
    fn sign(self) -> Self;
    /// a / b rounded down to an integer.
    fn floor_divide(self, b: Self) -> Self;
    /// a / b with its fraction cut off.
    fn trunc_divide(self, b: Self) -> Self;
    /// a − b · floor(a / b): it has the sign of b.
    fn remainder(self, b: Self) -> Self;
    /// a to the power of b. For a negative b, integers give 1 / aᵇ with its fraction cut off, and
    /// 0 if a is 0, as in PyTorch.
    fn pow(self, b: Self) -> Self;
}

/// A type whose bits can be combined one by one; `bool` is one bit.
pub trait Bits: Element {
    /// Bits that both have.
    fn and(self, b: Self) -> Self;
    /// Bits that one has.
    fn or(self, b: Self) -> Self;
    /// Bits in which the two differ.
    fn xor(self, b: Self) -> Self;
    /// Each bit inverted.
    fn not(self) -> Self;
}

macro_rules! float_arithmetic {
    ($($T:ident),*) => {$(
        impl Arithmetic for $T {
            #[inline(always)]
            fn add(self, b: $T) -> $T {
                self + b
            }

            #[inline(always)]
            fn sub(self, b: $T) -> $T {
                self - b
            }

            #[inline(always)]
            fn mul(self, b: $T) -> $T {
                self * b
            }
        }

        impl Number for $T {
            #[inline(always)]
            fn neg(self) -> $T {
                -self
            }

            #[inline(always)]
            fn abs(self) -> $T {
                $T::abs(self)
            }

            #[inline(always)]
            fn sign(self) -> $T {
                f32::from(i8::from(self > 0.0) - i8::from(self < 0.0)).into()
            }

            // From the exact remainder, as in PyTorch: the rounded quotient of 1 and 0.1 is 10,
            // but 0.1 is a little more than a tenth and goes into 1 only nine times.
            fn floor_divide(self, b: $T) -> $T {
                if b == 0.0 {
                    return self / b;
                }
                let rest = self % b;
                let quotient = (self - rest) / b;
                let below = if rest != 0.0 && (rest < 0.0) != (b < 0.0) { 1.0 } else { 0.0 };
                let quotient = quotient - below;
                let floor = quotient.floor();
                if quotient == 0.0 {
                    (0.0 as $T).copysign(self / b)
                } else if quotient - floor > 0.5 {
                    floor + 1.0
                } else {
                    floor
                }
            }

            #[inline(always)]
            fn trunc_divide(self, b: $T) -> $T {
                (self / b).trunc()
            }

            #[inline(always)]
            fn remainder(self, b: $T) -> $T {
                let rest = self % b;
                if rest != 0.0 && (rest < 0.0) != (b < 0.0) { rest + b } else { rest }
            }

            fn pow(self, b: $T) -> $T {
                self.powf(b)
            }
        }
    )*};
}
float_arithmetic!(f32, f64);

macro_rules! integer_arithmetic {
    ($($T:ident, $sign:expr, $abs:expr;)*) => {$(
        impl Arithmetic for $T {
            #[inline(always)]
            fn add(self, b: $T) -> $T {
                self.wrapping_add(b)
            }

            #[inline(always)]
            fn sub(self, b: $T) -> $T {
                self.wrapping_sub(b)
            }

            #[inline(always)]
            fn mul(self, b: $T) -> $T {
                self.wrapping_mul(b)
            }
        }

        impl Number for $T {
            #[inline(always)]
            fn neg(self) -> $T {
                self.wrapping_neg()
            }

            #[inline(always)]
            fn abs(self) -> $T {
                $abs(self)
            }

            #[inline(always)]
            fn sign(self) -> $T {
                $sign(self)
            }

            fn floor_divide(self, b: $T) -> $T {
                let quotient = self.wrapping_div(b);
                let (uneven, zero) = (self.wrapping_rem(b) != 0, $T::default());
                if uneven && (self < zero) != (b < zero) { quotient - 1 } else { quotient }
            }

            #[inline(always)]
            fn trunc_divide(self, b: $T) -> $T {
                self.wrapping_div(b)
            }

            #[inline(always)]
            fn remainder(self, b: $T) -> $T {
                let (rest, zero) = (self.wrapping_rem(b), $T::default());
                if rest != 0 && (rest < zero) != (b < zero) { rest + b } else { rest }
            }

            // By the bits of b: aᵇ is the product of those of a, a², a⁴, … whose bit is set.
            fn pow(self, b: $T) -> $T {
                let zero = $T::default();
                if b < zero {
                    let odd = b & 1 == 1;
                    return match self {
                        1 => 1,
                        _ if self.wrapping_add(1) == 0 => if odd { self } else { 1 },
                        _ => 0,
                    };
                }
                let (mut power, mut square, mut rest) = (1 as $T, self, b);
                while rest > zero {
                    if rest & 1 == 1 {
                        power = power.wrapping_mul(square);
                    }
                    square = square.wrapping_mul(square);
                    rest >>= 1;
                }
                power
            }
        }
    )*};
}
integer_arithmetic! {
    i64, i64::signum, i64::wrapping_abs;
    i32, i32::signum, i32::wrapping_abs;
    u8, |x: u8| x.min(1), |x| x;
}

macro_rules! bits {
    ($($T:ident),*) => {$(
        impl Bits for $T {
            #[inline(always)]
            fn and(self, b: $T) -> $T {
                self & b
            }

            #[inline(always)]
            fn or(self, b: $T) -> $T {
                self | b
            }

            #[inline(always)]
            fn xor(self, b: $T) -> $T {
                self ^ b
            }

            #[inline(always)]
            fn not(self) -> $T {
                !self
            }
        }
    )*};
}
bits!(i64, i32, u8, bool);

impl Arithmetic for bool {
    fn add(self, b: bool) -> bool {
        self | b
    }

    fn sub(self, b: bool) -> bool {
        self ^ b
    }

    fn mul(self, b: bool) -> bool {
        self & b
    }
}
