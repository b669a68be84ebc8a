//! The arithmetic that kernels do on elements.

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
    fn is_nan(self) -> bool {
        self.partial_cmp(&self).is_none()
    }
    /// The larger one; NaN if one is NaN.
    fn larger(self, b: Self) -> Self {
        if self > b || self.is_nan() { self } else { b }
    }
    /// The smaller one; NaN if one is NaN.
    fn smaller(self, b: Self) -> Self {
        if self < b || self.is_nan() { self } else { b }
    }
}

/// A type that counts: all but `bool`. An integer divisor is not 0; the public methods have looked.
pub trait Number: Arithmetic {
    /// −x
    fn neg(self) -> Self;
    /// a / b rounded down to an integer.
    fn floor_divide(self, b: Self) -> Self;
    /// a / b with its fraction cut off.
    fn trunc_divide(self, b: Self) -> Self;
    /// a − b · floor(a / b): it has the sign of b.
    fn remainder(self, b: Self) -> Self;
}

/// A floating-point type that kernels compute with.
pub trait Float: Number {
    /// a / b by IEEE 754.
    fn div(self, b: Self) -> Self;
    /// eˣ
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
}

macro_rules! float_arithmetic {
    ($($T:ident),*) => {$(
        impl Arithmetic for $T {
            fn add(self, b: $T) -> $T {
                self + b
            }

            fn sub(self, b: $T) -> $T {
                self - b
            }

            fn mul(self, b: $T) -> $T {
                self * b
            }
        }

        impl Number for $T {
            fn neg(self) -> $T {
                -self
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

            fn trunc_divide(self, b: $T) -> $T {
                (self / b).trunc()
            }

            fn remainder(self, b: $T) -> $T {
                let rest = self % b;
                if rest != 0.0 && (rest < 0.0) != (b < 0.0) { rest + b } else { rest }
            }
        }

        impl Float for $T {
            fn div(self, b: $T) -> $T {
                self / b
            }

            fn exp(self) -> $T {
                $T::exp(self)
            }

            fn ln(self) -> $T {
                $T::ln(self)
            }

            fn tanh(self) -> $T {
                $T::tanh(self)
            }
        }
    )*};
}
float_arithmetic!(f32, f64);

macro_rules! integer_arithmetic {
    ($($T:ident),*) => {$(
        impl Arithmetic for $T {
            fn add(self, b: $T) -> $T {
                self.wrapping_add(b)
            }

            fn sub(self, b: $T) -> $T {
                self.wrapping_sub(b)
            }

            fn mul(self, b: $T) -> $T {
                self.wrapping_mul(b)
            }
        }

        impl Number for $T {
            fn neg(self) -> $T {
                self.wrapping_neg()
            }

            fn floor_divide(self, b: $T) -> $T {
                let quotient = self.wrapping_div(b);
                let (uneven, zero) = (self.wrapping_rem(b) != 0, $T::default());
                if uneven && (self < zero) != (b < zero) { quotient - 1 } else { quotient }
            }

            fn trunc_divide(self, b: $T) -> $T {
                self.wrapping_div(b)
            }

            fn remainder(self, b: $T) -> $T {
                let (rest, zero) = (self.wrapping_rem(b), $T::default());
                if rest != 0 && (rest < zero) != (b < zero) { rest + b } else { rest }
            }
        }
    )*};
}
integer_arithmetic!(i64, i32, u8);

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
