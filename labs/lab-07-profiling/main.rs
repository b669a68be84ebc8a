//! Lab 07: where the time goes, and what is worth mending.

#[allow(dead_code, reason = "the experiments use a part of it")]
mod averages;
mod experiments;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod kernel;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod spans;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod step;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod timing;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod trace;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod training;

#[cfg_attr(not(salvage), path = "exercise.rs")]
#[cfg_attr(salvage, path = ".salvaged.rs")]
mod exercise;

use std::process::ExitCode;

use engine_room_labs::{Experiment, lab_main};

const EXPERIMENTS: &[Experiment] = &[];

fn main() -> ExitCode {
    lab_main("lab-07-profiling", "Profiling: where the time goes.", EXPERIMENTS)
}
