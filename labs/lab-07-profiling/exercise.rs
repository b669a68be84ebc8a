//! Lab 07, Profiling. Seven exercises.
//!
//! Replace each `exercise!(..)` by your code, and mend what 7.3 and 7.6 hand out. Grade with
//! `cargo test --test lab-07-profiling`, ask for a hint with
//! `cargo run --bin course -- hint 7.1`.
#![allow(dead_code, unused_imports, unused_variables)] // what you have not begun is silent

use engine_room::nn::Module;
use engine_room::optim::{Optimizer, Sgd};
use engine_room::{Tensor, memory};
use grading::exercise;

use super::averages::{Call, Row};
use super::kernel::{Bound, Counts, Numbers, Roofs, Verdict};
use super::spans::{Span, Times};
use super::step::{Limit, Prediction, Rule, Stack, Work};
use super::timing::{Gpu, Kernel, LONGEST_LAUNCH_NS};
use super::trace::{Event, object};
use super::training::Training;

/// 7.1 The total and the self time of each span, in the order of the list.
pub fn self_times(spans: &[Span]) -> Vec<Times> {
    exercise!("7.1")
}

/// 7.2 A row for each key, in the order in which the keys first come up.
pub fn key_averages(calls: &[Call], group_by_input_shape: bool) -> Vec<Row> {
    exercise!("7.2")
}

/// 7.3 What a call of the kernel takes the GPU once it is warm, in nanoseconds: the mean of `calls`
/// of them. As handed out it has three faults, and none of them raises an error.
pub fn kernel_ns(gpu: &mut Gpu, kernel: &mut Kernel, calls: u64) -> u64 {
    let start = gpu.now_ns();
    for _ in 0..calls {
        gpu.launch(kernel);
    }
    let end = gpu.now_ns();
    (end - start) / calls
}

/// 7.4 The events as a trace: the text of a JSON object that Perfetto and chrome://tracing open.
pub fn chrome_trace(events: &[Event]) -> String {
    exercise!("7.4")
}

/// 7.5 What bounds a kernel, and how much of that limit it reaches.
pub fn bound(counts: &Counts, roofs: &Roofs) -> Verdict {
    exercise!("7.5")
}

/// 7.6 Trains a forecast, and returns the loss of each step. As handed out it is right, and five
/// things in it make it slow.
pub fn train(run: &Training) -> Vec<f32> {
    let (samples, times) = (run.readings.shape()[0], run.readings.shape()[1]);
    let channels = run.importance.len();
    let mut optimizer = Sgd::new(run.model.parameters(), run.rate);
    let mut losses = Vec::new();
    for _ in 0..run.epochs {
        for first in (0..samples).step_by(run.batch) {
            let count = run.batch.min(samples - first);
            optimizer.zero_grad(true);
            // Each step begins with all of the memory free.
            memory::empty_cache(run.device);
            let by_channel = |x: &Tensor| {
                let turned = x.narrow(0, first, count).permute(&[0, 2, 1]);
                turned.reshape(&[count, channels * times])
            };
            let x = by_channel(&run.readings).sub(&run.mean.to(run.device));
            let forecast = run.model.forward(&x);
            let targets = by_channel(&run.targets);
            let mut parts = Vec::new();
            for channel in 0..channels {
                let wanted = targets.narrow(1, channel * times, times);
                let wrong = forecast.narrow(1, channel * times, times).sub(&wanted);
                parts.push(wrong.mul(&wrong).mean().mul_scalar(run.importance[channel]));
            }
            let loss = Tensor::stack(&parts.iter().collect::<Vec<_>>(), 0).sum();
            loss.backward();
            optimizer.step();
            losses.push(loss.item());
        }
    }
    losses
}

/// 7.7 Predict what a training step does, part by part, and who is done later.
pub fn predict(stack: &Stack, roofs: &Roofs) -> Prediction {
    exercise!("7.7")
}
