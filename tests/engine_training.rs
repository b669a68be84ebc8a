//! A GPT learns one batch by heart: in f32, in bf16 under autocast, and in f16 with a scaled loss.
//! Its tokens are random: what the targets are can only be remembered. Named in .ci/run: it trains
//! for some seconds.

#[path = "engine/gpt.rs"]
mod gpt;

use engine_room::amp::{GradScaler, autocast};
use engine_room::nn::Module;
use engine_room::optim::{AdamW, Optimizer};
use engine_room::{DType, Device};
use gpt::{Lesson, SEED};

const STEPS: usize = 150;

/// Steps until the loss is below 0.05.
fn steps_to_remember(half: Option<DType>) -> usize {
    let lesson = Lesson::new(Device::Cpu, 0.0);
    let mut optimizer = AdamW::new(lesson.model.parameters(), 3e-3);
    let mut scaler = (half == Some(DType::F16)).then(GradScaler::new);
    let loss = || lesson.loss();
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
