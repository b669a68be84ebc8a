//! The language model that the experiments train: a GPT on texts that count upwards.

use engine_room::nn::{Gpt, GptConfig, Module};
use engine_room::optim::{AdamW, Optimizer};
use engine_room::rng::Generator;
use engine_room::{Device, Tensor};

/// Four blocks on texts of 128 tokens.
pub const SMALL: GptConfig = GptConfig {
    vocab: 512,
    context: 128,
    width: 64,
    layers: 4,
    heads: 4,
    dropout: 0.0,
    tied: true,
};

/// A model and its optimizer on a device.
pub struct Trainer {
    pub config: GptConfig,
    pub model: Gpt,
    pub optimizer: AdamW,
    device: Device,
}

impl Trainer {
    /// With the blocks recomputed whose number `again` accepts.
    pub fn new(
        config: &GptConfig,
        again: impl Fn(usize) -> bool,
        device: Device,
        seed: u64,
    ) -> Trainer {
        let model = Gpt::new(config, &mut Generator::new(seed)).recompute_blocks(again);
        model.to_device(device);
        let optimizer = AdamW::new(model.parameters(), 1e-3);
        Trainer { config: config.clone(), model, optimizer, device }
    }

    /// `batch` texts of full length, and for each place the token that comes next.
    pub fn texts(&self, batch: usize) -> (Tensor, Tensor) {
        let GptConfig { vocab, context, .. } = self.config;
        let token = |i: usize| ((i % context) * (i / context + 1) % vocab) as i64;
        let text: Vec<i64> = (0..batch * context).map(token).collect();
        let next: Vec<i64> = (0..batch * context).map(|i| token(i + 1)).collect();
        let x = Tensor::from_vec(text, &[batch, context]).to(self.device);
        (x, Tensor::from_vec(next, &[batch * context]).to(self.device))
    }

    /// The mean loss of a batch.
    pub fn loss(&self, x: &Tensor, y: &Tensor) -> Tensor {
        let logits = self.model.forward(x);
        logits.reshape(&[y.numel(), self.config.vocab]).cross_entropy(y)
    }

    /// One iteration on `batch` texts, after which the gradients are still there. If `parts` is
    /// more than 1, the batch goes through in so many parts and their gradients add up.
    pub fn iterate(&mut self, batch: usize, parts: usize) {
        self.optimizer.zero_grad(true);
        for _ in 0..parts {
            let (x, y) = self.texts(batch / parts);
            self.loss(&x, &y).div_scalar(parts as f64).backward();
        }
        self.optimizer.step();
    }
}
