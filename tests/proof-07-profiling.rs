//! Proves the grader of lab 07: `cargo test -p engine-room-tests --test proof-07-profiling`.

#[path = "../labs/lab-07-profiling/alternatives.rs"]
mod alternatives;
#[path = "../labs/lab-07-profiling/averages.rs"]
mod averages;
#[path = "../labs/lab-07-profiling/checks.rs"]
mod checks;
#[path = "../labs/lab-07-profiling/kernel.rs"]
mod kernel;
#[path = "../labs/lab-07-profiling/mistakes.rs"]
mod mistakes;
#[path = "../labs/lab-07-profiling/solution.rs"]
mod solution;
#[path = "../labs/lab-07-profiling/spans.rs"]
mod spans;
#[path = "../labs/lab-07-profiling/step.rs"]
mod step;
#[path = "../labs/lab-07-profiling/timing.rs"]
mod timing;
#[path = "../labs/lab-07-profiling/trace.rs"]
mod trace;
#[path = "../labs/lab-07-profiling/training.rs"]
mod training;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: grading::CappedAllocator = grading::CappedAllocator;

fn main() -> ExitCode {
    grading::prove(
        grading::lab!("07-profiling"),
        checks::CHECKS,
        checks::implementation!(solution),
        alternatives::alternatives(),
        mistakes::mistakes(),
    )
}
