//! Layer normalisation and RMSNorm.

use crate::Tensor;
use crate::dtype::DType;
use crate::error::misuse;
use crate::nn::{Module, Parameter, Parts};

/// Each row with mean 0 and variance 1, times a weight, plus a bias: see [`Tensor::layer_norm`].
pub struct LayerNorm {
    /// Of the last dimensions; 1 at first.
    pub weight: Parameter,
    /// Of the last dimensions; 0 at first.
    pub bias: Parameter,
    /// ε, which is added to the variance: 1e-5 at first.
    pub eps: f64,
}

impl LayerNorm {
    /// Over the last dimensions, which have these sizes: `&[768]`.
    #[track_caller]
    pub fn new(normalized_shape: &[usize]) -> LayerNorm {
        let weight = Parameter::new(Tensor::ones(normalized_shape));
        LayerNorm { weight, bias: Parameter::new(Tensor::zeros(normalized_shape)), eps: 1e-5 }
    }
}

impl Module for LayerNorm {
    fn parts(&self) -> Parts<'_> {
        Parts::new().parameter("weight", &self.weight).parameter("bias", &self.bias)
    }

    /// x: `(.., normalized_shape)` → the same.
    fn forward(&self, x: &Tensor) -> Tensor {
        let weight = self.weight.get();
        expect_rows("LayerNorm::forward", x, weight.shape());
        x.layer_norm(weight.shape(), Some(&weight), Some(&self.bias.get()), self.eps)
    }
}

/// Each row divided by the root of its mean square, times a weight: see [`Tensor::rms_norm`].
pub struct RmsNorm {
    /// Of the last dimensions; 1 at first.
    pub weight: Parameter,
    /// ε, which is added to the mean square. `None`, as it is at first, stands for the distance
    /// from 1 to the next number of the type that x is computed in, as in PyTorch: 1.19e-7, and
    /// 2.2e-16 for `f64`.
    pub eps: Option<f64>,
}

impl RmsNorm {
    /// Over the last dimensions, which have these sizes: `&[768]`.
    #[track_caller]
    pub fn new(normalized_shape: &[usize]) -> RmsNorm {
        let weight = Parameter::new(Tensor::ones(normalized_shape));
        RmsNorm { weight, eps: None }
    }
}

impl Module for RmsNorm {
    fn parts(&self) -> Parts<'_> {
        Parts::new().parameter("weight", &self.weight)
    }

    /// x: `(.., normalized_shape)` → the same.
    fn forward(&self, x: &Tensor) -> Tensor {
        let weight = self.weight.get();
        expect_rows("RmsNorm::forward", x, weight.shape());
        let smallest = if x.dtype() == DType::F64 { f64::EPSILON } else { f32::EPSILON.into() };
        x.rms_norm(weight.shape(), Some(&weight), self.eps.unwrap_or(smallest))
    }
}

#[track_caller]
fn expect_rows(op: &'static str, x: &Tensor, sizes: &[usize]) {
    if !x.shape().ends_with(sizes) {
        let message = format!("the layer normalises the last dimensions, which must be {sizes:?}");
        misuse(op, &[&x.brief()], message);
    }
}
