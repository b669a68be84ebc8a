//! The mutation score of lab 03: `cargo test -p engine-room-mutation --test mutation-03-autograd`.

#[path = "../../labs/lab-03-autograd/checks.rs"]
mod checks;
#[allow(dead_code, reason = "training it is the lab's business")]
#[path = "../../labs/lab-03-autograd/network.rs"]
mod network;

/// The solution with all its mutants, written by `build.rs`.
#[allow(
    clippy::all,
    missing_docs,
    unused,
    reason = "a program wrote it, and its changes are meant to be wrong"
)]
mod solution {
    include!(concat!(env!("OUT_DIR"), "/lab-03-autograd.rs"));
}

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: grading::CappedAllocator = grading::CappedAllocator;

fn main() -> ExitCode {
    let mutants = grading::Mutants {
        all: solution::MUTANTS,
        activate: engine_room_mutation::activate,
        exceptions: include_str!("exceptions-03-autograd.txt"),
    };
    let implementation = checks::implementation!(solution);
    grading::mutate(checks::CHECKS, implementation, &mutants)
}
