//! Elementwise operations of one tensor.

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply};
use crate::device::{Binary, Unary};
use crate::ops::binary::binary;
use crate::ops::expect_f32;

impl Tensor {
    /// y = −x.
    #[track_caller]
    pub fn neg(&self) -> Tensor {
        expect_f32("neg", &[self]);
        apply(Neg, [self])
    }

    /// y = eˣ; infinity from x ≈ 88.7 on.
    #[track_caller]
    pub fn exp(&self) -> Tensor {
        expect_f32("exp", &[self]);
        apply(Exp, [self])
    }

    /// y = ln x; −∞ at 0, NaN below.
    #[track_caller]
    pub fn log(&self) -> Tensor {
        expect_f32("log", &[self]);
        apply(Log, [self])
    }

    /// y = tanh x.
    #[track_caller]
    pub fn tanh(&self) -> Tensor {
        expect_f32("tanh", &[self]);
        apply(Tanh, [self])
    }

    /// y = max(x, 0); NaN stays NaN.
    #[track_caller]
    pub fn relu(&self) -> Tensor {
        expect_f32("relu", &[self]);
        apply(Relu, [self])
    }

    /// y = x + c.
    #[track_caller]
    pub fn add_scalar(&self, c: f32) -> Tensor {
        expect_f32("add_scalar", &[self]);
        apply(AddScalar(c), [self])
    }

    /// y = c · x.
    #[track_caller]
    pub fn mul_scalar(&self, c: f32) -> Tensor {
        expect_f32("mul_scalar", &[self]);
        apply(MulScalar(c), [self])
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
        let y = unary(Unary::Relu, x);
        ctx.save(&y);
        y
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(binary(Binary::ThresholdBackward, dy, &ctx.saved(0)))]
    }
}

/// y = x + c. Shapes: any → the same. Gradient: dx = dy. Saves nothing.
struct AddScalar(f32);

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
struct MulScalar(f32);

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
