//! Lab 01: what a number format costs and loses, and what it costs to move numbers.

#[allow(dead_code, reason = "the experiments use a part of it")]
mod formats;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod pipeline;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod training;

#[cfg_attr(not(salvage), path = "exercise.rs")]
#[cfg_attr(salvage, path = ".salvaged.rs")]
mod exercise;

use std::process::ExitCode;

use engine_room_labs::{Experiment, lab_main};

const EXPERIMENTS: &[Experiment] = &[];

fn main() -> ExitCode {
    lab_main(
        "lab-01-tensors",
        "Tensors: what a number format costs and loses, and what it costs to move numbers.",
        EXPERIMENTS,
    )
}
