//! The small network of lab 03: as many hidden layers as you like, on the engine's operations.

use engine_room::rng::Generator;
use engine_room::{Device, Tensor};

/// The sizes of a network and of one batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Rows of the input: images in a batch.
    pub batch: usize,
    /// Numbers in a row of the input.
    pub inputs: usize,
    /// Numbers in a row of each hidden layer.
    pub width: usize,
    /// Hidden layers.
    pub depth: usize,
    /// Numbers in a row of the output: one score a class.
    pub classes: usize,
}

/// A weight `(from, to)` and a bias `(to)` for each layer.
pub struct Network {
    /// Hidden layers first, then the output layer.
    pub layers: Vec<(Tensor, Tensor)>,
}

impl Network {
    /// Random weights, small enough that a relu network of any width passes its signal on (He et
    /// al., 2015: standard deviation √(2 / inputs of the layer)), and biases of zero.
    pub fn new(sizes: &Sizes, generator: &mut Generator) -> Network {
        let mut widths = vec![sizes.inputs];
        widths.extend(vec![sizes.width; sizes.depth]);
        widths.push(sizes.classes);
        let layer = |pair: &[usize]| {
            let scale = (2.0 / pair[0] as f32).sqrt();
            let weight = Tensor::randn(pair, generator).mul_scalar(scale);
            (weight.requires_grad_(true), Tensor::zeros(&[pair[1]]).requires_grad_(true))
        };
        Network { layers: widths.windows(2).map(layer).collect() }
    }

    /// The network with its parameters on a device.
    pub fn to(&self, device: Device) -> Network {
        let to = |x: &Tensor| x.detach().to(device).requires_grad_(true);
        Network {
            layers: self.layers.iter().map(|(weight, bias)| (to(weight), to(bias))).collect(),
        }
    }

    /// Images `(batch, inputs)` → scores `(batch, classes)`.
    pub fn forward(&self, images: &Tensor) -> Tensor {
        let (last, hidden) = self.layers.split_last().expect("there is always an output layer");
        let mut h = images.clone();
        for (weight, bias) in hidden {
            h = h.matmul(weight).add(bias).relu();
        }
        h.matmul(&last.0).add(&last.1)
    }

    /// Every weight and bias.
    pub fn parameters(&self) -> impl Iterator<Item = &Tensor> {
        self.layers.iter().flat_map(|(weight, bias)| [weight, bias])
    }

    /// One step of gradient descent, after which no parameter has a gradient.
    pub fn step(&self, learning_rate: f32) {
        engine_room::no_grad(|| {
            for parameter in self.parameters() {
                if let Some(grad) = parameter.grad() {
                    parameter.add_(&grad, -learning_rate);
                    parameter.zero_grad();
                }
            }
        });
    }
}
