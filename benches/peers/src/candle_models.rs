//! The MLP and the GPT of `steps.rs` in candle, as its own examples write them.

use candle_core::{D, Device, Module, Result, Tensor};
use candle_nn::{Embedding, Linear, VarBuilder, embedding, linear, linear_no_bias, ops};

use crate::steps::{BATCH, CONTEXT, HEADS, LAYERS, SIZES, VOCABULARY, WIDTH};

pub struct Mlp(Vec<Linear>);

impl Mlp {
    pub fn new(vars: VarBuilder) -> Result<Mlp> {
        let layers = SIZES.windows(2).enumerate();
        let layer = |(i, pair): (usize, &[usize])| linear(pair[0], pair[1], vars.pp(i));
        Ok(Mlp(layers.map(layer).collect::<Result<_>>()?))
    }

    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let (last, hidden) = self.0.split_last().expect("it has layers");
        let mut x = x.clone();
        for layer in hidden {
            x = layer.forward(&x)?.relu()?;
        }
        last.forward(&x)
    }
}

/// Its fused layer norm has no backward pass, so this one is made of operations.
struct Norm {
    weight: Tensor,
    bias: Tensor,
}

impl Norm {
    fn new(vars: VarBuilder) -> Result<Norm> {
        let of = |name, value| vars.get_with_hints(WIDTH, name, candle_nn::Init::Const(value));
        Ok(Norm { weight: of("weight", 1.0)?, bias: of("bias", 0.0)? })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        ops::layer_norm_slow(x, &self.weight, &self.bias, 1e-5)
    }
}

struct Block {
    norms: [Norm; 2],
    qkv: Linear,
    out: Linear,
    up: Linear,
    down: Linear,
}

impl Block {
    fn new(vars: VarBuilder) -> Result<Block> {
        Ok(Block {
            norms: [Norm::new(vars.pp("n1"))?, Norm::new(vars.pp("n2"))?],
            qkv: linear(WIDTH, 3 * WIDTH, vars.pp("qkv"))?,
            out: linear(WIDTH, WIDTH, vars.pp("out"))?,
            up: linear(WIDTH, 4 * WIDTH, vars.pp("up"))?,
            down: linear(4 * WIDTH, WIDTH, vars.pp("down"))?,
        })
    }

    fn forward(&self, x: &Tensor, mask: &Tensor) -> Result<Tensor> {
        let x = (x + self.attention(&self.norms[0].forward(x)?, mask)?)?;
        let hidden = self.up.forward(&self.norms[1].forward(&x)?)?.gelu_erf()?;
        x + self.down.forward(&hidden)?
    }

    fn attention(&self, x: &Tensor, mask: &Tensor) -> Result<Tensor> {
        let width = WIDTH / HEADS;
        let qkv = self.qkv.forward(x)?.reshape((BATCH, CONTEXT, 3, HEADS, width))?;
        let part = |i| qkv.narrow(2, i, 1)?.squeeze(2)?.transpose(1, 2)?.contiguous();
        let [q, k, v] = [part(0)?, part(1)?, part(2)?];
        let scores = (q.matmul(&k.t()?)? * (1.0 / (width as f64).sqrt()))?.broadcast_add(mask)?;
        let mixed = ops::softmax(&scores, D::Minus1)?.matmul(&v)?;
        self.out.forward(&mixed.transpose(1, 2)?.reshape((BATCH, CONTEXT, WIDTH))?)
    }
}

pub struct Gpt {
    tokens: Embedding,
    positions: Tensor,
    blocks: Vec<Block>,
    norm: Norm,
    head: Linear,
    /// What is added to the scores: −1e9 for keys that come later.
    mask: Tensor,
}

impl Gpt {
    pub fn new(vars: VarBuilder) -> Result<Gpt> {
        let later = |i: usize| if i % CONTEXT > i / CONTEXT { -1e9 } else { 0.0 };
        let mask: Vec<f32> = (0..CONTEXT * CONTEXT).map(later).collect();
        let normal = candle_nn::Init::Randn { mean: 0.0, stdev: 0.02 };
        let blocks = (0..LAYERS).map(|i| Block::new(vars.pp(format!("block{i}"))));
        Ok(Gpt {
            tokens: embedding(VOCABULARY, WIDTH, vars.pp("tokens"))?,
            positions: vars.get_with_hints((CONTEXT, WIDTH), "positions", normal)?,
            blocks: blocks.collect::<Result<_>>()?,
            norm: Norm::new(vars.pp("norm"))?,
            head: linear_no_bias(WIDTH, VOCABULARY, vars.pp("head"))?,
            mask: Tensor::from_vec(mask, (CONTEXT, CONTEXT), &Device::Cpu)?,
        })
    }

    pub fn forward(&self, tokens: &Tensor) -> Result<Tensor> {
        let mut x = self.tokens.forward(tokens)?.broadcast_add(&self.positions)?;
        for block in &self.blocks {
            x = block.forward(&x, &self.mask)?;
        }
        let logits = self.head.forward(&self.norm.forward(&x)?)?;
        logits.reshape((BATCH * CONTEXT, VOCABULARY))
    }
}
