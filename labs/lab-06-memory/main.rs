//! Lab 06: who holds the memory at the peak, and what can be done.

#[allow(dead_code, reason = "the experiments use a part of it")]
mod again;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod blocks;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod events;
mod experiments;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod layers;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod step;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod table;

#[cfg_attr(not(salvage), path = "exercise.rs")]
#[cfg_attr(salvage, path = ".salvaged.rs")]
mod exercise;

use std::process::ExitCode;

use engine_room_labs::{Experiment, lab_main};

const EXPERIMENTS: &[Experiment] = &[Experiment {
    name: "rounding",
    question: "what does a tensor of so many bytes cost?",
    run: experiments::rounding::run,
}];

fn main() -> ExitCode {
    lab_main(
        "lab-06-memory",
        "Memory: who holds it at the peak, and what can be done.",
        EXPERIMENTS,
    )
}
