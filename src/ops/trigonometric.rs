//! Sine, cosine and the hyperbolic tangent. Integers give `f32`.

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply};
use crate::device::Unary;
use crate::ops::floating;
use crate::ops::unary::unary;

impl Tensor {
    /// y = sin x, x in radians; NaN for an infinite x.
    #[track_caller]
    pub fn sin(&self) -> Tensor {
        apply(Sin, [&floating(self)])
    }

    /// y = cos x, x in radians; NaN for an infinite x.
    #[track_caller]
    pub fn cos(&self) -> Tensor {
        apply(Cos, [&floating(self)])
    }

    /// y = tanh x, between −1 and 1.
    #[track_caller]
    pub fn tanh(&self) -> Tensor {
        apply(Tanh, [&floating(self)])
    }
}

/// y = sin x. Shapes: any → the same. Gradient: dx = dy · cos x. Saves x.
struct Sin;

impl Op<1> for Sin {
    fn name(&self) -> &'static str {
        "sin"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        ctx.save(x);
        unary(Unary::Sin, x)
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(dy.mul(&ctx.saved(0).cos()))]
    }
}

/// y = cos x. Shapes: any → the same. Gradient: dx = −dy · sin x. Saves x.
struct Cos;

impl Op<1> for Cos {
    fn name(&self) -> &'static str {
        "cos"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        ctx.save(x);
        unary(Unary::Cos, x)
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(dy.mul(&ctx.saved(0).sin()).neg())]
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
