//! Lab 02: which operations move numbers, and which only say where they lie.

#[allow(dead_code, reason = "the experiments use a part of it")]
mod attention;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod cache;
mod experiments;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod header;

#[cfg_attr(not(salvage), path = "exercise.rs")]
#[cfg_attr(salvage, path = ".salvaged.rs")]
mod exercise;

use std::process::ExitCode;

use engine_room_labs::{Experiment, lab_main};

const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "calls",
        question: "which of these calls move numbers?",
        run: experiments::calls::run,
    },
    Experiment {
        name: "headers",
        question: "where does each element of a view lie?",
        run: experiments::headers::run,
    },
    Experiment {
        name: "keeps",
        question: "what does a view keep alive, and what does its address say?",
        run: experiments::keeps::run,
    },
    Experiment {
        name: "reuse",
        question: "does one address mean one tensor?",
        run: experiments::keeps::reuse,
    },
    Experiment {
        name: "alias",
        question: "who sees a change in place?",
        run: experiments::alias::run,
    },
    Experiment {
        name: "stride",
        question: "what does a number cost if its neighbours are not wanted?",
        run: experiments::stride::run,
    },
    Experiment {
        name: "walks",
        question: "how many lines does a copy fetch, by the order of its loops?",
        run: experiments::walks::run,
    },
    Experiment {
        name: "block",
        question: "which calls of an attention block copy?",
        run: experiments::block::run,
    },
    Experiment {
        name: "operands",
        question: "does it pay to make an operand contiguous first?",
        run: experiments::operands::run,
    },
];

fn main() -> ExitCode {
    lab_main(
        "lab-02-views",
        "Views: which operations move numbers, and which only say where they lie.",
        EXPERIMENTS,
    )
}
