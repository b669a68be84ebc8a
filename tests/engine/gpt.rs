//! The GPT that tests train on one batch: 4 layers of width 128, 8 times 64 random tokens.

use engine_room::nn::{Gpt, GptConfig, Module};
use engine_room::rng::Generator;
use engine_room::{Device, Tensor};

pub const SEED: u64 = 5;

const BATCH: usize = 8;
const CONTEXT: usize = 64;
const VOCABULARY: usize = 96;

/// The model and its batch.
pub struct Lesson {
    pub model: Gpt,
    tokens: Tensor,
    targets: Tensor,
}

impl Lesson {
    /// The same numbers on every device.
    pub fn new(device: Device, dropout: f64) -> Lesson {
        let mut generator = Generator::new(SEED);
        let config = GptConfig {
            vocab: VOCABULARY,
            context: CONTEXT,
            width: 128,
            layers: 4,
            heads: 4,
            dropout,
            tied: false,
        };
        let model = Gpt::new(&config, &mut generator);
        model.to_device(device);
        let mut random = |shape: &[usize]| {
            Tensor::randint(0, VOCABULARY as i64, shape, &mut generator).to(device)
        };
        let (tokens, targets) = (random(&[BATCH, CONTEXT]), random(&[BATCH * CONTEXT]));
        Lesson { model, tokens, targets }
    }

    /// The loss of the batch.
    pub fn loss(&self) -> Tensor {
        let logits = self.model.forward(&self.tokens);
        logits.reshape(&[BATCH * CONTEXT, VOCABULARY]).cross_entropy(&self.targets)
    }
}
