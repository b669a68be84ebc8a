//! The functions between the layers of a network, and the two that they are made of.
//!
//! Where the slope takes many operations, one kernel computes it. If the backward pass is recorded,
//! it is made of operations, which have slopes in turn.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, SQRT_2};

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply, is_grad_enabled};
use crate::device::{Binary, Unary};
use crate::dtype::Scalar;
use crate::ops::autocast::casting;
use crate::ops::binary::binary;
use crate::ops::unary::{expect_number, unary};
use crate::ops::{expect_floating, floating};

impl Tensor {
    /// y = max(x, 0); NaN stays NaN.
    ///
    /// # Panics
    /// If x is `bool`.
    #[track_caller]
    pub fn relu(&self) -> Tensor {
        expect_number("relu", self);
        apply(Relu, [self])
    }

    /// y = x where it is positive, else slope · x.
    ///
    /// # Panics
    /// If x is not floating-point.
    #[track_caller]
    pub fn leaky_relu(&self, slope: impl Into<Scalar>) -> Tensor {
        expect_floating("leaky_relu", &[self]);
        apply(LeakyRelu { slope: slope.into().to_f64() }, [self])
    }

    /// y = σ(x) = 1 / (1 + e⁻ˣ), between 0 and 1. Integers give `f32`.
    #[track_caller]
    pub fn sigmoid(&self) -> Tensor {
        apply(Sigmoid, [&floating(self)])
    }

    /// y = ln σ(x), exact where σ(x) is too small for its type.
    ///
    /// # Panics
    /// If x is not floating-point.
    #[track_caller]
    pub fn logsigmoid(&self) -> Tensor {
        expect_floating("logsigmoid", &[self]);
        apply(LogSigmoid, [self])
    }

    /// y = x · σ(x), also called swish.
    ///
    /// # Panics
    /// If x is not floating-point.
    #[track_caller]
    pub fn silu(&self) -> Tensor {
        expect_floating("silu", &[self]);
        apply(Silu, [self])
    }

    /// y = ln(1 + e^(βx)) / β, a smooth relu; x itself where βx is above the threshold, since
    /// there the two are equal but the exponential might overflow. PyTorch's defaults are a β of 1
    /// and a threshold of 20.
    ///
    /// # Panics
    /// If x is not floating-point.
    #[track_caller]
    pub fn softplus(&self, beta: impl Into<Scalar>, threshold: impl Into<Scalar>) -> Tensor {
        if let Some(cast) = casting("softplus", &[self]) {
            return cast.of(self).softplus(beta, threshold);
        }
        expect_floating("softplus", &[self]);
        let (beta, threshold) = (beta.into().to_f64(), threshold.into().to_f64());
        apply(Softplus { beta, threshold }, [self])
    }

    /// y = erf x = 2/√π · ∫₀ˣ e^(−t²) dt, between −1 and 1. Integers give `f32`.
    #[track_caller]
    pub fn erf(&self) -> Tensor {
        apply(Erf, [&floating(self)])
    }

    /// y = x · Φ(x), where Φ(x) = (1 + erf(x / √2)) / 2 is the probability that a normal random
    /// number is below x.
    ///
    /// # Panics
    /// If x is not floating-point.
    #[track_caller]
    pub fn gelu(&self) -> Tensor {
        expect_floating("gelu", &[self]);
        apply(Gelu, [self])
    }

    /// y = x · (1 + tanh u) / 2 with u = √(2/π) · (x + 0.044715 x³): the approximation of
    /// [`gelu`](Tensor::gelu) that GPT-2 was trained with (PyTorch's `approximate="tanh"`).
    ///
    /// # Panics
    /// If x is not floating-point.
    #[track_caller]
    pub fn gelu_tanh(&self) -> Tensor {
        expect_floating("gelu_tanh", &[self]);
        apply(GeluTanh, [self])
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
        [Some(threshold_backward(dy, &ctx.saved(0)))]
    }
}

/// The gradient of [`relu`](Tensor::relu): dy where its result y is positive, else 0.
#[track_caller]
pub(super) fn threshold_backward(dy: &Tensor, y: &Tensor) -> Tensor {
    apply(ThresholdBackward, [dy, y])
}

/// dx = dy where y > 0, else 0. Shapes: two of one shape → the same. Gradient: of dy, what comes,
/// again where y > 0, else 0; of y, 0. Saves y.
struct ThresholdBackward;

impl Op<2> for ThresholdBackward {
    fn name(&self) -> &'static str {
        "threshold_backward"
    }

    fn forward(&self, ctx: &mut Ctx, [dy, y]: [&Tensor; 2]) -> Tensor {
        ctx.save(y);
        binary(Binary::ThresholdBackward, dy, y)
    }

    fn backward(&self, ctx: &Ctx, ddx: &Tensor) -> [Option<Tensor>; 2] {
        let ddy = ctx.needs(0).then(|| threshold_backward(ddx, &ctx.saved(0)));
        [ddy, ctx.needs(1).then(|| ddx.zeros_like())]
    }
}

/// y = x where x > 0, else slope · x. Shapes: any → the same. Gradient: dx = dy where x > 0, else
/// slope · dy. Saves x.
struct LeakyRelu {
    slope: f64,
}

impl Op<1> for LeakyRelu {
    fn name(&self) -> &'static str {
        "leaky_relu"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        ctx.save(x);
        unary(Unary::LeakyRelu(self.slope), x)
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        let positive = ctx.saved(0).gt_scalar(0);
        [Some(Tensor::where_cond(&positive, dy, &dy.mul_scalar(self.slope)))]
    }
}

/// y = 1 / (1 + e⁻ˣ). Shapes: any → the same. Gradient: dx = dy · y · (1 − y). Saves y.
struct Sigmoid;

impl Op<1> for Sigmoid {
    fn name(&self) -> &'static str {
        "sigmoid"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        let y = unary(Unary::Sigmoid, x);
        ctx.save(&y);
        y
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        let y = ctx.saved(0);
        [Some(dy.mul(&y.mul(&y.neg().add_scalar(1))))]
    }
}

/// y = ln σ(x). Shapes: any → the same. Gradient: dx = dy · σ(−x). Saves x.
struct LogSigmoid;

impl Op<1> for LogSigmoid {
    fn name(&self) -> &'static str {
        "logsigmoid"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        ctx.save(x);
        unary(Unary::LogSigmoid, x)
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(dy.mul(&ctx.saved(0).neg().sigmoid()))]
    }
}

/// y = x · σ(x). Shapes: any → the same. Gradient: dx = dy · σ(x) · (1 + x · (1 − σ(x))). Saves x.
struct Silu;

impl Op<1> for Silu {
    fn name(&self) -> &'static str {
        "silu"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        ctx.save(x);
        unary(Unary::Silu, x)
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        let x = ctx.saved(0);
        if !is_grad_enabled() {
            return [Some(binary(Binary::SiluBackward, dy, &x))];
        }
        let s = x.sigmoid();
        let rest = x.mul(&s.neg().add_scalar(1)).add_scalar(1);
        [Some(dy.mul(&s.mul(&rest)))]
    }
}

/// y = ln(1 + e^(βx)) / β, or x where βx is above the threshold. Shapes: any → the same. Gradient:
/// dx = dy · σ(βx), or dy. Saves x.
struct Softplus {
    beta: f64,
    threshold: f64,
}

impl Op<1> for Softplus {
    fn name(&self) -> &'static str {
        "softplus"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        ctx.save(x);
        unary(Unary::Softplus { beta: self.beta, threshold: self.threshold }, x)
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        let scaled = ctx.saved(0).mul_scalar(self.beta);
        let above = scaled.gt_scalar(self.threshold);
        [Some(Tensor::where_cond(&above, dy, &dy.mul(&scaled.sigmoid())))]
    }
}

/// y = erf x. Shapes: any → the same. Gradient: dx = dy · 2/√π · e^(−x²). Saves x.
struct Erf;

impl Op<1> for Erf {
    fn name(&self) -> &'static str {
        "erf"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        ctx.save(x);
        unary(Unary::Erf, x)
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        let slope = ctx.saved(0).square().neg().exp().mul_scalar(FRAC_2_SQRT_PI);
        [Some(dy.mul(&slope))]
    }
}

/// y = x · Φ(x). Shapes: any → the same. Gradient: dx = dy · (Φ(x) + x · e^(−x²/2) / √(2π)).
/// Saves x.
struct Gelu;

impl Op<1> for Gelu {
    fn name(&self) -> &'static str {
        "gelu"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        ctx.save(x);
        unary(Unary::Gelu, x)
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        let x = ctx.saved(0);
        if !is_grad_enabled() {
            return [Some(binary(Binary::GeluBackward, dy, &x))];
        }
        let below = x.mul_scalar(FRAC_1_SQRT_2).erf().add_scalar(1).mul_scalar(0.5);
        let density = x.square().mul_scalar(-0.5).exp().mul_scalar(FRAC_2_SQRT_PI / SQRT_2 / 2.0);
        [Some(dy.mul(&below.add(&x.mul(&density))))]
    }
}

/// y = x · (1 + tanh u) / 2, u = √(2/π) · (x + 0.044715 x³). Shapes: any → the same. Gradient:
/// dx = dy · (1 + tanh u + x · (1 − tanh² u) · u′) / 2, u′ = √(2/π) · (1 + 3 · 0.044715 x²).
/// Saves x.
struct GeluTanh;

impl Op<1> for GeluTanh {
    fn name(&self) -> &'static str {
        "gelu_tanh"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        ctx.save(x);
        unary(Unary::GeluTanh, x)
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        let (x, k) = (ctx.saved(0), FRAC_2_SQRT_PI / SQRT_2);
        if !is_grad_enabled() {
            return [Some(binary(Binary::GeluTanhBackward, dy, &x))];
        }
        let x2 = x.square();
        let t = x.mul(&x2.mul_scalar(0.044715).add_scalar(1)).mul_scalar(k).tanh();
        let du = x2.mul_scalar(3.0 * 0.044715).add_scalar(1).mul_scalar(k);
        let slope = x.mul(&t.square().neg().add_scalar(1)).mul(&du);
        [Some(dy.mul(&slope.add(&t).add_scalar(1).mul_scalar(0.5)))]
    }
}
