//! Proves the grader of lab 00: `cargo test -p engine-room-tests --test proof-00-start`.

#[path = "../labs/lab-00-start/alternatives.rs"]
mod alternatives;
#[path = "../labs/lab-00-start/checks.rs"]
mod checks;
#[path = "../labs/lab-00-start/format.rs"]
mod format;
#[path = "../labs/lab-00-start/mistakes.rs"]
mod mistakes;
#[path = "../labs/lab-00-start/solution.rs"]
mod solution;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: grading::CappedAllocator = grading::CappedAllocator;

fn main() -> ExitCode {
    grading::prove(
        grading::lab!("00-start"),
        checks::CHECKS,
        checks::implementation!(solution),
        alternatives::alternatives(),
        mistakes::mistakes(),
    )
}
