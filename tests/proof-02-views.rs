//! Proves the grader of lab 02: `cargo test -p engine-room-tests --test proof-02-views`.

#[path = "../labs/lab-02-views/alternatives.rs"]
mod alternatives;
#[path = "../labs/lab-02-views/attention.rs"]
mod attention;
#[path = "../labs/lab-02-views/cache.rs"]
mod cache;
#[path = "../labs/lab-02-views/checks.rs"]
mod checks;
#[path = "../labs/lab-02-views/header.rs"]
mod header;
#[path = "../labs/lab-02-views/mistakes.rs"]
mod mistakes;
#[path = "../labs/lab-02-views/solution.rs"]
mod solution;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: grading::CappedAllocator = grading::CappedAllocator;

fn main() -> ExitCode {
    grading::prove(
        grading::lab!("02-views"),
        checks::CHECKS,
        checks::implementation!(solution),
        alternatives::alternatives(),
        mistakes::mistakes(),
    )
}
