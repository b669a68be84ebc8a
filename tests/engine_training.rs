//! A GPT learns one batch by heart: in f32, in bf16 under autocast, and in f16 with a scaled loss.
//! Batch 8, 64 tokens, width 128, 4 layers, random tokens: what the targets are can only be
//! remembered. Named in .ci/run: it trains for some seconds.

use engine_room::amp::{GradScaler, autocast};
use engine_room::nn::{Gpt, GptConfig, Module};
use engine_room::optim::{AdamW, Optimizer};
use engine_room::rng::Generator;
use engine_room::{DType, Tensor};

const BATCH: usize = 8;
const CONTEXT: usize = 64;
const VOCABULARY: usize = 96;
const SEED: u64 = 5;
const STEPS: usize = 150;

/// Steps until the loss is below 0.05.
fn steps_to_remember(half: Option<DType>) -> usize {
    let mut generator = Generator::new(SEED);
    let config = GptConfig {
        vocab: VOCABULARY,
        context: CONTEXT,
        width: 128,
        layers: 4,
        heads: 4,
        dropout: 0.0,
        tied: false,
    };
    let model = Gpt::new(&config, &mut generator);
    let mut tokens = |shape: &[usize]| Tensor::randint(0, VOCABULARY as i64, shape, &mut generator);
    let (x, y) = (tokens(&[BATCH, CONTEXT]), tokens(&[BATCH * CONTEXT]));
    let mut optimizer = AdamW::new(model.parameters(), 3e-3);
    let mut scaler = (half == Some(DType::F16)).then(GradScaler::new);
    let loss = || model.forward(&x).reshape(&[BATCH * CONTEXT, VOCABULARY]).cross_entropy(&y);
    let mut last = f32::NAN;
    for step in 1..=STEPS {
        optimizer.zero_grad(true);
        let loss = half.map_or_else(loss, |half| autocast(half, loss));
        last = loss.item();
        if last < 0.05 {
            return step;
        }
        match &mut scaler {
            Some(scaler) => {
                scaler.scale(&loss).backward();
                scaler.step(&mut optimizer);
                scaler.update();
            }
            None => {
                loss.backward();
                optimizer.step();
            }
        }
    }
    panic!("{half:?}, seed {SEED}: the loss is still {last} after {STEPS} steps")
}

#[test]
fn a_gpt_remembers_a_batch_in_f32() {
    println!("f32: {} steps", steps_to_remember(None));
}

#[test]
fn a_gpt_remembers_a_batch_in_bf16_under_autocast() {
    println!("bf16: {} steps", steps_to_remember(Some(DType::BF16)));
}

#[test]
fn a_gpt_remembers_a_batch_in_f16_with_a_scaled_loss() {
    println!("f16: {} steps", steps_to_remember(Some(DType::F16)));
}
