//! Multi-head self-attention.

use crate::Tensor;
use crate::error::misuse;
use crate::nn::{Linear, Module, Parameter, Parts, init};
use crate::ops::Attention;
use crate::rng::Generator;

/// Self-attention with several heads: `(B, T, width) → (B, T, width)`. Each head attends within
/// its own `width / heads` numbers of the queries, keys and values.
///
/// Source: A. Vaswani et al., "Attention Is All You Need", 2017.
pub struct MultiHeadAttention {
    /// Queries, keys and values from one product: `(3 · width, width)`, rows in this order.
    pub qkv: Linear,
    /// What joins the heads: `(width, width)`.
    pub out_proj: Linear,
    heads: usize,
    causal: bool,
}

impl MultiHeadAttention {
    /// If `causal`, a token sees itself and those before it only. PyTorch's initialisation:
    /// Xavier's for the first product, both biases 0.
    ///
    /// # Panics
    /// If the width is not a multiple of the number of heads.
    #[track_caller]
    pub fn new(
        width: usize,
        heads: usize,
        causal: bool,
        generator: &mut Generator,
    ) -> MultiHeadAttention {
        if heads == 0 || !width.is_multiple_of(heads) {
            let what = format!("width {width}, {heads} heads");
            let message = "each head takes an equal share of the width; make it a multiple of the \
                           number of heads";
            misuse("MultiHeadAttention::new", &[&what], message.to_string());
        }
        let weight = Tensor::zeros(&[3 * width, width]);
        init::xavier_uniform_(&weight, generator);
        let zeros = |size| Some(Parameter::new(Tensor::zeros(&[size])));
        let qkv = Linear { weight: Parameter::new(weight), bias: zeros(3 * width) };
        let out_proj = Linear { bias: zeros(width), ..Linear::new(width, width, false, generator) };
        MultiHeadAttention { qkv, out_proj, heads, causal }
    }
}

impl Module for MultiHeadAttention {
    fn parts(&self) -> Parts<'_> {
        Parts::new().module("qkv", &self.qkv).module("out_proj", &self.out_proj)
    }

    /// x: `(B, T, width)` → the same.
    fn forward(&self, x: &Tensor) -> Tensor {
        let width = self.out_proj.weight.get().shape()[0];
        let (batch, time) = match *x.shape() {
            [batch, time, last] if last == width => (batch, time),
            _ => {
                let message = format!("the layer takes (batch, time, {width})");
                misuse("MultiHeadAttention::forward", &[&x.brief()], message)
            }
        };
        // (B, T, 3 · width) → (3, B, heads, T, width / heads), as views.
        let split = [batch, time, 3, self.heads, width / self.heads];
        let qkv = self.qkv.call("qkv", x).reshape(&split).permute(&[2, 0, 3, 1, 4]);
        let [q, k, v] = [0, 1, 2].map(|i| qkv.select(0, i));
        let options = Attention { causal: self.causal, ..Attention::default() };
        let y = q.scaled_dot_product_attention(&k, &v, options);
        self.out_proj.call("out_proj", &y.transpose(1, 2).reshape(&[batch, time, width]))
    }
}
