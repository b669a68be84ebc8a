//! The multi-layer perceptron.

use crate::Tensor;
use crate::error::misuse;
use crate::nn::{Linear, Module, Parts};
use crate::rng::Generator;

/// Linear layers with a relu after each but the last.
pub struct Mlp {
    layers: Vec<Linear>,
}

impl Mlp {
    /// With these sizes: `[784, 256, 10]` makes two layers, from 784 numbers to 256 to 10.
    ///
    /// # Panics
    /// If there are fewer than two sizes.
    #[track_caller]
    pub fn new(sizes: &[usize], generator: &mut Generator) -> Mlp {
        if sizes.len() < 2 {
            let message = "needs two sizes or more: of the input, in between, of the output";
            misuse("Mlp::new", &[&format!("{sizes:?}")], message.to_string());
        }
        let layer = |pair: &[usize]| Linear::new(pair[0], pair[1], true, generator);
        Mlp { layers: sizes.windows(2).map(layer).collect() }
    }
}

impl Module for Mlp {
    fn parts(&self) -> Parts<'_> {
        Parts::new().modules("layers", &self.layers)
    }

    /// x: `(.., first size)` → `(.., last size)`.
    fn forward(&self, x: &Tensor) -> Tensor {
        let mut y = self.layers[0].call_nth("layers", 0, x);
        for (i, layer) in self.layers.iter().enumerate().skip(1) {
            y = layer.call_nth("layers", i, &y.relu());
        }
        y
    }
}
