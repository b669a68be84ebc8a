//! Lab 01: what a number format costs and loses, and what it costs to move numbers.

mod experiments;
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

const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "steps",
        question: "what does one training step leave of itself in each format?",
        run: experiments::steps::run,
    },
    Experiment {
        name: "formats",
        question: "how far does each format reach, and how fine is it?",
        run: experiments::formats::run,
    },
    Experiment {
        name: "bits",
        question: "how does an f32 become a bf16, bit by bit?",
        run: experiments::bits::run,
    },
    Experiment {
        name: "sums",
        question: "what is left of a long sum, by format and by order?",
        run: experiments::sums::run,
    },
    Experiment {
        name: "scaling",
        question: "what is stored of a gradient when the loss is scaled?",
        run: experiments::steps::scaling,
    },
    Experiment {
        name: "matmul",
        question: "is half the bytes half the time?",
        run: experiments::matmul::run,
    },
    Experiment {
        name: "transfers",
        question: "what does a copy to a device cost, by size and by number of calls?",
        run: experiments::transfers::run,
    },
    Experiment {
        name: "blocking",
        question: "for how long does a copy hold the host?",
        run: experiments::blocking::run,
    },
    Experiment {
        name: "pipeline",
        question: "what went to the device and came back?",
        run: experiments::pipeline::run,
    },
];

fn main() -> ExitCode {
    lab_main(
        "lab-01-tensors",
        "Tensors: what a number format costs and loses, and what it costs to move numbers.",
        EXPERIMENTS,
    )
}
