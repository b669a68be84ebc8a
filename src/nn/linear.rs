//! The linear layer.

use crate::Tensor;
use crate::error::misuse;
use crate::nn::{Module, Parameter, Parts, init};
use crate::rng::Generator;

/// y = x · wᵀ + b: `(.., inputs) → (.., outputs)`.
pub struct Linear {
    /// w: `(outputs, inputs)`.
    pub weight: Parameter,
    /// b: `(outputs)`, if there is one.
    pub bias: Option<Parameter>,
}

impl Linear {
    /// With PyTorch's initialisation: weight and bias are uniform in ±1/√inputs. The bound comes
    /// from the Kaiming formula with a = √5.
    pub fn new(inputs: usize, outputs: usize, bias: bool, generator: &mut Generator) -> Linear {
        let weight = Tensor::zeros(&[outputs, inputs]);
        init::kaiming_uniform_(&weight, 5f32.sqrt(), generator);
        let bias = bias.then(|| {
            let bias = Tensor::zeros(&[outputs]);
            let bound = 1.0 / (inputs as f32).sqrt();
            init::uniform_(&bias, -bound, bound, generator);
            Parameter::new(bias)
        });
        Linear { weight: Parameter::new(weight), bias }
    }
}

impl Module for Linear {
    fn parts(&self) -> Parts<'_> {
        Parts::new().parameter("weight", &self.weight).parameter("bias", self.bias.as_ref())
    }

    /// x: `(.., inputs)` → `(.., outputs)`.
    fn forward(&self, x: &Tensor) -> Tensor {
        let weight = self.weight.get();
        if x.shape().last() != weight.shape().last() {
            let (outputs, inputs) = (weight.shape()[0], weight.shape()[1]);
            let message = format!(
                "the layer makes (.., {outputs}) of (.., {inputs}), so the last dimension must be \
                 {inputs}"
            );
            misuse("Linear::forward", &[&x.brief()], message);
        }
        let bias = self.bias.as_ref().map(Parameter::get);
        x.linear(&weight, bias.as_ref())
    }
}
