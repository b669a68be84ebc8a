//! The two models: a perceptron that sees 64 pixels, and a transformer that sees 8 rows.

use clap::ValueEnum;
use engine_room::Tensor;
use engine_room::nn::{LayerNorm, Linear, Mlp, Module, Parameter, Parts, TransformerBlock, init};
use engine_room::rng::Generator;

const PIXELS: usize = 64;
const CLASSES: usize = 10;

/// A model by its name on the command line.
#[derive(Clone, Copy, ValueEnum)]
pub enum Kind {
    /// Two hidden layers of 128 numbers.
    Mlp,
    /// One transformer block over the image's rows.
    Attention,
}

impl Kind {
    /// `mlp` or `attention`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Mlp => "mlp",
            Kind::Attention => "attention",
        }
    }

    /// The model with random weights: images `(B, 64)` → scores `(B, 10)`.
    pub fn build(self, generator: &mut Generator) -> Box<dyn Module> {
        match self {
            Kind::Mlp => Box::new(Mlp::new(&[PIXELS, 128, 128, CLASSES], generator)),
            Kind::Attention => Box::new(RowReader::new(generator)),
        }
    }
}

const SIDE: usize = 8;
const WIDTH: usize = 32;
const HEADS: usize = 4;

/// Reads an image as 8 tokens, its rows. A token alone does not say which row it is, and attention
/// does not care about the order, so each place in the image adds its own learned numbers.
struct RowReader {
    embedding: Linear,
    /// `(8, width)`.
    position: Parameter,
    block: TransformerBlock,
    norm: LayerNorm,
    head: Linear,
}

impl RowReader {
    fn new(generator: &mut Generator) -> RowReader {
        let position = Tensor::zeros(&[SIDE, WIDTH]);
        init::normal_(&position, 0.0, 0.2, generator);
        RowReader {
            embedding: Linear::new(SIDE, WIDTH, true, generator),
            position: Parameter::new(position),
            block: TransformerBlock::new(WIDTH, HEADS, false, 0.0, generator),
            norm: LayerNorm::new(&[WIDTH]),
            head: Linear::new(WIDTH, CLASSES, true, generator),
        }
    }
}

impl Module for RowReader {
    fn parts(&self) -> Parts<'_> {
        Parts::new()
            .module("embedding", &self.embedding)
            .parameter("position", &self.position)
            .module("block", &self.block)
            .module("norm", &self.norm)
            .module("head", &self.head)
    }

    /// x: `(B, 64)` → `(B, 10)`.
    fn forward(&self, x: &Tensor) -> Tensor {
        let rows = x.reshape(&[x.shape()[0], SIDE, SIDE]);
        let tokens = self.embedding.forward(&rows).add(&self.position.get());
        let read = self.norm.forward(&self.block.forward(&tokens));
        self.head.forward(&read.mean_dims(&[1], false))
    }
}
