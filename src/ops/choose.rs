//! Choosing between numbers: by a mask, or by a bound for each element.

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply};
use crate::device::Binary;
use crate::dtype::{DType, Scalar};
use crate::ops::binary::{binary, broadcast_pair};
use crate::ops::{expect_fits, expect_one_device, refuse};
use crate::shape::broadcast;

impl Tensor {
    /// y = a where the condition holds, else b (PyTorch's `where`); all three broadcast, and a and
    /// b are converted to their common type.
    ///
    /// # Panics
    /// If the condition is not `bool`, or the shapes do not broadcast.
    #[track_caller]
    pub fn where_cond(condition: &Tensor, a: &Tensor, b: &Tensor) -> Tensor {
        expect_mask("where", condition, &[condition, a, b]);
        let (a, b) = broadcast_pair("where", a, b);
        let Some(shape) = broadcast(condition.shape(), a.shape()) else {
            let message = "the shapes do not broadcast: aligned at the last dimension, each pair \
                           of sizes must be equal or one of them 1";
            refuse("where", &[condition, &a], message.to_string())
        };
        apply(Where, [&condition.expand(&shape), &a.expand(&shape), &b.expand(&shape)])
    }

    /// y = value where the mask holds, else x; both broadcast. The type stays x's.
    ///
    /// # Panics
    /// If the mask is not `bool`, the value too large for x's type, or the shapes do not broadcast.
    #[track_caller]
    pub fn masked_fill(&self, mask: &Tensor, value: impl Into<Scalar>) -> Tensor {
        let value = value.into();
        expect_mask("masked_fill", mask, &[self, mask]);
        expect_fits("masked_fill", self, value);
        let value = Tensor::full_on(&[], value, self.dtype(), self.device());
        Tensor::where_cond(mask, &value, self)
    }

    /// y = x, but at least `min`, broadcast; NaN if one is NaN. The gradient of x is dy where x is
    /// not smaller, and that of `min` is dy where x is.
    #[track_caller]
    pub fn clamp_min(&self, min: &Tensor) -> Tensor {
        let (x, min) = broadcast_pair("clamp_min", self, min);
        apply(ClampMin, [&x, &min])
    }
}

#[track_caller]
pub(super) fn expect_mask(op: &'static str, mask: &Tensor, operands: &[&Tensor]) {
    expect_one_device(op, operands);
    if mask.dtype() != DType::Bool {
        let message = "the mask must be bool; a comparison, or to(DType::Bool), makes one";
        refuse(op, operands, message.to_string());
    }
}

/// y = the larger of x and a lower bound. Shapes: two of one shape → the same. Gradient: dy goes to
/// x where it is not smaller, else to the bound; where one is NaN, to neither. Saves both.
struct ClampMin;

impl Op<2> for ClampMin {
    fn name(&self) -> &'static str {
        "clamp_min"
    }

    fn forward(&self, ctx: &mut Ctx, [x, min]: [&Tensor; 2]) -> Tensor {
        ctx.save(x);
        ctx.save(min);
        binary(Binary::Maximum, x, min)
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 2] {
        let (x, min, zeros) = (ctx.saved(0), ctx.saved(1), dy.zeros_like());
        [x.ge(&min), x.lt(&min)].map(|taken| Some(Tensor::where_cond(&taken, dy, &zeros)))
    }
}

/// y = a where the condition holds, else b. Shapes: three of one shape → the same. Gradient: dy
/// goes to the one that was taken, and 0 to the other. Saves the condition.
struct Where;

impl Op<3> for Where {
    fn name(&self) -> &'static str {
        "where"
    }

    fn forward(&self, ctx: &mut Ctx, [condition, a, b]: [&Tensor; 3]) -> Tensor {
        ctx.save(condition);
        let backend = a.device().backend();
        Tensor::packed(backend.select(condition.view_of(), a.view_of(), b.view_of()), a.shape())
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 3] {
        let (condition, zero) = (ctx.saved(0), Tensor::full_on(&[], 0, dy.dtype(), dy.device()));
        let da = ctx.needs(1).then(|| Tensor::where_cond(&condition, dy, &zero));
        let db = ctx.needs(2).then(|| Tensor::where_cond(&condition, &zero, dy));
        [None, da, db]
    }
}
