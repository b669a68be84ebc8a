//! Lab 01, Tensors. Six exercises, one function each (1.1 has two).
//!
//! Replace each `exercise!(..)` by your code. Grade with `cargo test --test lab-01-tensors`, ask
//! for a hint with `cargo run --bin course -- hint 1.1`.
#![allow(dead_code, unused_imports, unused_variables)] // what you have not begun is silent

use engine_room::driver::{HostMemory, Route};
use engine_room::{Device, Tensor, f16, sim};
// STUB use grading::exercise;

use super::formats::Format;
use super::pipeline::Stage;
use super::training::{Outcome, Parameter, Step};

/// 1.1 The bytes that a tensor of this shape takes in memory if its numbers are in this format.
pub fn tensor_bytes(shape: &[usize], format: Format) -> u64 {
    // SOLUTION 1.1
    let bytes = match format {
        Format::F32 | Format::Tf32 => 4,
        Format::F16 | Format::Bf16 => 2,
        Format::E4m3 | Format::E5m2 | Format::I8 => 1,
    };
    let numel: u64 = shape.iter().map(|&size| size as u64).product();
    numel * bytes
    // END
}

/// 1.1 The bytes that a model's parameters take in memory if they are stored in this format.
pub fn parameter_bytes(parameters: &[Parameter], format: Format) -> u64 {
    // SOLUTION 1.1
    let mut bytes = 0;
    for parameter in parameters {
        if parameter.tied_to.is_none() {
            let stored = if parameter.keep_f32 { Format::F32 } else { format };
            bytes += tensor_bytes(&parameter.shape, stored);
        }
    }
    bytes
    // END
}

/// 1.2 The bits of the bf16 number nearest to x, the even one of two. A NaN stays a NaN.
pub fn f32_to_bf16(x: f32) -> u16 {
    // SOLUTION 1.2
    let bits = x.to_bits();
    if x.is_nan() {
        // All bits of a NaN's mantissa may be in the lower half, so one in the upper half is set.
        return (bits >> 16) as u16 | 0x0040;
    }
    let kept = bits >> 16;
    let dropped = bits & 0xffff;
    let up = dropped > 0x8000 || (dropped == 0x8000 && kept % 2 == 1);
    // A carry out of the mantissa goes into the exponent, which is right: the next number is there.
    (kept + up as u32) as u16
    // END
}

/// 1.3 The sum of many fp16 numbers, at most one step of fp16 away from the exact sum.
pub fn sum_f16(values: &[f16]) -> f16 {
    // SOLUTION 1.3
    let mut total = 0.0;
    for value in values {
        total += value.to_f64();
    }
    f16::from_f64(total)
    // END
}

/// 1.4 What becomes of a step if gradients and weights are stored in this format.
pub fn outcome(step: &Step, format: Format) -> Outcome {
    // SOLUTION 1.4
    let stored = (step.gradient * step.loss_scale).abs();
    let update = (step.learning_rate * step.gradient).abs();
    if stored > format.max() {
        Outcome::Overflow
    } else if stored < format.smallest() / 2.0 {
        Outcome::Underflow
    } else if update < format.spacing(step.weight) / 2.0 {
        Outcome::UpdateLost
    } else {
        Outcome::Fine
    }
    // END
}

/// 1.5 Sends tensors to a device in as few calls as possible. The result has their shapes.
pub fn send_all(tensors: &[Tensor], device: Device) -> Vec<Tensor> {
    // SOLUTION 1.5
    let flat: Vec<Tensor> =
        tensors.iter().map(|tensor| tensor.reshape(&[tensor.numel()])).collect();
    let parts: Vec<&Tensor> = flat.iter().collect();
    let sent = Tensor::cat(&parts, 0).pin_memory().to(device);
    let mut start = 0;
    let mut result = Vec::new();
    for tensor in tensors {
        result.push(sent.narrow(0, start, tensor.numel()).reshape(tensor.shape()));
        start += tensor.numel();
    }
    result
    // END
}

/// 1.6 Runs the stages one after the other and returns the index of the one that sends its input
/// to the host and brings its output back, on the simulated GPU with this number.
pub fn find_round_trip(stages: &[Stage], input: &Tensor, gpu: usize) -> Option<usize> {
    // SOLUTION 1.6
    let mut found = None;
    let mut x = input.clone();
    for (index, stage) in stages.iter().enumerate() {
        sim::reset(gpu);
        let y = stage.run(&x);
        let traffic = sim::transfers(gpu);
        let (mut away, mut back) = (0, 0);
        for memory in [HostMemory::Pageable, HostMemory::Pinned] {
            away += traffic.on(Route::ToHost(memory)).bytes;
            back += traffic.on(Route::ToDevice(memory)).bytes;
        }
        if away >= x.nbytes() && back >= y.nbytes() {
            found = Some(index);
        }
        x = y;
    }
    found
    // END
}
