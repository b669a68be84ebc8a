//! Elementwise operations of a tensor and a number of the program.
//!
//! The result has the tensor's type unless the number is of a higher kind: an integer tensor and
//! 0.5 give `f32`.

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply};
use crate::device::Unary;
use crate::dtype::{DType, Scalar};
use crate::ops::unary::unary;
use crate::ops::{expect_fits, floating, refuse, with_scalar};

impl Tensor {
    /// y = x + c. Integers wrap around.
    #[track_caller]
    pub fn add_scalar(&self, c: impl Into<Scalar>) -> Tensor {
        let c = c.into();
        apply(AddScalar(c), [&with_scalar(self, c)])
    }

    /// y = x − c, as x + (−c). Integers wrap around.
    ///
    /// # Panics
    /// If x or c is `bool`, as in PyTorch.
    #[track_caller]
    pub fn sub_scalar(&self, c: impl Into<Scalar>) -> Tensor {
        let c = c.into();
        if self.dtype() == DType::Bool || c.dtype() == DType::Bool {
            let message = "a bool is no number; convert it with to(), or compare to invert a mask";
            refuse("sub_scalar", &[self], message.to_string());
        }
        self.add_scalar(match c {
            Scalar::Float(c) => Scalar::Float(-c),
            _ => Scalar::Int(c.to_i64().wrapping_neg()),
        })
    }

    /// y = c · x. Integers wrap around.
    #[track_caller]
    pub fn mul_scalar(&self, c: impl Into<Scalar>) -> Tensor {
        let c = c.into();
        apply(MulScalar(c), [&with_scalar(self, c)])
    }

    /// y = x / c; IEEE 754 if c is 0. Integers give `f32`.
    #[track_caller]
    pub fn div_scalar(&self, c: impl Into<Scalar>) -> Tensor {
        let c = c.into();
        apply(DivScalar(c), [&floating(&with_scalar(self, c))])
    }

    /// The larger of x and c elementwise, as [`maximum`](Tensor::maximum) of two tensors.
    ///
    /// # Panics
    /// If c does not fit into the type of the result.
    #[track_caller]
    pub fn maximum_scalar(&self, c: impl Into<Scalar>) -> Tensor {
        let (x, c) = beside("maximum_scalar", self, c.into());
        x.maximum(&c)
    }

    /// The smaller of x and c elementwise, as [`minimum`](Tensor::minimum) of two tensors.
    ///
    /// # Panics
    /// If c does not fit into the type of the result.
    #[track_caller]
    pub fn minimum_scalar(&self, c: impl Into<Scalar>) -> Tensor {
        let (x, c) = beside("minimum_scalar", self, c.into());
        x.minimum(&c)
    }
}

/// x in the type that it has together with a number, and the number as a tensor of that type.
#[track_caller]
pub(super) fn beside(op: &'static str, x: &Tensor, c: Scalar) -> (Tensor, Tensor) {
    let x = with_scalar(x, c);
    expect_fits(op, &x, c);
    let c = Tensor::full_on(&[], c, x.dtype(), x.device());
    (x, c)
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
