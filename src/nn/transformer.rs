//! The transformer block.

use crate::Tensor;
use crate::nn::{Dropout, LayerNorm, Linear, Module, MultiHeadAttention, Parts};
use crate::rng::Generator;

/// x + attention(norm(x)), and then x + mlp(norm(x)), where the mlp goes through four times the
/// width and [`gelu`](Tensor::gelu): `(B, T, width) → (B, T, width)`.
///
/// The norms come before ("pre-norm"), so that a gradient reaches the first block by additions
/// alone. Source: R. Xiong et al., "On Layer Normalization in the Transformer Architecture", 2020.
pub struct TransformerBlock {
    norm1: LayerNorm,
    self_attn: MultiHeadAttention,
    norm2: LayerNorm,
    linear1: Linear,
    linear2: Linear,
    dropout: Dropout,
}

impl TransformerBlock {
    /// `dropout` is the probability with which a number of either term that is added to x becomes
    /// 0 in training; the weights of the attention are not dropped. If `causal`, a token sees
    /// itself and those before it only.
    ///
    /// # Panics
    /// As [`MultiHeadAttention::new`] and [`Dropout::new`].
    #[track_caller]
    pub fn new(
        width: usize,
        heads: usize,
        causal: bool,
        dropout: f64,
        generator: &mut Generator,
    ) -> TransformerBlock {
        TransformerBlock {
            norm1: LayerNorm::new(&[width]),
            self_attn: MultiHeadAttention::new(width, heads, causal, generator),
            norm2: LayerNorm::new(&[width]),
            linear1: Linear::new(width, 4 * width, true, generator),
            linear2: Linear::new(4 * width, width, true, generator),
            dropout: Dropout::new(dropout),
        }
    }
}

impl Module for TransformerBlock {
    fn parts(&self) -> Parts<'_> {
        Parts::new()
            .module("norm1", &self.norm1)
            .module("self_attn", &self.self_attn)
            .module("norm2", &self.norm2)
            .module("linear1", &self.linear1)
            .module("linear2", &self.linear2)
            .module("dropout", &self.dropout)
    }

    /// x: `(B, T, width)` → the same.
    fn forward(&self, x: &Tensor) -> Tensor {
        let attended = self.self_attn.call("self_attn", &self.norm1.call("norm1", x));
        let x = x.add(&self.dropout.call("dropout", &attended));
        let hidden = self.linear1.call("linear1", &self.norm2.call("norm2", &x)).gelu();
        x.add(&self.dropout.call("dropout", &self.linear2.call("linear2", &hidden)))
    }
}
