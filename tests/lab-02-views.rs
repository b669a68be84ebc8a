//! The grader of lab 02: `cargo test --test lab-02-views`.

#[allow(dead_code, reason = "the experiments and the learner use it")]
#[path = "../labs/lab-02-views/attention.rs"]
mod attention;
#[allow(dead_code, reason = "the experiments and the learner use it")]
#[path = "../labs/lab-02-views/cache.rs"]
mod cache;
#[path = "../labs/lab-02-views/checks.rs"]
mod checks;
#[cfg_attr(not(salvage), path = "../labs/lab-02-views/exercise.rs")]
#[cfg_attr(salvage, path = "../labs/lab-02-views/.salvaged.rs")]
mod exercise;
#[path = "../labs/lab-02-views/header.rs"]
mod header;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: grading::CappedAllocator = grading::CappedAllocator;

/// The learner's file as it was when this program was compiled.
#[cfg(not(salvage))]
const SOURCE: &str = include_str!("../labs/lab-02-views/exercise.rs");
#[cfg(salvage)]
const SOURCE: &str = include_str!("../labs/lab-02-views/.salvaged.rs");

fn main() -> ExitCode {
    let implementation = checks::implementation!(exercise);
    grading::grade(grading::lab!("02-views"), SOURCE, checks::CHECKS, implementation)
}
