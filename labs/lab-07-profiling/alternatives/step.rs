//! Other right predictions of a step: 7.7.

use super::super::kernel::Roofs;
use super::super::step::{Limit, Prediction, Rule, Stack, Work};
use super::{Other, other};

pub fn alternatives() -> Vec<Other> {
    vec![
        other("7.7", "sums in closed form", |table| table.predict = closed_form),
        other("7.7", "lists of kernels", |table| table.predict = lists),
        other("7.7", "tensor by tensor", |table| table.predict = by_tensors),
    ]
}

fn numbers(rule: Rule) -> u64 {
    // A weight, its gradient and the new weight; and twice what is kept.
    3 + 2 * match rule {
        Rule::Sgd => 0,
        Rule::SgdMomentum => 1,
        Rule::AdamW => 2,
    }
}

fn limit(host_ns: u64, device_ns: f64) -> Limit {
    if device_ns <= host_ns as f64 { Limit::Host } else { Limit::Device }
}

/// Counts of the whole first, then the time of each kernel.
fn closed_form(stack: &Stack, roofs: &Roofs) -> Prediction {
    let n = stack.sizes.len() as u64 - 1;
    let pairs = || stack.sizes.windows(2).map(|pair| (pair[0], pair[1]));
    let weights: u64 = pairs().map(|(i, o)| i * o).sum();
    let outputs: u64 = pairs().map(|(_, o)| o).sum();
    let hidden = outputs - stack.sizes[n as usize];
    let products: u64 = pairs().map(|(i, o)| stack.batch * (i + o) + i * o).sum();
    let (i, o) = (stack.sizes[0], stack.sizes[1]);
    let (less, less_numbers) = match stack.x_requires_grad {
        true => (0, 0),
        false => (i * o, stack.batch * (i + o) + i * o),
    };
    let y = stack.batch * outputs;
    let relu = stack.batch * hidden;
    let forward = Work {
        launches: 3 * n - 1,
        flops: 2 * stack.batch * weights,
        bytes: 4 * (products + 2 * y + outputs + 2 * relu),
    };
    let backward = Work {
        launches: 4 * n - 1 - u64::from(less > 0),
        flops: 2 * stack.batch * (2 * weights - less),
        bytes: 4 * (2 * products - less_numbers + y + outputs + 3 * relu),
    };
    let of_weight = numbers(stack.rule);
    let optimizer = Work { launches: 2 * n, flops: 0, bytes: 4 * of_weight * (weights + outputs) };
    let moved = |numbers: u64| 4e9 * numbers as f64 / roofs.bytes_per_s as f64;
    let mut device_ns = moved(3 * y + 2 * outputs + 5 * relu + of_weight * (weights + outputs));
    for (at, (i, o)) in pairs().enumerate() {
        let flops = 2e9 * (stack.batch * i * o) as f64 / roofs.f32_flops_per_s as f64;
        let times = if at == 0 && less > 0 { 2.0 } else { 3.0 };
        device_ns += times * flops.max(moved(stack.batch * (i + o) + i * o));
    }
    let host_ns = (9 * n - 2 - u64::from(less > 0)) * roofs.launch_ns;
    let limit = limit(host_ns, device_ns);
    Prediction { forward, backward, optimizer, host_ns, device_ns, limit }
}

/// Every kernel as (operations, numbers), in the order in which they run.
fn kernels(stack: &Stack) -> [Vec<(u64, u64)>; 3] {
    let (n, b) = (stack.sizes.len() - 1, stack.batch);
    let size = |layer: usize| (stack.sizes[layer], stack.sizes[layer + 1]);
    let product = |layer: usize| {
        let (i, o) = size(layer);
        (2 * b * i * o, b * i + i * o + b * o)
    };
    let mut forward = vec![];
    for layer in 0..n {
        let o = size(layer).1;
        forward.extend([product(layer), (0, b * o + o + b * o)]);
        if layer < n - 1 {
            forward.push((0, b * o + b * o));
        }
    }
    let mut backward = vec![];
    for layer in (0..n).rev() {
        let o = size(layer).1;
        if layer != n - 1 {
            backward.push((0, 3 * b * o));
        }
        if layer != 0 || stack.x_requires_grad {
            backward.push(product(layer));
        }
        backward.extend([product(layer), (0, b * o + o)]);
    }
    let sizes = (0..n).flat_map(|layer| [size(layer).0 * size(layer).1, size(layer).1]);
    let optimizer = sizes.map(|size| (0, numbers(stack.rule) * size)).collect();
    [forward, backward, optimizer]
}

fn lists(stack: &Stack, roofs: &Roofs) -> Prediction {
    let mut device_ns = 0.0;
    let mut work = |kernels: &[(u64, u64)]| {
        let mut work = Work::default();
        for &(flops, numbers) in kernels {
            let [arithmetic, memory] = [
                flops as f64 / (roofs.f32_flops_per_s as f64 / 1e9),
                4.0 * numbers as f64 / (roofs.bytes_per_s as f64 / 1e9),
            ];
            device_ns += if arithmetic > memory { arithmetic } else { memory };
            work.launches += 1;
            work.flops += flops;
            work.bytes += 4 * numbers;
        }
        work
    };
    let [forward, backward, optimizer] = kernels(stack).map(|kernels| work(&kernels));
    let launches = forward.launches + backward.launches + optimizer.launches;
    let host_ns = launches * roofs.launch_ns;
    Prediction {
        forward,
        backward,
        optimizer,
        host_ns,
        device_ns,
        limit: limit(host_ns, device_ns),
    }
}

/// Operations, and the sizes of the tensors that are read and written.
type Moved = (u64, Vec<u64>);

/// The kernels of a layer: forward, backward, optimizer.
fn of_layer(stack: &Stack, at: usize) -> [Vec<Moved>; 3] {
    let (inputs, b) = (stack.sizes[at], stack.sizes[at + 1]);
    let (x, w, y) = (stack.batch * inputs, inputs * b, stack.batch * b);
    let flops = 2 * x * b;
    let mut forward = vec![(flops, vec![x, w, y]), (0, vec![y, b, y])];
    let mut backward = vec![(flops, vec![y, x, w]), (0, vec![y, b])];
    if at > 0 || stack.x_requires_grad {
        backward.push((flops, vec![y, w, x]));
    }
    if at + 2 < stack.sizes.len() {
        forward.push((0, vec![y, y]));
        backward.push((0, vec![y, y, y]));
    }
    let states = |size: u64| vec![size; numbers(stack.rule) as usize];
    [forward, backward, vec![(0, states(w)), (0, states(b))]]
}

/// Layer by layer; a kernel is what it is given and what it makes.
fn by_tensors(stack: &Stack, roofs: &Roofs) -> Prediction {
    let mut parts = [Work::default(); 3];
    let (mut host_ns, mut device_ns) = (0, 0.0);
    for at in 0..stack.sizes.len() - 1 {
        for (part, kernels) in parts.iter_mut().zip(of_layer(stack, at)) {
            for (flops, tensors) in kernels {
                let bytes = 4 * tensors.iter().sum::<u64>();
                let memory = bytes as f64 / roofs.bytes_per_s as f64;
                device_ns += (flops as f64 / roofs.f32_flops_per_s as f64).max(memory) * 1e9;
                host_ns += roofs.launch_ns;
                part.launches += 1;
                part.flops += flops;
                part.bytes += bytes;
            }
        }
    }
    let [forward, backward, optimizer] = parts;
    let limit = limit(host_ns, device_ns);
    Prediction { forward, backward, optimizer, host_ns, device_ns, limit }
}
