//! A language model: a small GPT.
//!
//! Source: A. Radford et al., "Language Models are Unsupervised Multitask Learners", 2019 (GPT-2).

use crate::Tensor;
use crate::dtype::DType;
use crate::error::misuse;
use crate::nn::{
    Dropout, Embedding, LayerNorm, Linear, Module, Parts, Recomputed, TransformerBlock, init,
};
use crate::rng::Generator;

/// How large a [`Gpt`] is.
#[derive(Debug, Clone, PartialEq)]
pub struct GptConfig {
    /// How many different tokens there are.
    pub vocab: usize,
    /// The longest text that it can read, in tokens.
    pub context: usize,
    /// Numbers for each token.
    pub width: usize,
    /// Transformer blocks.
    pub layers: usize,
    /// Heads of each attention; they share the width.
    pub heads: usize,
    /// The probability of [`Dropout`], after the embeddings and in the blocks.
    pub dropout: f64,
    /// Whether the head has the same weight as the token embedding.
    pub tied: bool,
}

/// Tokens `(B, T)` → logits `(B, T, vocab)`: at each place, a number for each token that could come
/// next.
pub struct Gpt {
    tokens: Embedding,
    positions: Embedding,
    dropout: Dropout,
    blocks: Vec<Block>,
    norm: LayerNorm,
    head: Linear,
}

impl Gpt {
    /// With GPT-2's initialisation: weights are normal with standard deviation 0.02, biases 0.
    ///
    /// Each block adds two terms to x. The weights that these come from are divided by √(2 ·
    /// layers), so that their sum begins as large in a deep model as in a shallow one.
    ///
    /// # Panics
    /// If the width is not a multiple of the number of heads, or dropout no probability.
    #[track_caller]
    pub fn new(config: &GptConfig, generator: &mut Generator) -> Gpt {
        let GptConfig { vocab, context, width, layers, heads, dropout, tied } = *config;
        let mut blocks = Vec::new();
        for _ in 0..layers {
            blocks
                .push(Block::Plain(TransformerBlock::new(width, heads, true, dropout, generator)));
        }
        let tokens = Embedding::new(vocab, width, generator);
        let head = match tied {
            true => Linear { weight: tokens.weight.clone(), bias: None },
            false => Linear::new(width, vocab, false, generator),
        };
        let gpt = Gpt {
            tokens,
            positions: Embedding::new(context, width, generator),
            dropout: Dropout::new(dropout),
            blocks,
            norm: LayerNorm::new(&[width]),
            head,
        };
        gpt.initialise(generator);
        gpt
    }

    /// Lets the blocks whose number `which` accepts keep only their input for the backward pass,
    /// and compute once more for the rest (see [`recompute`](crate::recompute)).
    pub fn recompute_blocks(mut self, which: impl Fn(usize) -> bool) -> Gpt {
        let choose = |(i, block)| match block {
            Block::Plain(block) if which(i) => Block::Recomputed(Recomputed::new(block)),
            block => block,
        };
        self.blocks = self.blocks.into_iter().enumerate().map(choose).collect();
        self
    }

    fn initialise(&self, generator: &mut Generator) {
        let usual = 0.02;
        let residual = usual / (2.0 * self.blocks.len() as f32).sqrt();
        for (name, parameter) in self.named_parameters() {
            let x = parameter.get();
            if name.ends_with("bias") {
                x.detach().zero_();
            } else if name.ends_with("out_proj.weight") || name.ends_with("linear2.weight") {
                init::normal_(&x, 0.0, residual, generator);
            } else if x.shape().len() == 2 {
                init::normal_(&x, 0.0, usual, generator);
            }
        }
    }
}

/// A block, and what becomes of what it computes.
enum Block {
    Plain(TransformerBlock),
    Recomputed(Recomputed<TransformerBlock>),
}

impl Module for Block {
    fn parts(&self) -> Parts<'_> {
        match self {
            Block::Plain(block) => block.parts(),
            Block::Recomputed(block) => block.parts(),
        }
    }

    fn type_name(&self) -> &'static str {
        match self {
            Block::Plain(block) => block.type_name(),
            Block::Recomputed(block) => block.type_name(),
        }
    }

    fn forward(&self, x: &Tensor) -> Tensor {
        match self {
            Block::Plain(block) => block.forward(x),
            Block::Recomputed(block) => block.forward(x),
        }
    }
}

impl Module for Gpt {
    fn parts(&self) -> Parts<'_> {
        Parts::new()
            .module("tokens", &self.tokens)
            .module("positions", &self.positions)
            .module("dropout", &self.dropout)
            .modules("blocks", &self.blocks)
            .module("norm", &self.norm)
            .module("head", &self.head)
    }

    /// x: tokens `(B, T)`, integers → `(B, T, vocab)`.
    fn forward(&self, x: &Tensor) -> Tensor {
        let [vocab, context] = [&self.tokens, &self.positions].map(|it| it.weight.get().shape()[0]);
        let time = match (x.shape(), x.dtype()) {
            (&[_, time], DType::I64 | DType::I32) if time <= context => time,
            _ => {
                let message = format!(
                    "the model takes tokens (batch, time): integers below {vocab}, time at most \
                     {context}"
                );
                misuse("Gpt::forward", &[&x.brief()], message)
            }
        };
        let places = self.positions.weight.get().narrow(0, 0, time);
        let embedded = self.tokens.call("tokens", x).add(&places);
        let mut h = self.dropout.call("dropout", &embedded);
        for (i, block) in self.blocks.iter().enumerate() {
            h = block.call_nth("blocks", i, &h);
        }
        self.head.call("head", &self.norm.call("norm", &h))
    }
}
