//! Elementwise operations of one tensor: its sign, and what is left without it.

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply};
use crate::device::Unary;
use crate::dtype::DType;
use crate::ops::refuse;
use crate::profiler;

impl Tensor {
    /// y = −x. Integers wrap around; a `bool` has no negative.
    ///
    /// # Panics
    /// If x is `bool`.
    #[track_caller]
    pub fn neg(&self) -> Tensor {
        if self.dtype() == DType::Bool {
            refuse("neg", &[self], "a bool has no negative; convert it with to()".to_string());
        }
        apply(Neg, [self])
    }

    /// y = |x|. The lowest integer stays, since its negative does not fit.
    ///
    /// # Panics
    /// If x is `bool`.
    #[track_caller]
    pub fn abs(&self) -> Tensor {
        expect_number("abs", self);
        apply(Abs, [self])
    }

    /// y = −1, 0 or 1, as x is negative, zero or positive; 0 for NaN, as in PyTorch.
    #[track_caller]
    pub fn sign(&self) -> Tensor {
        if self.dtype() == DType::Bool {
            return self.copy();
        }
        apply(Sign, [self])
    }
}

/// Refuses `bool`, which counts nothing.
#[track_caller]
pub(super) fn expect_number(op: &'static str, x: &Tensor) {
    if x.dtype() == DType::Bool {
        refuse(op, &[x], "a bool is no number; convert it with to()".to_string());
    }
}

/// f(x), not recorded.
#[track_caller]
pub(super) fn unary(f: Unary, x: &Tensor) -> Tensor {
    let _span = profiler::unrecorded(f.name());
    Tensor::packed(x.device().backend().unary(f, x.view_of()), x.shape())
}

/// y = −x. Shapes: any → the same. Gradient: dx = −dy. Saves nothing.
struct Neg;

impl Op<1> for Neg {
    fn name(&self) -> &'static str {
        "neg"
    }

    fn forward(&self, _: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        unary(Unary::Neg, x)
    }

    fn backward(&self, _: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(dy.neg())]
    }
}

/// y = |x|. Shapes: any → the same. Gradient: dx = dy · sign x, so 0 at 0. Saves x.
struct Abs;

impl Op<1> for Abs {
    fn name(&self) -> &'static str {
        "abs"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        ctx.save(x);
        unary(Unary::Abs, x)
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(dy.mul(&ctx.saved(0).sign()))]
    }
}

/// y = the sign of x. Shapes: any → the same. Gradient: dx = 0. Saves nothing.
struct Sign;

impl Op<1> for Sign {
    fn name(&self) -> &'static str {
        "sign"
    }

    fn forward(&self, _: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        unary(Unary::Sign, x)
    }

    fn backward(&self, _: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(dy.zeros_like())]
    }
}
