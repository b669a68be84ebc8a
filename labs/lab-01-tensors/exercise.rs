//! Lab 01, Tensors. Six exercises, one function each (1.1 has two).
//!
//! Replace each `exercise!(..)` by your code. Grade with `cargo test --test lab-01-tensors`, ask
//! for a hint with `cargo run --bin course -- hint 1.1`.
#![allow(dead_code, unused_imports, unused_variables)] // what you have not begun is silent

use engine_room::driver::{HostMemory, Route};
use engine_room::{Device, Tensor, f16, sim};
use grading::exercise;

use super::formats::Format;
use super::pipeline::Stage;
use super::training::{Outcome, Parameter, Step};

/// 1.1 The bytes that a tensor of this shape takes in memory if its numbers are in this format.
pub fn tensor_bytes(shape: &[usize], format: Format) -> u64 {
    exercise!("1.1")
}

/// 1.1 The bytes that a model's parameters take in memory if they are stored in this format.
pub fn parameter_bytes(parameters: &[Parameter], format: Format) -> u64 {
    exercise!("1.1")
}

/// 1.2 The bits of the bf16 number nearest to x, the even one of two. A NaN stays a NaN.
pub fn f32_to_bf16(x: f32) -> u16 {
    exercise!("1.2")
}

/// 1.3 The sum of many fp16 numbers, at most one step of fp16 away from the exact sum.
pub fn sum_f16(values: &[f16]) -> f16 {
    exercise!("1.3")
}

/// 1.4 What becomes of a step if gradients and weights are stored in this format.
pub fn outcome(step: &Step, format: Format) -> Outcome {
    exercise!("1.4")
}

/// 1.5 Sends tensors to a device in as few calls as possible. The result has their shapes.
pub fn send_all(tensors: &[Tensor], device: Device) -> Vec<Tensor> {
    exercise!("1.5")
}

/// 1.6 Runs the stages one after the other and returns the index of the one that sends its input
/// to the host and brings its output back, on the simulated GPU with this number.
pub fn find_round_trip(stages: &[Stage], input: &Tensor, gpu: usize) -> Option<usize> {
    exercise!("1.6")
}
