//! Lab 04: how a model is kept, how it is trained, and how many bytes that takes.

mod experiments;
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

/// The exercises as they were handed out: the loop with its three bugs.
mod stub;

use std::process::ExitCode;

use engine_room_labs::{Experiment, lab_main};

const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "lines",
        question: "which bytes does each line of a training loop make and free?",
        run: experiments::lines::run,
    },
    Experiment {
        name: "places",
        question: "does it matter where a loop drops its gradients?",
        run: experiments::lines::places,
    },
    Experiment {
        name: "start",
        question: "what does a deep network make of a signal, by how its weights begin?",
        run: experiments::start::run,
    },
    Experiment {
        name: "tree",
        question: "what is found in a model, under which names, and how often?",
        run: experiments::tree::run,
    },
    Experiment {
        name: "forgotten",
        question: "what becomes of a model whose tree lacks a layer?",
        run: experiments::forgotten::run,
    },
    Experiment {
        name: "missing",
        question: "what does a loop without zero_grad look like?",
        run: experiments::missing::run,
    },
    Experiment {
        name: "curves",
        question: "what do the curves of exercise 4.6's loop look like?",
        run: experiments::curves::run,
    },
    Experiment {
        name: "adamw",
        question: "what does AdamW keep and do, step by step?",
        run: experiments::adamw::run,
    },
    Experiment {
        name: "gradients",
        question: "how large are gradients, and how many does f16 make zero?",
        run: experiments::gradients::run,
    },
    Experiment {
        name: "scaler",
        question: "how does a loss scaler find its scale?",
        run: experiments::scaler::run,
    },
    Experiment {
        name: "reach",
        question: "from which batch on does autocast hold fewer bytes?",
        run: experiments::reach::run,
    },
    Experiment {
        name: "bytes",
        question: "how many bytes does each recipe hold for a parameter?",
        run: experiments::bytes::run,
    },
    Experiment {
        name: "recipes",
        question: "what does each recipe reach, and how long does it take?",
        run: experiments::recipes::run,
    },
];

fn main() -> ExitCode {
    lab_main(
        "lab-04-modules",
        "Modules: how a model is kept, how it is trained, and how many bytes that takes.",
        EXPERIMENTS,
    )
}
