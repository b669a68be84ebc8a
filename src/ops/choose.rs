//! Choosing between numbers: by a mask, or by a bound for each element.

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply};
use crate::device::{Binary, Unary};
use crate::dtype::{DType, Scalar};
use crate::ops::binary::{binary, broadcast_pair};
use crate::ops::unary::unary;
use crate::ops::{expect_fits, expect_one_device, refuse, with_scalar};
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

    /// As [`masked_fill`](Tensor::masked_fill) with a tensor of one number, which may require a
    /// gradient: it gets the sum of dy where the mask holds. The type stays x's.
    ///
    /// # Panics
    /// If the mask is not `bool`, the value has dimensions, or the shapes do not broadcast.
    #[track_caller]
    pub fn masked_fill_tensor(&self, mask: &Tensor, value: &Tensor) -> Tensor {
        expect_mask("masked_fill", mask, &[self, mask, value]);
        if !value.shape().is_empty() {
            let message = "the value must be one number, without dimensions; take it with \
                           select(), or use where_cond for a value in every place";
            refuse("masked_fill", &[self, mask, value], message.to_string());
        }
        Tensor::where_cond(mask, &value.to(self.dtype()), self)
    }

    /// y = x, but at least `min` and at most `max`; NaN where one of the three is. The type is x's
    /// unless a bound is of a higher kind, and a bound beyond all numbers of the type is none.
    #[track_caller]
    pub fn clamp(&self, min: impl Into<Scalar>, max: impl Into<Scalar>) -> Tensor {
        let (min, max) = (min.into(), max.into());
        let x = with_scalar(&with_scalar(self, min), max);
        let (min, max) = (within_range(min, x.dtype()), within_range(max, x.dtype()));
        apply(Clamp { min, max }, [&x])
    }

    /// y = x, but at least `min`, broadcast; NaN if one is NaN. The gradient of x is dy where x is
    /// not smaller, and that of `min` is dy where x is.
    #[track_caller]
    pub fn clamp_min(&self, min: &Tensor) -> Tensor {
        let (x, min) = broadcast_pair("clamp_min", self, min);
        apply(Bounded { by: Binary::Maximum }, [&x, &min])
    }

    /// y = x, but at most `max`, broadcast; NaN if one is NaN. The gradient of x is dy where x is
    /// not larger, and that of `max` is dy where x is.
    #[track_caller]
    pub fn clamp_max(&self, max: &Tensor) -> Tensor {
        let (x, max) = broadcast_pair("clamp_max", self, max);
        apply(Bounded { by: Binary::Minimum }, [&x, &max])
    }

    /// As [`clamp_min`](Tensor::clamp_min) by one number.
    #[track_caller]
    pub fn clamp_min_scalar(&self, min: impl Into<Scalar>) -> Tensor {
        let (x, min) = with_bound(self, min.into());
        x.clamp_min(&min)
    }

    /// As [`clamp_max`](Tensor::clamp_max) by one number.
    #[track_caller]
    pub fn clamp_max_scalar(&self, max: impl Into<Scalar>) -> Tensor {
        let (x, max) = with_bound(self, max.into());
        x.clamp_max(&max)
    }
}

/// x in the type that it has together with a bound, and the bound as a tensor of that type.
#[track_caller]
fn with_bound(x: &Tensor, bound: Scalar) -> (Tensor, Tensor) {
    let x = with_scalar(x, bound);
    let bound = within_range(bound, x.dtype());
    let bound = Tensor::full_on(&[], bound, x.dtype(), x.device());
    (x, bound)
}

/// A bound beyond all numbers of a type bounds as the last of them does, or as infinity.
fn within_range(bound: Scalar, dtype: DType) -> Scalar {
    match dtype {
        DType::U8 => Scalar::Int(bound.to_i64().clamp(0, u8::MAX.into())),
        DType::I32 => Scalar::Int(bound.to_i64().clamp(i32::MIN.into(), i32::MAX.into())),
        _ if bound.fits(dtype) => bound,
        _ => Scalar::Float(f64::INFINITY.copysign(bound.to_f64())),
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

/// y = min(max(x, lower), upper). Shapes: any → the same. Gradient: dx = dy where x is within the
/// bounds, which count as within, else 0. Saves x.
struct Clamp {
    min: Scalar,
    max: Scalar,
}

impl Op<1> for Clamp {
    fn name(&self) -> &'static str {
        "clamp"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        ctx.save(x);
        // The upper bound last: it wins if the two are the wrong way round, as in PyTorch.
        unary(Unary::ClampMax(self.max), &unary(Unary::ClampMin(self.min), x))
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        let x = ctx.saved(0);
        let within = x.ge_scalar(self.min).logical_and(&x.le_scalar(self.max));
        [Some(dy.masked_fill(&within.logical_not(), 0))]
    }
}

/// y = the larger of x and a lower bound, or the smaller of x and an upper one. Shapes: two of one
/// shape → the same. Gradient: dy goes to x where it is within the bound, which counts as within,
/// else to the bound; where one is NaN, to neither. Saves both.
struct Bounded {
    by: Binary,
}

impl Op<2> for Bounded {
    fn name(&self) -> &'static str {
        match self.by {
            Binary::Maximum => "clamp_min",
            _ => "clamp_max",
        }
    }

    fn forward(&self, ctx: &mut Ctx, [x, bound]: [&Tensor; 2]) -> Tensor {
        ctx.save(x);
        ctx.save(bound);
        binary(self.by, x, bound)
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 2] {
        let (x, bound, zeros) = (ctx.saved(0), ctx.saved(1), dy.zeros_like());
        let taken = match self.by {
            Binary::Maximum => [x.ge(&bound), x.lt(&bound)],
            _ => [x.le(&bound), x.gt(&bound)],
        };
        taken.map(|taken| Some(Tensor::where_cond(&taken, dy, &zeros)))
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
