//! Division that gives whole numbers, and its remainder.
//!
//! floor rounds down and trunc towards zero: −7 by 2 is −4 or −3. Rust and C truncate integers,
//! Python floors; both are here under PyTorch's names.

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply};
use crate::device::Binary;
use crate::dtype::Scalar;
use crate::ops::binary::{binary, broadcast_pair, refuse_bool};
use crate::ops::refuse;
use crate::ops::scalar::beside;

impl Tensor {
    /// a / b rounded down to a whole number, broadcast, in the common type. No gradient.
    ///
    /// # Panics
    /// If both are `bool`, or if they are integers and b has a 0.
    #[track_caller]
    pub fn floor_divide(&self, other: &Tensor) -> Tensor {
        let (a, b) = divisible("floor_divide", self, other);
        binary(Binary::FloorDivide, &a, &b)
    }

    /// a / b with its fraction cut off, broadcast, in the common type (PyTorch's
    /// `div(rounding_mode="trunc")`). No gradient.
    ///
    /// # Panics
    /// If both are `bool`, or if they are integers and b has a 0.
    #[track_caller]
    pub fn trunc_divide(&self, other: &Tensor) -> Tensor {
        let (a, b) = divisible("trunc_divide", self, other);
        binary(Binary::TruncDivide, &a, &b)
    }

    /// a − b · floor(a / b), broadcast: it has the sign of b, as in Python.
    ///
    /// # Panics
    /// If both are `bool`, or if they are integers and b has a 0.
    #[track_caller]
    pub fn remainder(&self, other: &Tensor) -> Tensor {
        let (a, b) = divisible("remainder", self, other);
        apply(Remainder, [&a, &b])
    }

    /// x / c rounded down to a whole number, as [`floor_divide`](Tensor::floor_divide) of two
    /// tensors. No gradient.
    ///
    /// # Panics
    /// If x and c are both `bool`, if both are integers and c is 0, or if c does not fit into the
    /// type of the result.
    #[track_caller]
    pub fn floor_divide_scalar(&self, c: impl Into<Scalar>) -> Tensor {
        let (x, c) = beside("floor_divide_scalar", self, c.into());
        x.floor_divide(&c)
    }

    /// x / c with its fraction cut off, as [`trunc_divide`](Tensor::trunc_divide) of two tensors.
    /// No gradient.
    ///
    /// # Panics
    /// If x and c are both `bool`, if both are integers and c is 0, or if c does not fit into the
    /// type of the result.
    #[track_caller]
    pub fn trunc_divide_scalar(&self, c: impl Into<Scalar>) -> Tensor {
        let (x, c) = beside("trunc_divide_scalar", self, c.into());
        x.trunc_divide(&c)
    }

    /// x − c · floor(x / c), as [`remainder`](Tensor::remainder) of two tensors: it has the sign of
    /// c.
    ///
    /// # Panics
    /// If x and c are both `bool`, if both are integers and c is 0, or if c does not fit into the
    /// type of the result.
    #[track_caller]
    pub fn remainder_scalar(&self, c: impl Into<Scalar>) -> Tensor {
        let (x, c) = beside("remainder_scalar", self, c.into());
        x.remainder(&c)
    }
}

#[track_caller]
fn divisible(op: &'static str, a: &Tensor, b: &Tensor) -> (Tensor, Tensor) {
    refuse_bool(op, a, b);
    let (x, y) = broadcast_pair(op, a, b);
    if !y.dtype().is_floating_point() {
        let zero = Tensor::full_on(&[], 0, y.dtype(), y.device());
        if y.eq(&zero).sum().item_as::<i64>() > 0 {
            let message = "integers cannot be divided by 0, and the divisor has one; convert to a \
                           floating-point type, where the result is infinite or NaN";
            refuse(op, &[a, b], message.to_string());
        }
    }
    (x, y)
}

/// y = a − b · floor(a / b). Shapes: two of one shape → the same. Gradient: da = dy,
/// db = −dy · floor(a / b), as if the floor were constant. Saves a and b if b needs a gradient.
struct Remainder;

impl Op<2> for Remainder {
    fn name(&self) -> &'static str {
        "remainder"
    }

    fn forward(&self, ctx: &mut Ctx, [a, b]: [&Tensor; 2]) -> Tensor {
        ctx.save_if(ctx.needs(1), a);
        ctx.save_if(ctx.needs(1), b);
        binary(Binary::Remainder, a, b)
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> [Option<Tensor>; 2] {
        let db = ctx.needs(1).then(|| dy.mul(&ctx.saved(0).floor_divide(&ctx.saved(1))).neg());
        [Some(dy.clone()), db]
    }
}
