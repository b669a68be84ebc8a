//! The grader of lab 04: `cargo test --test lab-04-modules`.

#[path = "../labs/lab-04-modules/checks.rs"]
mod checks;
#[cfg_attr(not(salvage), path = "../labs/lab-04-modules/exercise.rs")]
#[cfg_attr(salvage, path = "../labs/lab-04-modules/.salvaged.rs")]
mod exercise;
#[path = "../labs/lab-04-modules/module_tree.rs"]
mod module_tree;
#[path = "../labs/lab-04-modules/recipe.rs"]
mod recipe;
#[path = "../labs/lab-04-modules/state.rs"]
mod state;
#[path = "../labs/lab-04-modules/training.rs"]
mod training;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: grading::CappedAllocator = grading::CappedAllocator;

/// The learner's file as it was when this program was compiled.
#[cfg(not(salvage))]
const SOURCE: &str = include_str!("../labs/lab-04-modules/exercise.rs");
#[cfg(salvage)]
const SOURCE: &str = include_str!("../labs/lab-04-modules/.salvaged.rs");

fn main() -> ExitCode {
    let implementation = checks::implementation!(exercise);
    grading::grade(grading::lab!("04-modules"), SOURCE, checks::CHECKS, implementation)
}
