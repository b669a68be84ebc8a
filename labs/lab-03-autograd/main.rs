//! Lab 03: what autograd keeps in memory, what it costs, and how to catch it lying.

mod experiments;
mod network;

#[cfg_attr(not(salvage), path = "exercise.rs")]
#[cfg_attr(salvage, path = ".salvaged.rs")]
mod exercise;

use std::process::ExitCode;

use engine_room_labs::{Experiment, lab_main};

const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "trace",
        question: "what happens at each node of a backward pass?",
        run: experiments::trace::run,
    },
    Experiment {
        name: "saved",
        question: "what does a graph keep for its backward pass, node by node?",
        run: experiments::saved::run,
    },
    Experiment {
        name: "growth",
        question: "how do saved activations and parameters grow with batch and depth?",
        run: experiments::growth::run,
    },
    Experiment {
        name: "modes",
        question: "what do no_grad and inference_mode save, in bytes and in time?",
        run: experiments::modes::run,
    },
    Experiment {
        name: "check",
        question: "what do finite differences cost, and how wrong are they?",
        run: experiments::check::run,
    },
    Experiment {
        name: "digits",
        question: "what does training hold, step by step?",
        run: experiments::digits::run,
    },
];

fn main() -> ExitCode {
    lab_main(
        "lab-03-autograd",
        "Autograd: what is recorded, what it keeps in memory, and what it costs.",
        EXPERIMENTS,
    )
}
