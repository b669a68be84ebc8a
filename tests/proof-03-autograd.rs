//! Proves the grader of lab 03: `cargo test -p engine-room-tests --test proof-03-autograd`.

#[path = "../labs/lab-03-autograd/alternatives.rs"]
mod alternatives;
#[path = "../labs/lab-03-autograd/checks.rs"]
mod checks;
#[path = "../labs/lab-03-autograd/mistakes.rs"]
mod mistakes;
#[allow(dead_code, reason = "training it is the lab's business")]
#[path = "../labs/lab-03-autograd/network.rs"]
mod network;
#[path = "../labs/lab-03-autograd/solution.rs"]
mod solution;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: grading::CappedAllocator = grading::CappedAllocator;

fn main() -> ExitCode {
    grading::prove(
        grading::lab!("03-autograd"),
        checks::CHECKS,
        checks::implementation!(solution),
        alternatives::alternatives(),
        mistakes::mistakes(),
    )
}
