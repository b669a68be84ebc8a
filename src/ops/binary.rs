//! Elementwise operations of two tensors, with broadcasting.
//!
//! Broadcasting is a view of its own: an operand of another shape first goes through `expand`,
//! which repeats it with stride 0 and whose gradient is the sum over the repetitions. So the
//! operations here only ever see two tensors of one shape, and their gradients stay one line.

use std::ops;

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply};
use crate::device::Binary;
use crate::ops::{expect_f32, refuse};
use crate::shape::broadcast;

impl Tensor {
    /// y = a + b, broadcast.
    #[track_caller]
    pub fn add(&self, other: &Tensor) -> Tensor {
        let (a, b) = broadcast_pair("add", self, other);
        apply(Add, [&a, &b])
    }

    /// y = a − b, broadcast.
    #[track_caller]
    pub fn sub(&self, other: &Tensor) -> Tensor {
        let (a, b) = broadcast_pair("sub", self, other);
        apply(Sub, [&a, &b])
    }

    /// y = a · b elementwise, broadcast.
    #[track_caller]
    pub fn mul(&self, other: &Tensor) -> Tensor {
        let (a, b) = broadcast_pair("mul", self, other);
        apply(Mul, [&a, &b])
    }

    /// y = a / b elementwise, broadcast; IEEE 754 where b is 0.
    #[track_caller]
    pub fn div(&self, other: &Tensor) -> Tensor {
        let (a, b) = broadcast_pair("div", self, other);
        apply(Div, [&a, &b])
    }
}

/// Both operands under their common shape.
#[track_caller]
fn broadcast_pair(op: &'static str, a: &Tensor, b: &Tensor) -> (Tensor, Tensor) {
    expect_f32(op, &[a, b]);
    let Some(shape) = broadcast(a.shape(), b.shape()) else {
        let message = "the shapes do not broadcast: aligned at the last dimension, each pair of \
                       sizes must be equal or one of them 1";
        refuse(op, &[a, b], message.to_string())
    };
    let fit = |x: &Tensor| if x.shape() == &*shape { x.clone() } else { x.expand(&shape) };
    (fit(a), fit(b))
}

/// f(a, b) of two tensors of one shape, not recorded.
pub(super) fn binary(f: Binary, a: &Tensor, b: &Tensor) -> Tensor {
    Tensor::packed(a.device().backend().binary(f, a.view_of(), b.view_of()), a.shape())
}

/// y = a + b. Shapes: two of one shape → the same. Gradient: da = dy, db = dy. Saves nothing.
struct Add;

impl Op<2> for Add {
    fn name(&self) -> &'static str {
        "add"
    }

    fn forward(&self, _: &mut Ctx, [a, b]: [&Tensor; 2]) -> Tensor {
        binary(Binary::Add, a, b)
    }

    fn backward(&self, _: &Ctx, dy: &Tensor) -> [Option<Tensor>; 2] {
        [Some(dy.clone()), Some(dy.clone())]
    }
}

/// y = a − b. Shapes: two of one shape → the same. Gradient: da = dy, db = −dy. Saves nothing.
struct Sub;

impl Op<2> for Sub {
    fn name(&self) -> &'static str {
        "sub"
    }

    fn forward(&self, _: &mut Ctx, [a, b]: [&Tensor; 2]) -> Tensor {
        binary(Binary::Sub, a, b)
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 2] {
        [Some(dy.clone()), ctx.needs(1).then(|| dy.neg())]
    }
}

/// y = a · b. Shapes: two of one shape → the same. Gradient: da = dy · b, db = dy · a.
/// Saves each factor that the other one's gradient needs.
struct Mul;

impl Op<2> for Mul {
    fn name(&self) -> &'static str {
        "mul"
    }

    fn forward(&self, ctx: &mut Ctx, [a, b]: [&Tensor; 2]) -> Tensor {
        ctx.save_if(ctx.needs(1), a);
        ctx.save_if(ctx.needs(0), b);
        binary(Binary::Mul, a, b)
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 2] {
        let da = ctx.needs(0).then(|| dy.mul(&ctx.saved(1)));
        let db = ctx.needs(1).then(|| dy.mul(&ctx.saved(0)));
        [da, db]
    }
}

/// y = a / b. Shapes: two of one shape → the same. Gradient: da = dy / b, db = −dy · a / b².
/// Saves b, and a if b needs a gradient.
struct Div;

impl Op<2> for Div {
    fn name(&self) -> &'static str {
        "div"
    }

    fn forward(&self, ctx: &mut Ctx, [a, b]: [&Tensor; 2]) -> Tensor {
        ctx.save_if(ctx.needs(1), a);
        ctx.save(b);
        binary(Binary::Div, a, b)
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 2] {
        let b = ctx.saved(1);
        let da = dy.div(&b);
        let db = ctx.needs(1).then(|| da.mul(&ctx.saved(0)).div(&b).neg());
        [Some(da), db]
    }
}

impl ops::Add for &Tensor {
    type Output = Tensor;

    #[track_caller]
    fn add(self, other: &Tensor) -> Tensor {
        Tensor::add(self, other)
    }
}

impl ops::Sub for &Tensor {
    type Output = Tensor;

    #[track_caller]
    fn sub(self, other: &Tensor) -> Tensor {
        Tensor::sub(self, other)
    }
}

impl ops::Mul for &Tensor {
    type Output = Tensor;

    #[track_caller]
    fn mul(self, other: &Tensor) -> Tensor {
        Tensor::mul(self, other)
    }
}

impl ops::Div for &Tensor {
    type Output = Tensor;

    #[track_caller]
    fn div(self, other: &Tensor) -> Tensor {
        Tensor::div(self, other)
    }
}
