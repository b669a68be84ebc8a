//! The mutation score of lab 01: `cargo test -p engine-room-mutation --test mutation-01-tensors`.

#[path = "../../labs/lab-01-tensors/checks.rs"]
mod checks;
#[allow(dead_code, reason = "the experiments and the learner use it")]
#[path = "../../labs/lab-01-tensors/formats.rs"]
mod formats;
#[allow(dead_code, reason = "the experiments and the learner use it")]
#[path = "../../labs/lab-01-tensors/pipeline.rs"]
mod pipeline;
#[path = "../../labs/lab-01-tensors/training.rs"]
mod training;

/// The solution with all its mutants, written by `build.rs`.
#[allow(
    clippy::all,
    missing_docs,
    unused,
    reason = "a program wrote it, and its changes are meant to be wrong"
)]
mod solution {
    include!(concat!(env!("OUT_DIR"), "/lab-01-tensors.rs"));
}

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: grading::CappedAllocator = grading::CappedAllocator;

fn main() -> ExitCode {
    let mutants = grading::Mutants {
        all: solution::MUTANTS,
        activate: engine_room_mutation::activate,
        exceptions: include_str!("exceptions-01-tensors.txt"),
    };
    let implementation = checks::implementation!(solution);
    grading::mutate(checks::CHECKS, implementation, &mutants)
}
