//! The grader of lab 00: `cargo test --test lab-00-start`.

#[path = "../labs/lab-00-start/checks.rs"]
mod checks;
#[cfg_attr(not(salvage), path = "../labs/lab-00-start/exercise.rs")]
#[cfg_attr(salvage, path = "../labs/lab-00-start/.salvaged.rs")]
mod exercise;
#[path = "../labs/lab-00-start/format.rs"]
mod format;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: grading::CappedAllocator = grading::CappedAllocator;

/// The learner's file as it was when this program was compiled.
#[cfg(not(salvage))]
const SOURCE: &str = include_str!("../labs/lab-00-start/exercise.rs");
#[cfg(salvage)]
const SOURCE: &str = include_str!("../labs/lab-00-start/.salvaged.rs");

fn main() -> ExitCode {
    let implementation = checks::implementation!(exercise);
    grading::grade(grading::lab!("00-start"), SOURCE, checks::CHECKS, implementation)
}
