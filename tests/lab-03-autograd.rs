//! The grader of lab 03: `cargo test --test lab-03-autograd`.

#[path = "../labs/lab-03-autograd/checks.rs"]
mod checks;
#[cfg_attr(not(salvage), path = "../labs/lab-03-autograd/exercise.rs")]
#[cfg_attr(salvage, path = "../labs/lab-03-autograd/.salvaged.rs")]
mod exercise;
#[allow(dead_code, reason = "training it is the lab's business")]
#[path = "../labs/lab-03-autograd/network.rs"]
mod network;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: grading::CappedAllocator = grading::CappedAllocator;

/// The learner's file as it was when this program was compiled.
#[cfg(not(salvage))]
const SOURCE: &str = include_str!("../labs/lab-03-autograd/exercise.rs");
#[cfg(salvage)]
const SOURCE: &str = include_str!("../labs/lab-03-autograd/.salvaged.rs");

fn main() -> ExitCode {
    let implementation = checks::implementation!(exercise);
    grading::grade(grading::lab!("03-autograd"), SOURCE, checks::CHECKS, implementation)
}
