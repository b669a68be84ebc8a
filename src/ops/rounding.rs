//! Rounding to integers. The results jump and are flat between the jumps, so the gradient is 0
//! everywhere, as in PyTorch: it flows on, but carries nothing.

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply};
use crate::device::Unary;
use crate::ops::unary::{expect_number, unary};

impl Tensor {
    /// The integer at or below x, in x's type.
    ///
    /// # Panics
    /// If x is `bool`.
    #[track_caller]
    pub fn floor(&self) -> Tensor {
        expect_number("floor", self);
        rounded(Rounding { to: Unary::Floor }, self)
    }

    /// The integer at or above x, in x's type.
    ///
    /// # Panics
    /// If x is `bool`.
    #[track_caller]
    pub fn ceil(&self) -> Tensor {
        expect_number("ceil", self);
        rounded(Rounding { to: Unary::Ceil }, self)
    }

    /// The integer nearest to x, in x's type; of two that are equally near the even one, so 0.5
    /// gives 0 and 1.5 gives 2.
    ///
    /// # Panics
    /// If x is `bool`.
    #[track_caller]
    pub fn round(&self) -> Tensor {
        expect_number("round", self);
        rounded(Rounding { to: Unary::Round }, self)
    }

    /// x with its fraction cut off, in x's type.
    ///
    /// # Panics
    /// If x is `bool`.
    #[track_caller]
    pub fn trunc(&self) -> Tensor {
        expect_number("trunc", self);
        rounded(Rounding { to: Unary::Trunc }, self)
    }
}

/// Integers are round already.
#[track_caller]
fn rounded(rounding: Rounding, x: &Tensor) -> Tensor {
    if x.dtype().is_floating_point() { apply(rounding, [x]) } else { x.copy() }
}

/// y = x rounded. Shapes: any → the same. Gradient: dx = 0. Saves nothing.
struct Rounding {
    to: Unary,
}

impl Op<1> for Rounding {
    fn name(&self) -> &'static str {
        match self.to {
            Unary::Floor => "floor",
            Unary::Ceil => "ceil",
            Unary::Round => "round",
            _ => "trunc",
        }
    }

    fn forward(&self, _: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        unary(self.to, x)
    }

    fn backward(&self, _: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(dy.zeros_like())]
    }
}
