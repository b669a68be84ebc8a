//! Right answers in other styles than the solution's. The checks must accept every one of them.

use engine_room::driver::{HostMemory, Route};
use engine_room::sim::Transfers;
use engine_room::{DType, Device, Tensor, bf16, f16, sim};
use grading::Alternative;

use super::checks::{Implementation, implementation};
use super::formats::Format;
use super::pipeline::Stage;
use super::solution;
use super::training::{Outcome, Parameter, Step};

/// At least two for each exercise.
pub fn alternatives() -> Vec<Alternative<Implementation>> {
    let of = implementation!(solution);
    let other = |exercise, name, implementation| Alternative { exercise, name, implementation };
    vec![
        other(
            "1.1",
            "bits from sign, exponent and mantissa",
            Implementation { tensor_bytes: by_bits, parameter_bytes: by_filters, ..of },
        ),
        other(
            "1.1",
            "what is tied is taken away",
            Implementation { parameter_bytes: by_subtraction, ..of },
        ),
        other("1.2", "adds and cuts off", Implementation { f32_to_bf16: by_addition, ..of }),
        other("1.2", "through the engine's cast", Implementation { f32_to_bf16: by_engine, ..of }),
        other("1.2", "the nearer neighbour", Implementation { f32_to_bf16: by_distance, ..of }),
        other("1.3", "f32 in pieces", Implementation { sum_f16: in_pieces, ..of }),
        other("1.3", "Kahan's sum in f32", Implementation { sum_f16: compensated, ..of }),
        other("1.3", "in whole numbers", Implementation { sum_f16: in_integers, ..of }),
        other("1.3", "halves, recursively", Implementation { sum_f16: pairwise, ..of }),
        other("1.3", "the engine's sum", Implementation { sum_f16: as_tensor, ..of }),
        other("1.4", "carries the step out", Implementation { outcome: by_rounding, ..of }),
        other("1.4", "from bits, in powers of two", Implementation { outcome: by_exponents, ..of }),
        other("1.5", "in one loop, split", Implementation { send_all: by_split, ..of }),
        other("1.5", "two halves, without waiting", Implementation { send_all: in_two, ..of }),
        other("1.5", "numbers in a vector", Implementation { send_all: by_vector, ..of }),
        other("1.6", "by differences", Implementation { find_round_trip: by_differences, ..of }),
        other("1.6", "stops when found", Implementation { find_round_trip: stops, ..of }),
    ]
}

fn by_bits(shape: &[usize], format: Format) -> u64 {
    let bits = match format {
        Format::Tf32 => 32,
        _ => 1 + format.exponent_bits() + format.mantissa_bits(),
    };
    shape.iter().fold(bits as u64 / 8, |bytes, &size| bytes * size as u64)
}

fn by_filters(parameters: &[Parameter], format: Format) -> u64 {
    let own = parameters.iter().filter(|parameter| parameter.tied_to.is_none());
    let (kept, others): (Vec<_>, Vec<_>) = own.partition(|parameter| parameter.keep_f32);
    let bytes = |list: Vec<&Parameter>, format| -> u64 {
        list.into_iter().map(|parameter| by_bits(&parameter.shape, format)).sum()
    };
    bytes(kept, Format::F32) + bytes(others, format)
}

fn by_subtraction(parameters: &[Parameter], format: Format) -> u64 {
    let bytes = |p: &Parameter| {
        solution::tensor_bytes(&p.shape, if p.keep_f32 { Format::F32 } else { format })
    };
    let all: u64 = parameters.iter().map(bytes).sum();
    all - parameters.iter().filter(|p| p.tied_to.is_some()).map(bytes).sum::<u64>()
}

fn by_addition(x: f32) -> u16 {
    let bits = x.to_bits();
    match bits & 0x7fff_ffff {
        0x7f80_0001.. => 0x7fc0,
        _ => ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16,
    }
}

fn by_engine(x: f32) -> u16 {
    Tensor::scalar(x).to(DType::BF16).to_vec::<bf16>()[0].to_bits()
}

fn by_distance(x: f32) -> u16 {
    if !x.is_finite() {
        return (x.to_bits() >> 16) as u16 | u16::from(x.is_nan());
    }
    let cut = x.to_bits() & 0xffff_0000;
    // The step at x, which needs no neighbour beyond the largest number.
    let step = f64::from(f32::from_bits(cut & 0x7f80_0000).max(f32::MIN_POSITIVE)) / 128.0;
    let steps = f64::from(x).abs() / step;
    let kept = f64::from(f32::from_bits(cut)).abs() / step;
    let up = steps.round_ties_even() > kept;
    (cut >> 16) as u16 + u16::from(up)
}

fn in_pieces(values: &[f16]) -> f16 {
    let mut total = 0.0;
    for piece in values.chunks(1024) {
        let mut part = 0.0;
        for value in piece {
            part += value.to_f32();
        }
        total += part;
    }
    f16::from_f32(total)
}

fn compensated(values: &[f16]) -> f16 {
    let (mut sum, mut lost) = (0.0f32, 0.0f32);
    for value in values {
        let next = value.to_f32() - lost;
        let total = sum + next;
        lost = (total - sum) - next;
        sum = total;
    }
    f16::from_f32(sum)
}

fn in_integers(values: &[f16]) -> f16 {
    let unit = f64::from(1 << 24);
    let whole: i128 = values.iter().map(|value| (value.to_f64() * unit) as i128).sum();
    f16::from_f64(whole as f64 / unit)
}

fn pairwise(values: &[f16]) -> f16 {
    fn half(values: &[f16]) -> f32 {
        match values {
            [] => 0.0,
            [value] => value.to_f32(),
            _ => {
                let (left, right) = values.split_at(values.len() / 2);
                half(left) + half(right)
            }
        }
    }
    f16::from_f32(half(values))
}

fn as_tensor(values: &[f16]) -> f16 {
    Tensor::from_vec(values.to_vec(), &[values.len()]).sum().item_as::<f16>()
}

fn by_rounding(step: &Step, format: Format) -> Outcome {
    let gradient = format.round(step.gradient * step.loss_scale);
    let weight = format.round(step.weight - step.learning_rate * gradient / step.loss_scale);
    match gradient.abs() {
        0.0 => Outcome::Underflow,
        x if x.is_nan() || x.is_infinite() => Outcome::Overflow,
        _ if weight == step.weight => Outcome::UpdateLost,
        _ => Outcome::Fine,
    }
}

fn by_exponents(step: &Step, format: Format) -> Outcome {
    let update = (step.learning_rate * step.gradient).abs();
    let half_a_step = step.weight.abs().log2().floor() - f64::from(format.mantissa_bits()) - 1.0;
    let stored = (step.gradient * step.loss_scale).abs().log2();
    let small = stored < format.smallest().log2() - 1.0;
    let lost = update.log2() < half_a_step;
    match stored > format.max().log2() {
        true => Outcome::Overflow,
        false if small => Outcome::Underflow,
        false if lost => Outcome::UpdateLost,
        false => Outcome::Fine,
    }
}

fn by_split(tensors: &[Tensor], device: Device) -> Vec<Tensor> {
    let mut long = Tensor::zeros(&[0]);
    let flat: Vec<Tensor> = tensors.iter().map(|tensor| tensor.reshape(&[-1])).collect();
    let parts: Vec<&Tensor> = flat.iter().collect();
    if !parts.is_empty() {
        long = Tensor::cat(&parts, 0);
    }
    let sizes: Vec<usize> = tensors.iter().map(Tensor::numel).collect();
    let sent = long.pin_memory().to(device).split(&sizes, 0);
    sent.iter().zip(tensors).map(|(part, tensor)| part.reshape(tensor.shape())).collect()
}

fn in_two(tensors: &[Tensor], device: Device) -> Vec<Tensor> {
    let (first, second) = tensors.split_at(tensors.len() / 2);
    let mut sent = Vec::new();
    for half in [first, second] {
        if half.is_empty() {
            continue;
        }
        let flat: Vec<Tensor> =
            half.iter().map(|tensor| tensor.reshape(&[tensor.numel()])).collect();
        let long = Tensor::cat(&flat.iter().collect::<Vec<&Tensor>>(), 0).pin_memory();
        let there = long.to_non_blocking(device);
        let mut start = 0;
        for tensor in half {
            sent.push(there.narrow(0, start, tensor.numel()).reshape(tensor.shape()));
            start += tensor.numel();
        }
    }
    device.synchronize().expect("the device is there");
    sent
}

fn by_vector(tensors: &[Tensor], device: Device) -> Vec<Tensor> {
    let numbers: Vec<f32> = tensors.iter().flat_map(Tensor::to_vec::<f32>).collect();
    let length = numbers.len();
    let sent = Tensor::from_vec(numbers, &[length]).pin_memory().to(device);
    let mut end = 0;
    let cut = |tensor: &Tensor| {
        end += tensor.numel();
        sent.slice(0, (end - tensor.numel()) as isize, end as isize, 1).view(tensor.shape())
    };
    tensors.iter().map(cut).collect()
}

fn both_ways(transfers: &Transfers) -> [u64; 2] {
    let memory = [HostMemory::Pageable, HostMemory::Pinned];
    let sum = |route: fn(HostMemory) -> Route| {
        memory.iter().map(|&memory| transfers.on(route(memory)).bytes).sum()
    };
    [sum(Route::ToHost), sum(Route::ToDevice)]
}

fn by_differences(stages: &[Stage], input: &Tensor, gpu: usize) -> Option<usize> {
    let mut values = vec![input.clone()];
    let mut counters = vec![both_ways(&sim::transfers(gpu))];
    for stage in stages {
        let next = stage.run(&values[values.len() - 1]);
        values.push(next);
        counters.push(both_ways(&sim::transfers(gpu)));
    }
    (0..stages.len()).find(|&at| {
        let grown = |way: usize| counters[at + 1][way] - counters[at][way];
        grown(0) >= values[at].nbytes() && grown(1) >= values[at + 1].nbytes()
    })
}

fn stops(stages: &[Stage], input: &Tensor, gpu: usize) -> Option<usize> {
    let mut given = input.clone();
    for (at, stage) in stages.iter().enumerate() {
        sim::reset(gpu);
        let result = stage.run(&given);
        let [away, back] = both_ways(&sim::transfers(gpu));
        if given.nbytes() <= away && result.nbytes() <= back {
            return Some(at);
        }
        given = result;
    }
    None
}
