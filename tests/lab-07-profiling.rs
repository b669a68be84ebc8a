//! The grader of lab 07: `cargo test --test lab-07-profiling`.

#[path = "../labs/lab-07-profiling/averages.rs"]
mod averages;
#[path = "../labs/lab-07-profiling/checks.rs"]
mod checks;
#[cfg_attr(not(salvage), path = "../labs/lab-07-profiling/exercise.rs")]
#[cfg_attr(salvage, path = "../labs/lab-07-profiling/.salvaged.rs")]
mod exercise;
#[path = "../labs/lab-07-profiling/kernel.rs"]
mod kernel;
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

/// The learner's file as it was when this program was compiled.
#[cfg(not(salvage))]
const SOURCE: &str = include_str!("../labs/lab-07-profiling/exercise.rs");
#[cfg(salvage)]
const SOURCE: &str = include_str!("../labs/lab-07-profiling/.salvaged.rs");

fn main() -> ExitCode {
    let implementation = checks::implementation!(exercise);
    grading::grade(grading::lab!("07-profiling"), SOURCE, checks::CHECKS, implementation)
}
