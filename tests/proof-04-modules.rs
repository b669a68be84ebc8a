//! Proves the grader of lab 04: `cargo test -p engine-room-tests --test proof-04-modules`.

#[path = "../labs/lab-04-modules/alternatives.rs"]
mod alternatives;
#[path = "../labs/lab-04-modules/checks.rs"]
mod checks;
#[path = "../labs/lab-04-modules/mistakes.rs"]
mod mistakes;
#[path = "../labs/lab-04-modules/module_tree.rs"]
mod module_tree;
#[path = "../labs/lab-04-modules/recipe.rs"]
mod recipe;
#[path = "../labs/lab-04-modules/solution.rs"]
mod solution;
#[path = "../labs/lab-04-modules/state.rs"]
mod state;
#[path = "../labs/lab-04-modules/training.rs"]
mod training;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: grading::CappedAllocator = grading::CappedAllocator;

fn main() -> ExitCode {
    grading::prove(
        grading::lab!("04-modules"),
        checks::CHECKS,
        checks::implementation!(solution),
        alternatives::alternatives(),
        mistakes::mistakes(),
    )
}
