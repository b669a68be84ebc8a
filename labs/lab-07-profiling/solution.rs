//! Lab 07, Profiling. Seven exercises.
//!
//! Replace each `exercise!(..)` by your code, and mend what 7.3 and 7.6 hand out. Grade with
//! `cargo test --test lab-07-profiling`, ask for a hint with
//! `cargo run --bin course -- hint 7.1`.
#![allow(dead_code, unused_imports, unused_variables)] // what you have not begun is silent

use engine_room::nn::Module;
use engine_room::optim::{Optimizer, Sgd};
use engine_room::{Tensor, memory};
// STUB use grading::exercise;

use super::averages::{Call, Row};
use super::spans::{Span, Times};
use super::training::Training;

/// 7.1 The total and the self time of each span, in the order of the list.
pub fn self_times(spans: &[Span]) -> Vec<Times> {
    // SOLUTION 7.1
    Vec::new()
    // END
}

/// 7.2 A row for each key, in the order in which the keys first come up.
pub fn key_averages(calls: &[Call], group_by_input_shape: bool) -> Vec<Row> {
    // SOLUTION 7.2
    Vec::new()
    // END
}

/// 7.6 Trains a forecast, and returns the loss of each step. As handed out it is right, and five
/// things in it make it slow.
pub fn train(run: &Training) -> Vec<f32> {
    let (samples, times) = (run.readings.shape()[0], run.readings.shape()[1]);
    let channels = run.importance.len();
    let mut optimizer = Sgd::new(run.model.parameters(), run.rate);
    let mut losses = Vec::new();
    // SOLUTION 7.6
    let readings = run.readings.permute(&[0, 2, 1]).reshape(&[samples, channels * times]);
    let readings = readings.sub(&run.mean.to(run.device));
    let importance = Tensor::from_vec(run.importance.clone(), &[channels]).to(run.device);
    // END
    for _ in 0..run.epochs {
        for first in (0..samples).step_by(run.batch) {
            let count = run.batch.min(samples - first);
            // SOLUTION
            let x = readings.narrow(0, first, count);
            let targets = run.targets.narrow(0, first, count);
            let wrong = run.model.forward(&x).sub(&targets).view(&[count, channels, times]);
            let of_channels = wrong.mul(&wrong).mean_dims(&[0, 2], false);
            let loss = of_channels.mul(&importance).sum();
            // STUB // The readings of a sample, channel by channel, without their mean.
            // STUB let x = run.readings.narrow(0, first, count).permute(&[0, 2, 1]);
            // STUB let x = x.reshape(&[count, channels * times]).sub(&run.mean.to(run.device));
            // STUB let forecast = run.model.forward(&x);
            // STUB let targets = run.targets.narrow(0, first, count);
            // STUB // The error of each channel, as far as it counts.
            // STUB let mut parts = Vec::new();
            // STUB for channel in 0..channels {
            // STUB     let wanted = targets.narrow(1, channel * times, times);
            // STUB     let wrong = forecast.narrow(1, channel * times, times).sub(&wanted);
            // STUB     parts.push(wrong.mul(&wrong).mean().mul_scalar(run.importance[channel]));
            // STUB }
            // STUB let loss = Tensor::stack(&parts.iter().collect::<Vec<_>>(), 0).sum();
            // END
            optimizer.zero_grad(true);
            loss.backward();
            optimizer.step();
            // SOLUTION
            losses.push(loss.detach());
            // STUB losses.push(loss.item());
            // STUB // What this step has used is for the next one to have.
            // STUB memory::empty_cache(run.device);
            // END
        }
    }
    // SOLUTION
    losses.iter().map(Tensor::item).collect()
    // STUB losses
    // END
}
