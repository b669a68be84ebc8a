//! The mutation score of lab 00: `cargo test -p engine-room-mutation --test mutation-00-start`.

#[path = "../../labs/lab-00-start/checks.rs"]
mod checks;
#[path = "../../labs/lab-00-start/format.rs"]
mod format;

/// The solution with all its mutants, written by `build.rs`.
#[allow(
    clippy::all,
    missing_docs,
    unused,
    reason = "a program wrote it, and its changes are meant to be wrong"
)]
mod solution {
    include!(concat!(env!("OUT_DIR"), "/lab-00-start.rs"));
}

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: grading::CappedAllocator = grading::CappedAllocator;

fn main() -> ExitCode {
    let mutants = grading::Mutants {
        all: solution::MUTANTS,
        activate: engine_room_mutation::activate,
        exceptions: include_str!("exceptions-00-start.txt"),
    };
    let implementation = checks::implementation!(solution);
    grading::mutate(checks::CHECKS, implementation, &mutants)
}
