//! Lab 05: what a checkpoint holds, and what may happen to it.

mod experiments;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod header;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod json;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod loading;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod reshard;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod shards;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod training_run;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod tree;

#[cfg_attr(not(salvage), path = "exercise.rs")]
#[cfg_attr(salvage, path = ".salvaged.rs")]
mod exercise;

use std::process::ExitCode;

use engine_room_labs::{Experiment, lab_main};

const EXPERIMENTS: &[Experiment] = &[Experiment {
    name: "header",
    question: "what stands at the beginning of a safetensors file?",
    run: experiments::header::run,
}];

fn main() -> ExitCode {
    lab_main(
        "lab-05-checkpoints",
        "Checkpoints: what stands in them, and what may happen to them.",
        EXPERIMENTS,
    )
}
