//! The grader of lab 01: `cargo test --test lab-01-tensors`.

#[path = "../labs/lab-01-tensors/checks.rs"]
mod checks;
#[cfg_attr(not(salvage), path = "../labs/lab-01-tensors/exercise.rs")]
#[cfg_attr(salvage, path = "../labs/lab-01-tensors/.salvaged.rs")]
mod exercise;
#[allow(dead_code, reason = "the experiments and the learner use it")]
#[path = "../labs/lab-01-tensors/formats.rs"]
mod formats;
#[allow(dead_code, reason = "the experiments and the learner use it")]
#[path = "../labs/lab-01-tensors/pipeline.rs"]
mod pipeline;
#[path = "../labs/lab-01-tensors/training.rs"]
mod training;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: grading::CappedAllocator = grading::CappedAllocator;

/// The learner's file as it was when this program was compiled.
#[cfg(not(salvage))]
const SOURCE: &str = include_str!("../labs/lab-01-tensors/exercise.rs");
#[cfg(salvage)]
const SOURCE: &str = include_str!("../labs/lab-01-tensors/.salvaged.rs");

fn main() -> ExitCode {
    let implementation = checks::implementation!(exercise);
    grading::grade(grading::lab!("01-tensors"), SOURCE, checks::CHECKS, implementation)
}
