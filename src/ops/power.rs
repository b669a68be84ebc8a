//! Powers and roots.

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply};
use crate::device::{Binary, Unary};
use crate::dtype::{DType, Scalar};
use crate::ops::autocast::casting;
use crate::ops::binary::{binary, broadcast_pair, refuse_bool};
use crate::ops::unary::unary;
use crate::ops::{expect_fits, floating, refuse, with_scalar};

impl Tensor {
    /// y = √x; NaN below 0. Integers give `f32`.
    #[track_caller]
    pub fn sqrt(&self) -> Tensor {
        apply(Sqrt, [&floating(self)])
    }

    /// y = 1 / √x; infinite at 0, NaN below. Integers give `f32`.
    #[track_caller]
    pub fn rsqrt(&self) -> Tensor {
        if let Some(cast) = casting("rsqrt", &[self]) {
            return cast.of(self).rsqrt();
        }
        apply(Rsqrt, [&floating(self)])
    }

    /// y = 1 / x; infinite at 0. Integers give `f32`.
    #[track_caller]
    pub fn reciprocal(&self) -> Tensor {
        if let Some(cast) = casting("reciprocal", &[self]) {
            return cast.of(self).reciprocal();
        }
        apply(Reciprocal, [&floating(self)])
    }

    /// y = x², by [`pow_scalar`](Tensor::pow_scalar).
    #[track_caller]
    pub fn square(&self) -> Tensor {
        self.pow_scalar(2)
    }

    /// y = a to the power of b elementwise, broadcast. A negative base has a power only for a whole
    /// exponent, else NaN; anything to the power of 0 is 1. Integers stay integers and wrap around;
    /// with a negative exponent they give 1 / aᵇ with its fraction cut off.
    ///
    /// # Panics
    /// If both are `bool`.
    #[track_caller]
    pub fn pow(&self, exponent: &Tensor) -> Tensor {
        if let Some(cast) = casting("pow", &[self, exponent]) {
            return cast.of(self).pow(&cast.of(exponent));
        }
        refuse_bool("pow", self, exponent);
        let (a, b) = broadcast_pair("pow", self, exponent);
        apply(Pow, [&a, &b])
    }

    /// y = x to the power of a number. The result has x's type unless the number is of a higher
    /// kind: an integer tensor to the power of 0.5 is `f32`.
    ///
    /// # Panics
    /// If an integer tensor gets a negative integer as exponent, as in PyTorch, or one that is too
    /// large for its type; or if x and the number are both `bool`.
    #[track_caller]
    pub fn pow_scalar(&self, exponent: impl Into<Scalar>) -> Tensor {
        if let Some(cast) = casting("pow_scalar", &[self]) {
            return cast.of(self).pow_scalar(exponent);
        }
        let c = exponent.into();
        let x = with_scalar(self, c);
        if x.dtype() == DType::Bool {
            let message = "a bool is no number; convert it with to()";
            refuse("pow_scalar", &[self], message.to_string());
        }
        if !x.dtype().is_floating_point() && c.to_i64() < 0 {
            let message = format!(
                "an integer to the power of {c} is no integer; convert to a floating-point type"
            );
            refuse("pow_scalar", &[self], message);
        }
        expect_fits("pow_scalar", &x, c);
        apply(PowScalar(c), [&x])
    }
}

/// y = √x. Shapes: any → the same. Gradient: dx = dy / 2y, infinite at 0. Saves y.
struct Sqrt;

impl Op<1> for Sqrt {
    fn name(&self) -> &'static str {
        "sqrt"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        let y = unary(Unary::Sqrt, x);
        ctx.save(&y);
        y
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(dy.div(&ctx.saved(0).mul_scalar(2)))]
    }
}

/// y = 1 / √x. Shapes: any → the same. Gradient: dx = −dy · y³ / 2. Saves y.
struct Rsqrt;

impl Op<1> for Rsqrt {
    fn name(&self) -> &'static str {
        "rsqrt"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        let y = unary(Unary::Rsqrt, x);
        ctx.save(&y);
        y
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(dy.mul_scalar(-0.5).mul(&ctx.saved(0).pow_scalar(3)))]
    }
}

/// y = 1 / x. Shapes: any → the same. Gradient: dx = −dy · y². Saves y.
struct Reciprocal;

impl Op<1> for Reciprocal {
    fn name(&self) -> &'static str {
        "reciprocal"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        let y = unary(Unary::Reciprocal, x);
        ctx.save(&y);
        y
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(dy.mul(&ctx.saved(0).square()).neg())]
    }
}

/// y = aᵇ. Shapes: two of one shape → the same. Gradient: da = dy · b · aᵇ⁻¹, 0 where b is 0;
/// db = dy · y · ln a, 0 where a is 0 and b is not negative. Saves a and b, and y for db.
struct Pow;

impl Op<2> for Pow {
    fn name(&self) -> &'static str {
        "pow"
    }

    fn forward(&self, ctx: &mut Ctx, [a, b]: [&Tensor; 2]) -> Tensor {
        let y = binary(Binary::Pow, a, b);
        ctx.save(a);
        ctx.save(b);
        ctx.save_if(ctx.needs(1), &y);
        y
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 2] {
        let (a, b) = (ctx.saved(0), ctx.saved(1));
        let da = ctx.needs(0).then(|| {
            let slope = b.mul(&a.pow(&b.add_scalar(-1)));
            dy.mul(&slope).masked_fill(&b.eq_scalar(0), 0)
        });
        let db = ctx.needs(1).then(|| {
            let flat = a.eq_scalar(0).logical_and(&b.ge_scalar(0));
            dy.mul(&ctx.saved(2).mul(&a.log())).masked_fill(&flat, 0)
        });
        [da, db]
    }
}

/// y = xᶜ. Shapes: any → the same. Gradient: dx = dy · c · xᶜ⁻¹; 0 if c is 0. Saves x.
struct PowScalar(Scalar);

impl Op<1> for PowScalar {
    fn name(&self) -> &'static str {
        "pow_scalar"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        ctx.save(x);
        unary(Unary::PowScalar(self.0), x)
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        let c = self.0.to_f64();
        if c == 0.0 {
            return [Some(dy.zeros_like())];
        }
        [Some(dy.mul(&ctx.saved(0).pow_scalar(c - 1.0).mul_scalar(c)))]
    }
}
