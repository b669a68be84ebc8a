//! The grader of lab 05: `cargo test --test lab-05-checkpoints`.

#[path = "../labs/lab-05-checkpoints/checks.rs"]
mod checks;
#[cfg_attr(not(salvage), path = "../labs/lab-05-checkpoints/exercise.rs")]
#[cfg_attr(salvage, path = "../labs/lab-05-checkpoints/.salvaged.rs")]
mod exercise;
#[path = "../labs/lab-05-checkpoints/header.rs"]
mod header;
#[path = "../labs/lab-05-checkpoints/json.rs"]
mod json;
#[path = "../labs/lab-05-checkpoints/loading.rs"]
mod loading;
#[path = "../labs/lab-05-checkpoints/reshard.rs"]
mod reshard;
#[path = "../labs/lab-05-checkpoints/shards.rs"]
mod shards;
#[path = "../labs/lab-05-checkpoints/training_run.rs"]
mod training_run;
#[path = "../labs/lab-05-checkpoints/tree.rs"]
mod tree;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: grading::CappedAllocator = grading::CappedAllocator;

/// The learner's file as it was when this program was compiled.
#[cfg(not(salvage))]
const SOURCE: &str = include_str!("../labs/lab-05-checkpoints/exercise.rs");
#[cfg(salvage)]
const SOURCE: &str = include_str!("../labs/lab-05-checkpoints/.salvaged.rs");

fn main() -> ExitCode {
    let implementation = checks::implementation!(exercise);
    grading::grade(grading::lab!("05-checkpoints"), SOURCE, checks::CHECKS, implementation)
}
