//! Which mutant runs. All mutants of a solution are compiled into one program (mutant schemata:
//! Untch, Offutt and Harrold, 1993), and each changed place asks here which one it is to be.

use std::sync::atomic::{AtomicU32, Ordering};

static ACTIVE: AtomicU32 = AtomicU32::new(0);

/// The number of the mutant that runs; 0 is the unchanged solution.
pub fn active() -> u32 {
    ACTIVE.load(Ordering::Relaxed)
}

/// Chooses the mutant, before the solution runs.
pub fn activate(mutant: u32) {
    ACTIVE.store(mutant, Ordering::Relaxed);
}

/// What every mutation target of a lab is, besides the modules that its solution needs: the
/// solution with all its mutants, which `build.rs` has written, and the program that tries them.
#[macro_export]
macro_rules! mutation_score {
    ($lab:literal) => {
        #[allow(
            clippy::all,
            missing_docs,
            unused,
            unused_comparisons,
            reason = "a program wrote it, and its changes are meant to be wrong"
        )]
        mod solution {
            include!(concat!(env!("OUT_DIR"), "/lab-", $lab, ".rs"));
        }

        #[global_allocator]
        static ALLOCATOR: grading::CappedAllocator = grading::CappedAllocator;

        fn main() -> std::process::ExitCode {
            let mutants = grading::Mutants {
                all: solution::MUTANTS,
                activate: $crate::activate,
                exceptions: include_str!(concat!("exceptions-", $lab, ".txt")),
            };
            grading::mutate(checks::CHECKS, checks::implementation!(solution), &mutants)
        }
    };
}
