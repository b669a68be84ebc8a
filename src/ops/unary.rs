//! Elementwise operations of one tensor.

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply};
use crate::device::{Binary, Unary};
use crate::dtype::{DType, Scalar};
use crate::ops::binary::binary;
use crate::ops::{floating, refuse, with_scalar};

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

    /// y = eˣ; in `f32`, infinity from x ≈ 88.7 on. Integers give `f32`.
    pub fn exp(&self) -> Tensor {
        apply(Exp, [&floating(self)])
    }

    /// y = ln x; −∞ at 0, NaN below. Integers give `f32`.
    pub fn log(&self) -> Tensor {
        apply(Log, [&floating(self)])
    }

    /// y = tanh x. Integers give `f32`.
    pub fn tanh(&self) -> Tensor {
        apply(Tanh, [&floating(self)])
    }

    /// y = max(x, 0); NaN stays NaN.
    ///
    /// # Panics
    /// If x is `bool`.
    #[track_caller]
    pub fn relu(&self) -> Tensor {
        if self.dtype() == DType::Bool {
            refuse("relu", &[self], "a bool is no number; convert it with to()".to_string());
        }
        apply(Relu, [self])
    }

    /// y = x + c. The result has x's type unless c is of a higher kind: an integer tensor plus 0.5
    /// is `f32`.
    pub fn add_scalar(&self, c: impl Into<Scalar>) -> Tensor {
        let c = c.into();
        apply(AddScalar(c), [&with_scalar(self, c)])
    }

    /// y = c · x, of the type that [`add_scalar`](Tensor::add_scalar) would give.
    pub fn mul_scalar(&self, c: impl Into<Scalar>) -> Tensor {
        let c = c.into();
        apply(MulScalar(c), [&with_scalar(self, c)])
    }

    /// y = x / c; IEEE 754 if c is 0. Integers give `f32`.
    pub fn div_scalar(&self, c: impl Into<Scalar>) -> Tensor {
        let c = c.into();
        apply(DivScalar(c), [&floating(&with_scalar(self, c))])
    }

    /// y = x, but at least `min` and at most `max`; NaN where one of the three is. The type is that
    /// of [`add_scalar`](Tensor::add_scalar).
    pub fn clamp(&self, min: impl Into<Scalar>, max: impl Into<Scalar>) -> Tensor {
        let (min, max) = (min.into(), max.into());
        let x = with_scalar(&with_scalar(self, min), max);
        let (min, max) = (within_range(min, x.dtype()), within_range(max, x.dtype()));
        apply(Clamp { min, max }, [&x])
    }
}

/// A bound beyond all numbers of an integer type bounds as the last of them does.
fn within_range(bound: Scalar, dtype: DType) -> Scalar {
    match dtype {
        DType::U8 => Scalar::Int(bound.to_i64().clamp(0, u8::MAX.into())),
        DType::I32 => Scalar::Int(bound.to_i64().clamp(i32::MIN.into(), i32::MAX.into())),
        _ => bound,
    }
}

fn unary(f: Unary, x: &Tensor) -> Tensor {
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

/// y = eˣ. Shapes: any → the same. Gradient: dx = dy · y. Saves y.
struct Exp;

impl Op<1> for Exp {
    fn name(&self) -> &'static str {
        "exp"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        let y = unary(Unary::Exp, x);
        ctx.save(&y);
        y
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(dy.mul(&ctx.saved(0)))]
    }
}

/// y = ln x. Shapes: any → the same. Gradient: dx = dy / x. Saves x.
struct Log;

impl Op<1> for Log {
    fn name(&self) -> &'static str {
        "log"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        ctx.save(x);
        unary(Unary::Log, x)
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(dy.div(&ctx.saved(0)))]
    }
}

/// y = tanh x. Shapes: any → the same. Gradient: dx = dy · (1 − y²). Saves y.
struct Tanh;

impl Op<1> for Tanh {
    fn name(&self) -> &'static str {
        "tanh"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        let y = unary(Unary::Tanh, x);
        ctx.save(&y);
        y
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        let y = ctx.saved(0);
        [Some(dy.mul(&y.mul(&y).neg().add_scalar(1.0)))]
    }
}

/// y = max(x, 0). Shapes: any → the same. Gradient: dx = 0 where y ≤ 0, else dy; so 0 at x = 0,
/// as in PyTorch. Saves y, which the next operation often saves too: that costs nothing twice.
struct Relu;

impl Op<1> for Relu {
    fn name(&self) -> &'static str {
        "relu"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        let y = unary(Unary::ClampMin(0.into()), x);
        ctx.save(&y);
        y
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(binary(Binary::ThresholdBackward, dy, &ctx.saved(0)))]
    }
}

/// y = x + c. Shapes: any → the same. Gradient: dx = dy. Saves nothing.
struct AddScalar(Scalar);

impl Op<1> for AddScalar {
    fn name(&self) -> &'static str {
        "add_scalar"
    }

    fn forward(&self, _: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        unary(Unary::AddScalar(self.0), x)
    }

    fn backward(&self, _: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(dy.clone())]
    }
}

/// y = c · x. Shapes: any → the same. Gradient: dx = c · dy. Saves nothing: c is the operation's.
struct MulScalar(Scalar);

impl Op<1> for MulScalar {
    fn name(&self) -> &'static str {
        "mul_scalar"
    }

    fn forward(&self, _: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        unary(Unary::MulScalar(self.0), x)
    }

    fn backward(&self, _: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(dy.mul_scalar(self.0))]
    }
}

/// y = x / c. Shapes: any → the same. Gradient: dx = dy / c. Saves nothing: c is the operation's.
struct DivScalar(Scalar);

impl Op<1> for DivScalar {
    fn name(&self) -> &'static str {
        "div_scalar"
    }

    fn forward(&self, _: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        unary(Unary::DivScalar(self.0), x)
    }

    fn backward(&self, _: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(dy.div_scalar(self.0))]
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
        let bound = |c: Scalar| Tensor::full_on(&[], c, x.dtype(), x.device());
        let within = x.ge(&bound(self.min)).mul(&x.le(&bound(self.max)));
        [Some(Tensor::where_cond(&within, dy, &dy.zeros_like()))]
    }
}
