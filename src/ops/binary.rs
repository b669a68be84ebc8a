//! Elementwise operations of two tensors, with broadcasting.
//!
//! Broadcasting is a view of its own: an operand of another shape first goes through `expand`,
//! which repeats it with stride 0 and whose gradient is the sum over the repetitions. So the
//! operations here only ever see two tensors of one shape, and their gradients stay one line.

use std::ops;

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply};
use crate::device::Binary;
use crate::dtype::DType;
use crate::ops::{expect_one_device, floating, refuse, result_type};
use crate::profiler;
use crate::shape::broadcast;

impl Tensor {
    /// y = a + b, broadcast. Integers wrap around; for `bool` it is "or".
    #[track_caller]
    pub fn add(&self, other: &Tensor) -> Tensor {
        let (a, b) = broadcast_pair("add", self, other);
        apply(Add, [&a, &b])
    }

    /// y = a − b, broadcast. Integers wrap around.
    ///
    /// # Panics
    /// If one is `bool`, as in PyTorch.
    #[track_caller]
    pub fn sub(&self, other: &Tensor) -> Tensor {
        if self.dtype() == DType::Bool || other.dtype() == DType::Bool {
            let message = "a bool is no number; convert it with to(), or compare to invert a mask";
            refuse("sub", &[self, other], message.to_string());
        }
        let (a, b) = broadcast_pair("sub", self, other);
        apply(Sub, [&a, &b])
    }

    /// y = a · b elementwise, broadcast. Integers wrap around; for `bool` it is "and".
    #[track_caller]
    pub fn mul(&self, other: &Tensor) -> Tensor {
        let (a, b) = broadcast_pair("mul", self, other);
        apply(Mul, [&a, &b])
    }

    /// y = a / b elementwise, broadcast; IEEE 754 where b is 0. Two integers give an `f32`.
    #[track_caller]
    pub fn div(&self, other: &Tensor) -> Tensor {
        let (a, b) = broadcast_pair("div", self, other);
        apply(Div, [&floating(&a), &floating(&b)])
    }

    /// The larger of a and b elementwise, broadcast; NaN if one is NaN.
    #[track_caller]
    pub fn maximum(&self, other: &Tensor) -> Tensor {
        let (a, b) = broadcast_pair("maximum", self, other);
        apply(Extremum { of: Binary::Maximum }, [&a, &b])
    }

    /// The smaller of a and b elementwise, broadcast; NaN if one is NaN.
    #[track_caller]
    pub fn minimum(&self, other: &Tensor) -> Tensor {
        let (a, b) = broadcast_pair("minimum", self, other);
        apply(Extremum { of: Binary::Minimum }, [&a, &b])
    }
}

/// Both operands under their common shape and type.
#[track_caller]
pub(super) fn broadcast_pair(op: &'static str, a: &Tensor, b: &Tensor) -> (Tensor, Tensor) {
    expect_one_device(op, &[a, b]);
    let Some(shape) = broadcast(a.shape(), b.shape()) else {
        let message = "the shapes do not broadcast: aligned at the last dimension, each pair of \
                       sizes must be equal or one of them 1";
        refuse(op, &[a, b], message.to_string())
    };
    let dtype = result_type(&[a, b]);
    (fit(a, &shape, dtype), fit(b, &shape, dtype))
}

/// x in another shape, to which it broadcasts, and type.
#[track_caller]
fn fit(x: &Tensor, shape: &[usize], dtype: DType) -> Tensor {
    let x = x.to(dtype);
    if x.shape() == shape { x } else { x.expand(shape) }
}

#[track_caller]
pub(super) fn refuse_bool(op: &'static str, a: &Tensor, b: &Tensor) {
    if a.dtype() == DType::Bool && b.dtype() == DType::Bool {
        let message = "a bool is no number; convert one operand with to()";
        refuse(op, &[a, b], message.to_string());
    }
}

/// f(a, b) of two tensors of one shape, not recorded.
#[track_caller]
pub(super) fn binary(f: Binary, a: &Tensor, b: &Tensor) -> Tensor {
    let _span = profiler::unrecorded(f.name());
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

/// y = the larger of a and b, or the smaller. Shapes: two of one shape → the same. Gradient: dy
/// goes to the one that was taken, and half of it to each where they are equal. Saves a and b.
struct Extremum {
    of: Binary,
}

impl Op<2> for Extremum {
    fn name(&self) -> &'static str {
        match self.of {
            Binary::Maximum => "maximum",
            _ => "minimum",
        }
    }

    fn forward(&self, ctx: &mut Ctx, [a, b]: [&Tensor; 2]) -> Tensor {
        ctx.save(a);
        ctx.save(b);
        binary(self.of, a, b)
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 2] {
        let (a, b) = (ctx.saved(0), ctx.saved(1));
        let halves = Tensor::where_cond(&a.eq(&b), &dy.mul_scalar(0.5), dy);
        let zeros = dy.zeros_like();
        let (lost_a, lost_b) = match self.of {
            Binary::Maximum => (a.lt(&b), a.gt(&b)),
            _ => (a.gt(&b), a.lt(&b)),
        };
        [lost_a, lost_b].map(|lost| Some(Tensor::where_cond(&lost, &zeros, &halves)))
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
