//! Proves the grader of lab 01: `cargo test -p engine-room-tests --test proof-01-tensors`.

#[path = "../labs/lab-01-tensors/alternatives.rs"]
mod alternatives;
#[path = "../labs/lab-01-tensors/checks.rs"]
mod checks;
#[path = "../labs/lab-01-tensors/formats.rs"]
mod formats;
#[path = "../labs/lab-01-tensors/mistakes.rs"]
mod mistakes;
#[path = "../labs/lab-01-tensors/pipeline.rs"]
mod pipeline;
#[path = "../labs/lab-01-tensors/solution.rs"]
mod solution;
#[path = "../labs/lab-01-tensors/training.rs"]
mod training;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: grading::CappedAllocator = grading::CappedAllocator;

fn main() -> ExitCode {
    grading::prove(
        grading::lab!("01-tensors"),
        checks::CHECKS,
        checks::implementation!(solution),
        alternatives::alternatives(),
        mistakes::mistakes(),
    )
}
