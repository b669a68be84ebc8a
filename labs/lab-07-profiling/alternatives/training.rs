//! Other loops of 7.6 that keep the device busy.

use engine_room::nn::Module;
use engine_room::optim::{Optimizer, Sgd};
use engine_room::{Device, Tensor};

use super::super::training::Training;
use super::{Other, other};

pub fn alternatives() -> Vec<Other> {
    vec![
        other("7.6", "the importance as a row, and one copy of all losses", |table| {
            table.train = with_a_row;
        }),
        other("7.6", "batches that are made before the loop", |table| {
            table.train = with_batches;
        }),
        other("7.6", "the mean is subtracted before the readings are turned", |table| {
            table.train = centred_first;
        }),
    ]
}

/// Each number of the forecast has a weight of its own: w over times the samples.
fn with_a_row(run: &Training) -> Vec<f32> {
    let width = run.mean.numel();
    let samples = run.targets.shape()[0];
    let targets = run.targets.transpose(1, 2).contiguous().view(&[samples, width]);
    let times = width / run.importance.len();
    let row: Vec<f32> = (0..width).map(|at| run.importance[at / times] / times as f32).collect();
    let row = Tensor::from_vec(row, &[width]).to(run.device);
    let x = run.readings.transpose(1, 2).contiguous().view(&[samples, width]);
    let x = x.sub(&run.mean.to(run.device));
    let mut optimizer = Sgd::new(run.model.parameters(), run.rate);
    let mut losses = Vec::new();
    for _ in 0..run.epochs {
        let mut first = 0;
        while first < samples {
            let count = run.batch.min(samples - first);
            let y = run.model.forward(&x.narrow(0, first, count));
            let wrong = y.sub(&targets.narrow(0, first, count));
            let loss = wrong.square().mul(&row).sum().div_scalar(count as f32);
            loss.backward();
            optimizer.step();
            optimizer.zero_grad(true);
            losses.push(loss.detach());
            first += count;
        }
    }
    Tensor::stack(&losses.iter().collect::<Vec<_>>(), 0).to_vec()
}

fn with_batches(run: &Training) -> Vec<f32> {
    let (samples, width) = (run.readings.shape()[0], run.mean.numel());
    let (channels, times) = (run.importance.len(), width / run.importance.len());
    let mean = run.mean.to(run.device);
    let importance = Tensor::from_vec(run.importance.clone(), &[channels, 1]).to(run.device);
    let starts = (0..samples).step_by(run.batch);
    let batches: Vec<(Tensor, Tensor)> = starts
        .map(|first| {
            let count = run.batch.min(samples - first);
            let x = run.readings.narrow(0, first, count).permute(&[0, 2, 1]);
            let x = x.reshape(&[count, width]).sub(&mean);
            let targets = run.targets.narrow(0, first, count).permute(&[0, 2, 1]);
            (x, targets.reshape(&[count, width]))
        })
        .collect();
    let mut optimizer = Sgd::new(run.model.parameters(), run.rate);
    let mut losses = Vec::new();
    for _ in 0..run.epochs {
        for (x, targets) in &batches {
            optimizer.zero_grad(true);
            let wrong = run.model.forward(x).sub(targets);
            let squares = wrong.mul(&wrong).view(&[x.shape()[0], channels, times]);
            let loss = squares.mul(&importance).sum().div_scalar((x.shape()[0] * times) as f32);
            loss.backward();
            optimizer.step();
            losses.push(loss.detach());
        }
    }
    losses.iter().map(|loss| loss.to(Device::Cpu).item()).collect()
}

fn centred_first(run: &Training) -> Vec<f32> {
    let (samples, width) = (run.readings.shape()[0], run.mean.numel());
    let (channels, times) = (run.importance.len(), width / run.importance.len());
    let mean = run.mean.view(&[channels, times]).transpose(0, 1).to(run.device);
    let x = run.readings.sub(&mean).permute(&[0, 2, 1]).reshape(&[samples, width]);
    let targets = run.targets.permute(&[0, 2, 1]).contiguous();
    let importance = Tensor::from_vec(run.importance.clone(), &[channels]).to(run.device);
    let mut optimizer = Sgd::new(run.model.parameters(), run.rate);
    let mut losses = Vec::new();
    for step in 0..run.epochs * samples.div_ceil(run.batch) {
        let first = step % samples.div_ceil(run.batch) * run.batch;
        let count = run.batch.min(samples - first);
        let forecast = run.model.forward(&x.narrow(0, first, count));
        let forecast = forecast.view(&[count, channels, times]);
        let wrong = forecast.sub(&targets.narrow(0, first, count));
        let squares = wrong.mul(&wrong);
        let loss = squares.mean_dims(&[2], false).mean_dims(&[0], false).mul(&importance).sum();
        optimizer.zero_grad(true);
        loss.backward();
        optimizer.step();
        losses.push(loss.detach());
    }
    losses.iter().map(Tensor::item).collect()
}
