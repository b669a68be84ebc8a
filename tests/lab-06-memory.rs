//! The grader of lab 06: `cargo test --test lab-06-memory`.

#[path = "../labs/lab-06-memory/again.rs"]
mod again;
#[path = "../labs/lab-06-memory/blocks.rs"]
mod blocks;
#[path = "../labs/lab-06-memory/checks.rs"]
mod checks;
#[path = "../labs/lab-06-memory/events.rs"]
mod events;
#[cfg_attr(not(salvage), path = "../labs/lab-06-memory/exercise.rs")]
#[cfg_attr(salvage, path = "../labs/lab-06-memory/.salvaged.rs")]
mod exercise;
#[path = "../labs/lab-06-memory/layers.rs"]
mod layers;
#[path = "../labs/lab-06-memory/step.rs"]
mod step;
#[path = "../labs/lab-06-memory/table.rs"]
mod table;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: grading::CappedAllocator = grading::CappedAllocator;

/// The learner's file as it was when this program was compiled.
#[cfg(not(salvage))]
const SOURCE: &str = include_str!("../labs/lab-06-memory/exercise.rs");
#[cfg(salvage)]
const SOURCE: &str = include_str!("../labs/lab-06-memory/.salvaged.rs");

fn main() -> ExitCode {
    let implementation = checks::implementation!(exercise);
    grading::grade(grading::lab!("06-memory"), SOURCE, checks::CHECKS, implementation)
}
