//! Functions without parameters as modules, for a [`Sequential`](crate::nn::Sequential). Elsewhere
//! the method of the tensor is shorter.

use crate::Tensor;
use crate::nn::{Module, Parts};

/// [`Tensor::relu`] as a module.
pub struct Relu;

impl Module for Relu {
    fn parts(&self) -> Parts<'_> {
        Parts::new()
    }

    fn forward(&self, x: &Tensor) -> Tensor {
        x.relu()
    }
}

/// [`Tensor::gelu`] as a module, the exact one.
pub struct Gelu;

impl Module for Gelu {
    fn parts(&self) -> Parts<'_> {
        Parts::new()
    }

    fn forward(&self, x: &Tensor) -> Tensor {
        x.gelu()
    }
}

/// [`Tensor::silu`] as a module.
pub struct Silu;

impl Module for Silu {
    fn parts(&self) -> Parts<'_> {
        Parts::new()
    }

    fn forward(&self, x: &Tensor) -> Tensor {
        x.silu()
    }
}

/// [`Tensor::tanh`] as a module.
pub struct Tanh;

impl Module for Tanh {
    fn parts(&self) -> Parts<'_> {
        Parts::new()
    }

    fn forward(&self, x: &Tensor) -> Tensor {
        x.tanh()
    }
}
