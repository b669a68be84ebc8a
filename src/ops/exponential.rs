//! Exponentials and logarithms. Integers give `f32`.

use std::f64::consts::LN_2;

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply};
use crate::device::Unary;
use crate::ops::autocast::casting;
use crate::ops::floating;
use crate::ops::unary::unary;

impl Tensor {
    /// y = eˣ; in `f32`, infinity from x ≈ 88.7 on.
    #[track_caller]
    pub fn exp(&self) -> Tensor {
        if let Some(cast) = casting("exp", &[self]) {
            return cast.of(self).exp();
        }
        apply(Exp, [&floating(self)])
    }

    /// y = 2ˣ; in `f32`, infinity from x = 128 on.
    #[track_caller]
    pub fn exp2(&self) -> Tensor {
        apply(Exp2, [&floating(self)])
    }

    /// y = eˣ − 1, exact near 0, where eˣ rounds to 1 and loses x.
    #[track_caller]
    pub fn expm1(&self) -> Tensor {
        if let Some(cast) = casting("expm1", &[self]) {
            return cast.of(self).expm1();
        }
        apply(Expm1, [&floating(self)])
    }

    /// y = ln x; −∞ at 0, NaN below.
    #[track_caller]
    pub fn log(&self) -> Tensor {
        if let Some(cast) = casting("log", &[self]) {
            return cast.of(self).log();
        }
        apply(Log, [&floating(self)])
    }

    /// y = log₂ x; −∞ at 0, NaN below.
    #[track_caller]
    pub fn log2(&self) -> Tensor {
        if let Some(cast) = casting("log2", &[self]) {
            return cast.of(self).log2();
        }
        apply(Log2, [&floating(self)])
    }

    /// y = ln(1 + x), exact near 0, where 1 + x rounds to 1 and loses x; −∞ at −1, NaN below.
    #[track_caller]
    pub fn log1p(&self) -> Tensor {
        if let Some(cast) = casting("log1p", &[self]) {
            return cast.of(self).log1p();
        }
        apply(Log1p, [&floating(self)])
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

/// y = 2ˣ. Shapes: any → the same. Gradient: dx = dy · y · ln 2. Saves y.
struct Exp2;

impl Op<1> for Exp2 {
    fn name(&self) -> &'static str {
        "exp2"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        let y = unary(Unary::Exp2, x);
        ctx.save(&y);
        y
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(dy.mul(&ctx.saved(0)).mul_scalar(LN_2))]
    }
}

/// y = eˣ − 1. Shapes: any → the same. Gradient: dx = dy · (y + 1). Saves y.
struct Expm1;

impl Op<1> for Expm1 {
    fn name(&self) -> &'static str {
        "expm1"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        let y = unary(Unary::Expm1, x);
        ctx.save(&y);
        y
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(dy.mul(&ctx.saved(0).add_scalar(1)))]
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

/// y = log₂ x. Shapes: any → the same. Gradient: dx = dy / (x · ln 2). Saves x.
struct Log2;

impl Op<1> for Log2 {
    fn name(&self) -> &'static str {
        "log2"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        ctx.save(x);
        unary(Unary::Log2, x)
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(dy.div(&ctx.saved(0).mul_scalar(LN_2)))]
    }
}

/// y = ln(1 + x). Shapes: any → the same. Gradient: dx = dy / (1 + x). Saves x.
struct Log1p;

impl Op<1> for Log1p {
    fn name(&self) -> &'static str {
        "log1p"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        ctx.save(x);
        unary(Unary::Log1p, x)
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(dy.div(&ctx.saved(0).add_scalar(1)))]
    }
}
