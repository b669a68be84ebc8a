//! Wrong predictions of a step: 7.7. Each is made from the right list of kernels.

use super::super::kernel::Roofs;
use super::super::solution;
use super::super::step::{Limit, Prediction, Rule, Stack, Work};
use super::{Wrong, wrong};

pub fn mistakes() -> Vec<Wrong> {
    [of_dx(), of_relus(), of_biases(), of_optimizers(), of_counts(), of_times(), of_limits()]
        .into_iter()
        .flatten()
        .collect()
}

fn says(
    diagnosis: &'static str,
    name: &'static str,
    predict: fn(&Stack, &Roofs) -> Prediction,
) -> Wrong {
    wrong("7.7", diagnosis, name, |table| table.predict = predict)
}

/// What a kernel computes.
#[derive(Clone, Copy, PartialEq)]
enum What {
    Product,
    Bias,
    Relu,
    DwOrDx,
    Db,
    ReluBackward,
    Weight,
    BiasStep,
}

use What::*;

#[derive(Clone, Copy)]
struct Kernel {
    what: What,
    layer: usize,
    flops: u64,
    numbers: u64,
    /// Of the layer: its outputs, for one row and for all.
    outputs: u64,
    y: u64,
}

/// The kernels of a step.
fn kernels(stack: &Stack) -> Vec<Kernel> {
    let mut kernels = Vec::new();
    let of_weight = match stack.rule {
        Rule::Sgd => 3,
        Rule::SgdMomentum => 5,
        Rule::AdamW => 7,
    };
    for (layer, pair) in stack.sizes.windows(2).enumerate() {
        let (inputs, outputs) = (pair[0], pair[1]);
        let (w, y) = (inputs * outputs, stack.batch * outputs);
        let (flops, numbers) = (2 * y * inputs, stack.batch * inputs + w + y);
        let kernel = |what, flops, numbers| Kernel { what, layer, flops, numbers, outputs, y };
        kernels.push(kernel(Product, flops, numbers));
        kernels.push(kernel(Bias, 0, 2 * y + outputs));
        kernels.push(kernel(DwOrDx, flops, numbers));
        kernels.push(kernel(Db, 0, y + outputs));
        if layer > 0 || stack.x_requires_grad {
            kernels.push(kernel(DwOrDx, flops, numbers));
        }
        if layer + 2 < stack.sizes.len() {
            kernels.push(kernel(Relu, 0, 2 * y));
            kernels.push(kernel(ReluBackward, 0, 3 * y));
        }
        kernels.push(kernel(Weight, 0, of_weight * w));
        kernels.push(kernel(BiasStep, 0, of_weight * outputs));
    }
    kernels
}

/// The time of a kernel by arithmetic and by memory.
fn times(kernel: &Kernel, roofs: &Roofs) -> [f64; 2] {
    [
        kernel.flops as f64 * 1e9 / roofs.f32_flops_per_s as f64,
        kernel.numbers as f64 * 4e9 / roofs.bytes_per_s as f64,
    ]
}

fn limit(host_ns: u64, device_ns: f64) -> Limit {
    if device_ns > host_ns as f64 { Limit::Device } else { Limit::Host }
}

fn summed(kernels: &[Kernel], roofs: &Roofs) -> Prediction {
    let mut parts = [Work::default(); 3];
    let mut device_ns = 0.0;
    for kernel in kernels {
        let part = match kernel.what {
            Product | Bias | Relu => 0,
            DwOrDx | Db | ReluBackward => 1,
            Weight | BiasStep => 2,
        };
        parts[part].launches += 1;
        parts[part].flops += kernel.flops;
        parts[part].bytes += 4 * kernel.numbers;
        let [arithmetic, memory] = times(kernel, roofs);
        device_ns += arithmetic.max(memory);
    }
    let [forward, backward, optimizer] = parts;
    let host_ns = kernels.len() as u64 * roofs.launch_ns;
    let limit = limit(host_ns, device_ns);
    Prediction { forward, backward, optimizer, host_ns, device_ns, limit }
}

/// With each kernel changed, or left out.
fn changed(stack: &Stack, roofs: &Roofs, change: impl Fn(Kernel) -> Option<Kernel>) -> Prediction {
    let kernels: Vec<Kernel> = kernels(stack).into_iter().filter_map(change).collect();
    summed(&kernels, roofs)
}

/// With the numbers that kernels of one kind move.
fn moving(stack: &Stack, roofs: &Roofs, what: What, numbers: fn(&Kernel) -> u64) -> Prediction {
    changed(stack, roofs, |kernel| match kernel.what == what {
        true => Some(Kernel { numbers: numbers(&kernel), ..kernel }),
        false => Some(kernel),
    })
}

fn without(stack: &Stack, roofs: &Roofs, what: &[What]) -> Prediction {
    changed(stack, roofs, |kernel| (!what.contains(&kernel.what)).then_some(kernel))
}

/// With another time of the GPU.
fn taking(stack: &Stack, roofs: &Roofs, of: fn([f64; 2]) -> f64) -> Prediction {
    let right = solution::predict(stack, roofs);
    let device_ns = kernels(stack).iter().map(|kernel| of(times(kernel, roofs))).sum();
    Prediction { device_ns, limit: limit(right.host_ns, device_ns), ..right }
}

fn of_dx() -> Vec<Wrong> {
    vec![
        says("7.7-always-dx", "dx in every layer", |stack, roofs| {
            solution::predict(&Stack { x_requires_grad: true, ..stack.clone() }, roofs)
        }),
        says("7.7-never-dx", "no dx in the first layer", |stack, roofs| {
            solution::predict(&Stack { x_requires_grad: false, ..stack.clone() }, roofs)
        }),
        says("7.7-backward-as-forward", "as many products as forward", |stack, roofs| {
            let mut all = kernels(stack);
            // The second product of each layer.
            let mut seen = Vec::new();
            all.retain(|kernel| {
                let again = kernel.what == DwOrDx && seen.contains(&kernel.layer);
                if kernel.what == DwOrDx {
                    seen.push(kernel.layer);
                }
                !again
            });
            summed(&all, roofs)
        }),
        says("7.7-backward-twice", "twice the forward operations", |stack, roofs| {
            let mut prediction = solution::predict(stack, roofs);
            prediction.backward.flops = 2 * prediction.forward.flops;
            prediction
        }),
    ]
}

fn of_relus() -> Vec<Wrong> {
    vec![
        says("7.7-relu-behind-last", "a relu a layer", |stack, roofs| {
            let mut all = kernels(stack);
            let last = *all.last().expect("a layer");
            all.push(Kernel { what: Relu, numbers: 2 * last.y, ..last });
            all.push(Kernel { what: ReluBackward, numbers: 3 * last.y, ..last });
            summed(&all, roofs)
        }),
        says("7.7-no-backward-of-relu", "no kernel for its slope", |stack, roofs| {
            without(stack, roofs, &[ReluBackward])
        }),
        says("7.7-relu-reads-two", "dy in, dx out", |stack, roofs| {
            moving(stack, roofs, ReluBackward, |kernel| 2 * kernel.y)
        }),
        says("7.7-no-relu", "no relus", |stack, roofs| {
            without(stack, roofs, &[Relu, ReluBackward])
        }),
    ]
}

fn of_biases() -> Vec<Wrong> {
    vec![
        says("7.7-fused-bias", "a bias costs nothing more", |stack, roofs| {
            changed(stack, roofs, |kernel| match kernel.what {
                Bias => None,
                Product => Some(Kernel { numbers: kernel.numbers + kernel.outputs, ..kernel }),
                _ => Some(kernel),
            })
        }),
        says("7.7-no-bias-gradient", "no db", |stack, roofs| without(stack, roofs, &[Db])),
        says("7.7-bias-in-backward", "a backward pass of the addition", |stack, roofs| {
            let mut all = kernels(stack);
            let biases: Vec<Kernel> =
                all.iter().filter(|kernel| kernel.what == Bias).copied().collect();
            // Beside db, a kernel like the one of the forward pass.
            all.extend(biases.iter().map(|kernel| Kernel { what: Db, ..*kernel }));
            summed(&all, roofs)
        }),
        says("7.7-bias-unread", "y in and out", |stack, roofs| {
            moving(stack, roofs, Bias, |kernel| 2 * kernel.y)
        }),
        says("7.7-output-unread", "the bias in, y out", |stack, roofs| {
            moving(stack, roofs, Bias, |kernel| kernel.y + kernel.outputs)
        }),
        says("7.7-db-unwritten", "dy in", |stack, roofs| {
            moving(stack, roofs, Db, |kernel| kernel.y)
        }),
        says("7.7-bias-flops", "additions are operations", |stack, roofs| {
            changed(stack, roofs, |kernel| match kernel.what {
                Bias => Some(Kernel { flops: kernel.y, ..kernel }),
                _ => Some(kernel),
            })
        }),
        says("7.7-biases", "layers without biases, nearly", |stack, roofs| {
            changed(stack, roofs, |kernel| match kernel.what {
                Bias | Db => Some(Kernel { numbers: kernel.numbers - kernel.outputs, ..kernel }),
                BiasStep => None,
                _ => Some(kernel),
            })
        }),
    ]
}

/// With so many numbers for each weight of one rule.
fn with_numbers(stack: &Stack, roofs: &Roofs, numbers: fn(Rule) -> u64) -> Prediction {
    let right = numbers_of(stack.rule);
    changed(stack, roofs, |kernel| match kernel.what {
        Weight | BiasStep => {
            Some(Kernel { numbers: kernel.numbers / right * numbers(stack.rule), ..kernel })
        }
        _ => Some(kernel),
    })
}

fn numbers_of(rule: Rule) -> u64 {
    match rule {
        Rule::Sgd => 3,
        Rule::SgdMomentum => 5,
        Rule::AdamW => 7,
    }
}

fn of_optimizers() -> Vec<Wrong> {
    vec![
        says("7.7-one-launch-optimizer", "one launch for all", |stack, roofs| {
            let (step, mut others): (Vec<Kernel>, Vec<Kernel>) = kernels(stack)
                .into_iter()
                .partition(|kernel| matches!(kernel.what, Weight | BiasStep));
            let numbers = step.iter().map(|kernel| kernel.numbers).sum();
            others.push(Kernel { numbers, ..step[0] });
            summed(&others, roofs)
        }),
        says("7.7-one-launch-layer", "one launch a layer", |stack, roofs| {
            let of_weight = numbers_of(stack.rule);
            let mut all = kernels(stack);
            all.retain(|kernel| kernel.what != BiasStep);
            let layers = all.iter_mut().filter(|kernel| kernel.what == Weight);
            layers.for_each(|kernel| kernel.numbers += of_weight * kernel.outputs);
            summed(&all, roofs)
        }),
        says("7.7-no-optimizer", "forward and backward", |stack, roofs| {
            without(stack, roofs, &[Weight, BiasStep])
        }),
        says("7.7-bytes-of-weights", "each weight once", |stack, roofs| {
            with_numbers(stack, roofs, |_| 1)
        }),
        says("7.7-sgd-numbers", "SGD reads one, and times are twice as long", |stack, roofs| {
            let numbers = |rule| if rule == Rule::Sgd { 2 } else { numbers_of(rule) };
            let Prediction { optimizer, .. } = with_numbers(stack, roofs, numbers);
            let others = solution::predict(stack, roofs);
            Prediction { optimizer, device_ns: 2.0 * others.device_ns, ..others }
        }),
        says("7.7-state-is-written", "state moves once", |stack, roofs| {
            with_numbers(stack, roofs, |rule| [3, 4, 5][rule as usize])
        }),
        says("7.7-gradient-unread", "weight and state", |stack, roofs| {
            with_numbers(stack, roofs, |rule| numbers_of(rule) - 1)
        }),
        says("7.7-momentum-is-written", "momentum moves once", |stack, roofs| {
            with_numbers(stack, roofs, |rule| [3, 4, 7][rule as usize])
        }),
        says("7.7-adam-numbers", "AdamW as momentum", |stack, roofs| {
            with_numbers(stack, roofs, |rule| numbers_of(rule).min(5))
        }),
    ]
}

/// With so many times fewer bytes.
fn with_bytes_over(stack: &Stack, roofs: &Roofs, by: u64) -> Prediction {
    let roofs = Roofs { bytes_per_s: by * roofs.bytes_per_s, ..*roofs };
    let mut prediction = solution::predict(stack, &roofs);
    prediction.forward.bytes /= by;
    prediction.backward.bytes /= by;
    prediction.optimizer.bytes /= by;
    prediction
}

fn of_counts() -> Vec<Wrong> {
    vec![
        says("7.7-one-flop", "a multiply-add is one", |stack, roofs| {
            changed(stack, roofs, |it| Some(Kernel { flops: it.flops / 2, ..it }))
        }),
        says("7.7-numbers-as-bytes", "a byte a number", |stack, roofs| {
            with_bytes_over(stack, roofs, 4)
        }),
        says("7.7-two-bytes", "2 bytes a number", |stack, roofs| with_bytes_over(stack, roofs, 2)),
    ]
}

fn of_times() -> Vec<Wrong> {
    vec![
        says("7.7-all-at-once", "the roofline of the whole step", |stack, roofs| {
            let right = solution::predict(stack, roofs);
            let all = kernels(stack);
            let flops: u64 = all.iter().map(|kernel| kernel.flops).sum();
            let numbers: u64 = all.iter().map(|kernel| kernel.numbers).sum();
            let [arithmetic, memory] = times(&Kernel { flops, numbers, ..all[0] }, roofs);
            let device_ns = arithmetic.max(memory);
            Prediction { device_ns, limit: limit(right.host_ns, device_ns), ..right }
        }),
        says("7.7-summed", "arithmetic and memory", |stack, roofs| {
            taking(stack, roofs, |[arithmetic, memory]| arithmetic + memory)
        }),
        says("7.7-arithmetic-only", "operations over the peak", |stack, roofs| {
            taking(stack, roofs, |[arithmetic, _]| arithmetic)
        }),
        says("7.7-memory-only", "bytes over the bandwidth", |stack, roofs| {
            taking(stack, roofs, |[_, memory]| memory)
        }),
        says("7.7-seconds", "in seconds", |stack, roofs| {
            taking(stack, roofs, |[arithmetic, memory]| arithmetic.max(memory) / 1e9)
        }),
        says("7.7-half-peak", "the largest peak", |stack, roofs| {
            let f32_flops_per_s = roofs.f16_flops_per_s;
            solution::predict(stack, &Roofs { f32_flops_per_s, ..*roofs })
        }),
        says("7.7-launches-added", "launch and kernel", |stack, roofs| {
            let right = solution::predict(stack, roofs);
            let device_ns = right.device_ns + right.host_ns as f64;
            Prediction { device_ns, limit: Limit::Device, ..right }
        }),
    ]
}

fn of_limits() -> Vec<Wrong> {
    vec![
        says("7.7-limit-swapped", "who is done first", |stack, roofs| {
            let right = solution::predict(stack, roofs);
            let limit = if right.limit == Limit::Host { Limit::Device } else { Limit::Host };
            Prediction { limit, ..right }
        }),
        says("7.7-limit-by-roof", "arithmetic is the device", |stack, roofs| {
            let right = solution::predict(stack, roofs);
            let all = kernels(stack);
            let sum = |of: fn(&Kernel) -> u64| all.iter().map(of).sum::<u64>();
            let whole =
                Kernel { flops: sum(|it| it.flops), numbers: sum(|it| it.numbers), ..all[0] };
            let [arithmetic, memory] = times(&whole, roofs);
            let limit = if arithmetic > memory { Limit::Device } else { Limit::Host };
            Prediction { limit, ..right }
        }),
    ]
}
