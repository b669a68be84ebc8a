//! Lab 05: what a checkpoint holds, and what may happen to it.

mod experiments;
#[allow(dead_code, reason = "the experiments use a part of it")]
#[path = "checks/file_system.rs"]
mod file_system;
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

const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "resume",
        question: "what does a resumed run do that has left something out?",
        run: experiments::resume::run,
    },
    Experiment {
        name: "header",
        question: "what stands in a safetensors file, byte by byte?",
        run: experiments::header::run,
    },
    Experiment {
        name: "damage",
        question: "what happens to files that are not as they should be?",
        run: experiments::damage::run,
    },
    Experiment { name: "pickle", question: "what can a pickle do?", run: experiments::pickle::run },
    Experiment {
        name: "report",
        question: "what does a loader say about a file that does not fit?",
        run: experiments::report::run,
    },
    Experiment {
        name: "crash",
        question: "what is in a file if the machine stops while it is saved?",
        run: experiments::crash::run,
    },
    Experiment {
        name: "shares",
        question: "which numbers of a model does a rank have, and where do they come from?",
        run: experiments::shares::run,
    },
    Experiment {
        name: "bytes",
        question: "what does it cost to save a state whole, and in shares?",
        run: experiments::bytes::run,
    },
];

fn main() -> ExitCode {
    lab_main(
        "lab-05-checkpoints",
        "Checkpoints: what stands in them, and what may happen to them.",
        EXPERIMENTS,
    )
}
