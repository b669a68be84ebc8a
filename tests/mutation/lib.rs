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
