//! Proves the grader of lab 05: `cargo test -p engine-room-tests --test proof-05-checkpoints`.

#[path = "../labs/lab-05-checkpoints/alternatives.rs"]
mod alternatives;
#[path = "../labs/lab-05-checkpoints/checks.rs"]
mod checks;
#[path = "../labs/lab-05-checkpoints/header.rs"]
mod header;
#[path = "../labs/lab-05-checkpoints/json.rs"]
mod json;
#[path = "../labs/lab-05-checkpoints/loading.rs"]
mod loading;
#[path = "../labs/lab-05-checkpoints/mistakes.rs"]
mod mistakes;
#[path = "../labs/lab-05-checkpoints/reshard.rs"]
mod reshard;
#[path = "../labs/lab-05-checkpoints/shards.rs"]
mod shards;
#[path = "../labs/lab-05-checkpoints/solution.rs"]
mod solution;
#[path = "../labs/lab-05-checkpoints/training_run.rs"]
mod training_run;
#[path = "../labs/lab-05-checkpoints/tree.rs"]
mod tree;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: grading::CappedAllocator = grading::CappedAllocator;

fn main() -> ExitCode {
    grading::prove(
        grading::lab!("05-checkpoints"),
        checks::CHECKS,
        checks::implementation!(solution),
        alternatives::alternatives(),
        mistakes::mistakes(),
    )
}
