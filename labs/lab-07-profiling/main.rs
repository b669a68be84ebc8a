//! Lab 07: where the time goes, and what is worth mending.

#[allow(dead_code, reason = "the experiments use a part of it")]
mod averages;
mod experiments;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod kernel;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod spans;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod step;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod timing;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod trace;
#[allow(dead_code, reason = "the experiments use a part of it")]
mod training;

#[cfg_attr(not(salvage), path = "exercise.rs")]
#[cfg_attr(salvage, path = ".salvaged.rs")]
mod exercise;

/// The exercises as they were handed out: the slow loop.
mod stub;

use std::process::ExitCode;

use engine_room_labs::{Experiment, lab_main};

const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "lines",
        question: "which line of a training step takes the time?",
        run: experiments::lines::run,
    },
    Experiment {
        name: "time_line",
        question: "when does the host ask, and when does the GPU work?",
        run: experiments::time_line::run,
    },
    Experiment {
        name: "table",
        question: "which kernels and operations take the time of a step?",
        run: experiments::profile_of_gpt::run,
    },
    Experiment {
        name: "launch",
        question: "from which size on does a kernel take longer than its launch?",
        run: experiments::launch::run,
    },
    Experiment {
        name: "roofline",
        question: "what do the kernels of a step go by, on four GPUs?",
        run: experiments::roofline::run,
    },
    Experiment {
        name: "sync",
        question: "what does it cost to read a loss in each step?",
        run: experiments::sync::run,
    },
    Experiment {
        name: "slow",
        question: "what slows the loop of exercise 7.6 down?",
        run: experiments::slow::run,
    },
    Experiment {
        name: "pays",
        question: "what does a faster GPU bring?",
        run: experiments::pays::run,
    },
];

fn main() -> ExitCode {
    lab_main(
        "lab-07-profiling",
        "Profiling: where the time goes, and what is worth mending.",
        EXPERIMENTS,
    )
}
