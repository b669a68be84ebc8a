//! Proves the grader of lab 06: `cargo test -p engine-room-tests --test proof-06-memory`.

#[path = "../labs/lab-06-memory/again.rs"]
mod again;
#[path = "../labs/lab-06-memory/alternatives.rs"]
mod alternatives;
#[path = "../labs/lab-06-memory/blocks.rs"]
mod blocks;
#[path = "../labs/lab-06-memory/checks.rs"]
mod checks;
#[path = "../labs/lab-06-memory/events.rs"]
mod events;
#[path = "../labs/lab-06-memory/layers.rs"]
mod layers;
#[path = "../labs/lab-06-memory/mistakes.rs"]
mod mistakes;
#[path = "../labs/lab-06-memory/solution.rs"]
mod solution;
#[path = "../labs/lab-06-memory/step.rs"]
mod step;
#[path = "../labs/lab-06-memory/table.rs"]
mod table;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: grading::CappedAllocator = grading::CappedAllocator;

fn main() -> ExitCode {
    grading::prove(
        grading::lab!("06-memory"),
        checks::CHECKS,
        checks::implementation!(solution),
        alternatives::alternatives(),
        mistakes::mistakes(),
    )
}
