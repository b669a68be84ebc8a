//! Softmax and its logarithm.

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply};
use crate::ops::autocast::casting;
use crate::ops::{expect_dim, expect_floating};

impl Tensor {
    /// Numbers that are positive and sum to 1 along `dim`: eˣ / Σ eˣ.
    #[track_caller]
    pub fn softmax(&self, dim: isize) -> Tensor {
        if let Some(cast) = casting("softmax", &[self]) {
            return cast.of(self).softmax(dim);
        }
        expect_floating("softmax", &[self]);
        apply(Softmax { dim: expect_dim("softmax", self, dim) as isize }, [self])
    }

    /// The logarithm of [`softmax`](Tensor::softmax), exact where the softmax itself is too small
    /// for an `f32`.
    #[track_caller]
    pub fn log_softmax(&self, dim: isize) -> Tensor {
        if let Some(cast) = casting("log_softmax", &[self]) {
            return cast.of(self).log_softmax(dim);
        }
        expect_floating("log_softmax", &[self]);
        apply(LogSoftmax { dim: expect_dim("log_softmax", self, dim) as isize }, [self])
    }
}

/// Runs the kernel, which works on rows, along any dimension; the result is contiguous.
#[track_caller]
fn along(op: &'static str, dim: isize, x: &Tensor, log: bool) -> Tensor {
    let rows = x.transpose(dim, -1);
    let y = Tensor::packed(x.device().backend().softmax(rows.view_of(), log), rows.shape());
    y.transpose(dim, -1).contiguous_for(op)
}

/// y = eˣ / Σ eˣ along a dimension. Shapes: any → the same.
/// Gradient: dx = y · (dy − Σ dy · y). Saves y.
struct Softmax {
    dim: isize,
}

impl Op<1> for Softmax {
    fn name(&self) -> &'static str {
        "softmax"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        let y = along("softmax", self.dim, x, false);
        ctx.save(&y);
        y
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        let y = ctx.saved(0);
        let weighted = dy.mul(&y).sum_dims(&[self.dim], true);
        [Some(dy.sub(&weighted).mul(&y))]
    }
}

/// y = x − ln Σ eˣ along a dimension. Shapes: any → the same.
/// Gradient: dx = dy − eʸ · Σ dy. Saves y.
struct LogSoftmax {
    dim: isize,
}

impl Op<1> for LogSoftmax {
    fn name(&self) -> &'static str {
        "log_softmax"
    }

    fn forward(&self, ctx: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        let y = along("log_softmax", self.dim, x, true);
        ctx.save(&y);
        y
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        let total = dy.sum_dims(&[self.dim], true);
        [Some(dy.sub(&ctx.saved(0).exp().mul(&total)))]
    }
}
