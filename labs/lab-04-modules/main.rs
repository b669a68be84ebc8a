//! Lab 04: how a model is kept, how it is trained, and how many bytes that takes.

#[allow(dead_code, reason = "the experiments use a part of it")]
mod module_tree;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod recipe;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod state;
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
        "lab-04-modules",
        "Modules: how a model is kept, how it is trained, and how many bytes that takes.",
        EXPERIMENTS,
    )
}
