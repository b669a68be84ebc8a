//! Lab 02: which operations move numbers, and which only say where they lie.

#[allow(dead_code, reason = "the experiments use a part of it")]
mod attention;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod cache;
mod header;

#[cfg_attr(not(salvage), path = "exercise.rs")]
#[cfg_attr(salvage, path = ".salvaged.rs")]
mod exercise;

use std::process::ExitCode;

use engine_room_labs::{Experiment, lab_main};

const EXPERIMENTS: &[Experiment] = &[];

fn main() -> ExitCode {
    lab_main(
        "lab-02-views",
        "Views: which operations move numbers, and which only say where they lie.",
        EXPERIMENTS,
    )
}
