//! What lab 01 checks: one function an exercise, each on a table of the learner's functions, so
//! that the same checks judge the learner, the solution, other right answers and typical mistakes.

#[path = "checks/bf16.rs"]
mod bf16;
#[path = "checks/bytes.rs"]
mod bytes;
#[path = "checks/models.rs"]
mod models;
#[path = "checks/numbers.rs"]
mod numbers;
#[path = "checks/pipelines.rs"]
mod pipelines;
#[path = "checks/send.rs"]
mod send;
#[path = "checks/steps.rs"]
mod steps;
#[path = "checks/sum.rs"]
mod sum;
#[path = "checks/trip.rs"]
mod trip;

use engine_room::{Device, Tensor, f16};
use grading::Exercise;

use super::formats::Format;
use super::pipeline::Stage;
use super::training::{Outcome, Parameter, Step};

/// The functions of the lab's exercises.
#[derive(Clone, Copy)]
pub struct Implementation {
    /// 1.1
    pub tensor_bytes: fn(&[usize], Format) -> u64,
    /// 1.1
    pub parameter_bytes: fn(&[Parameter], Format) -> u64,
    /// 1.2
    pub f32_to_bf16: fn(f32) -> u16,
    /// 1.3
    pub sum_f16: fn(&[f16]) -> f16,
    /// 1.4
    pub outcome: fn(&Step, Format) -> Outcome,
    /// 1.5
    pub send_all: fn(&[Tensor], Device) -> Vec<Tensor>,
    /// 1.6
    pub find_round_trip: fn(&[Stage], &Tensor, usize) -> Option<usize>,
}

/// The table of the functions in a module: `implementation!(exercise)`.
macro_rules! implementation {
    ($functions:ident) => {
        $crate::checks::Implementation {
            tensor_bytes: $functions::tensor_bytes,
            parameter_bytes: $functions::parameter_bytes,
            f32_to_bf16: $functions::f32_to_bf16,
            sum_f16: $functions::sum_f16,
            outcome: $functions::outcome,
            send_all: $functions::send_all,
            find_round_trip: $functions::find_round_trip,
        }
    };
}
pub(crate) use implementation;

/// Every exercise of the lab, in the order of `lab.toml`.
pub const CHECKS: &[Exercise<Implementation>] = &[
    Exercise { id: "1.1", check: bytes::bytes },
    Exercise { id: "1.2", check: bf16::bf16 },
    Exercise { id: "1.3", check: sum::sum },
    Exercise { id: "1.4", check: steps::steps },
    Exercise { id: "1.5", check: send::send },
    Exercise { id: "1.6", check: trip::trip },
];
