//! Conversions: to another type of elements, or to another device.

use crate::Tensor;
use crate::autograd::{Ctx, Op, apply};
use crate::device::Device;
use crate::dtype::DType;

/// What a tensor is converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To {
    /// Another type of elements.
    DType(DType),
    /// Another device.
    Device(Device),
}

impl From<DType> for To {
    fn from(dtype: DType) -> To {
        To::DType(dtype)
    }
}

impl From<Device> for To {
    fn from(device: Device) -> To {
        To::Device(device)
    }
}

impl Tensor {
    /// The tensor with elements of another type, or on another device: the tensor itself if it has
    /// that type or is there already, else a copy. [`Scalar`](crate::Scalar) has the rules for
    /// casts. The gradient takes the same way back.
    #[track_caller]
    pub fn to(&self, target: impl Into<To>) -> Tensor {
        match target.into() {
            To::DType(to) if to == self.dtype() => self.clone(),
            To::DType(to) => apply(Cast { from: self.dtype(), to }, [self]),
            To::Device(device) if device == self.device() => self.clone(),
            To::Device(to) => apply(Move { from: self.device(), to }, [self]),
        }
    }
}

/// y = x in another type. Shapes: any → the same. Gradient: dx = dy in x's type. Saves nothing.
struct Cast {
    from: DType,
    to: DType,
}

impl Op<1> for Cast {
    fn name(&self) -> &'static str {
        "to"
    }

    fn forward(&self, _: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        Tensor::packed(x.device().backend().copy(x.view_of(), self.to), x.shape())
    }

    fn backward(&self, _: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(dy.to(self.from))]
    }
}

/// y = x on another device. Shapes: any → the same. Gradient: dx = dy on x's device. Saves nothing.
struct Move {
    from: Device,
    to: Device,
}

impl Op<1> for Move {
    fn name(&self) -> &'static str {
        "to"
    }

    fn forward(&self, _: &mut Ctx, [x]: [&Tensor; 1]) -> Tensor {
        x.moved_to(self.to)
    }

    fn backward(&self, _: &Ctx, dy: &Tensor) -> [Option<Tensor>; 1] {
        [Some(dy.to(self.from))]
    }
}
