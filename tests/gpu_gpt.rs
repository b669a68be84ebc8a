//! One step of the GPT of engine_training.rs on the GPU and on the CPU: the loss, every gradient
//! and every parameter after AdamW. Named in .ci/run.

#[path = "gpu/agree.rs"]
mod agree;
#[path = "engine/gpt.rs"]
mod gpt;

use agree::{difference, gpu};
use engine_room::amp::autocast;
use engine_room::nn::Module;
use engine_room::optim::{AdamW, Optimizer};
use engine_room::rng::manual_seed;
use engine_room::{DType, Device, Tensor};
use gpt::{Lesson, SEED};

/// The loss before the step, the gradients, and the parameters after it, by name.
fn step(device: Device, half: Option<DType>, dropout: f64) -> Vec<(String, Tensor)> {
    manual_seed(SEED);
    let lesson = Lesson::new(device, dropout);
    let mut optimizer = AdamW::new(lesson.model.parameters(), 3e-3);
    let loss = || lesson.loss();
    let loss = half.map_or_else(loss, |half| autocast(half, loss));
    loss.backward();
    optimizer.step();
    let mut found = vec![("the loss".to_string(), loss.detach())];
    for (name, parameter) in lesson.model.named_parameters() {
        let x = parameter.get();
        found.push((format!("the gradient of {name}"), x.grad().expect("it was trained")));
        found.push((format!("{name} after the step"), x.detach()));
    }
    found
}

/// AdamW's first step is lr · g / |g|: where a gradient is all rounding, its sign is as well, and
/// parameters differ by up to twice the learning rate there. So the parameters are compared by
/// what most of them say, the gradients by all. A bias of the keys adds one number to all scores
/// of a query, which softmax does not see: all of its gradient is rounding.
fn compare(half: Option<DType>, dropout: f64, tolerance: f64) {
    let (here, there) = (step(Device::Cpu, half, dropout), step(gpu(), half, dropout));
    assert_eq!(here.len(), there.len());
    for ((name, want), (_, got)) in here.iter().zip(&there) {
        assert_eq!(got.device(), gpu(), "{name}");
        if name.ends_with("qkv.bias after the step") {
            continue;
        }
        if name.ends_with("after the step") {
            let apart = got.to(Device::Cpu).sub(want).abs();
            let many = apart.gt_scalar(1e-4).to(DType::F32).mean().item();
            assert!(many < 0.02, "{name}: {many} of the numbers differ");
        } else if let Some(difference) = difference(got, want, tolerance) {
            panic!("{half:?}, seed {SEED}: {name}: {difference}");
        }
    }
}

#[test]
fn a_step_of_a_gpt_in_f32() {
    compare(None, 0.0, 1e-5);
}

#[test]
fn a_step_with_dropout_draws_the_same_numbers() {
    compare(None, 0.1, 1e-5);
}

#[test]
fn a_step_of_a_gpt_in_bf16_under_autocast() {
    compare(Some(DType::BF16), 0.0, 2e-2);
}
