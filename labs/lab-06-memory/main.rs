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

const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "trace",
        question: "which block does a tensor get, and what is the driver asked for?",
        run: experiments::trace::run,
    },
    Experiment {
        name: "pieces",
        question: "why does an almost empty GPU have no room?",
        run: experiments::pieces::run,
    },
    Experiment {
        name: "step",
        question: "what is alive in a training step, when, and for what?",
        run: experiments::step::run,
    },
    Experiment {
        name: "holders",
        question: "who held the memory at the peak of a training step?",
        run: experiments::holders::run,
    },
    Experiment {
        name: "batch",
        question: "how does what a graph keeps grow with the batch and the length of its texts?",
        run: experiments::batch::run,
    },
    Experiment {
        name: "attention",
        question: "what does an attention keep, as one operation and as five?",
        run: experiments::attention::run,
    },
    Experiment {
        name: "segments",
        question: "in how many segments is a chain of layers best recomputed?",
        run: experiments::segments::run,
    },
    Experiment {
        name: "price",
        question: "what does recomputation cost in time?",
        run: experiments::price::run,
    },
    Experiment {
        name: "small",
        question: "how does a training fit on a GPU of 64 MiB?",
        run: experiments::small::run,
    },
];

fn main() -> ExitCode {
    lab_main(
        "lab-06-memory",
        "Memory: who holds it at the peak, and what can be done.",
        EXPERIMENTS,
    )
}
