//! Lab 00: how large a model is, where each technique of the book moves the bill, what this machine
//! can do, and a page of Rust.

mod experiments;
mod format;
mod map;
mod reading;

#[cfg_attr(not(salvage), path = "exercise.rs")]
#[cfg_attr(salvage, path = ".salvaged.rs")]
mod exercise;

use std::process::ExitCode;

use engine_room_labs::{Experiment, lab_main};

const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "weights",
        question: "how many bytes does a model of 7 billion parameters hold?",
        run: experiments::weights::run,
    },
    Experiment {
        name: "triangle",
        question: "what does each chapter's technique save, and what does it pay?",
        run: experiments::triangle::run,
    },
    Experiment {
        name: "machine",
        question: "how fast does this machine compute, and how fast does it move bytes?",
        run: experiments::machine::run,
    },
    Experiment {
        name: "rust",
        question: "what does the page of Rust print?",
        run: experiments::rust::run,
    },
];

fn main() -> ExitCode {
    lab_main(
        "lab-00-start",
        "Start: the size of a model, the map of the book, this machine, a page of Rust.",
        EXPERIMENTS,
    )
}
