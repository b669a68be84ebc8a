//! Grades exercises: whatever a learner's code does, each exercise gets one verdict with a reason.
//!
//! For authors of labs. A lab's `checks.rs` holds an `Implementation` (a table of functions) and
//! one check per exercise, written with [`Check`], [`Diagnosis`] and [`Idea`]. Three programs run
//! the same checks:
//!
//! - the grader `tests/lab-NN-slug.rs` calls [`grade`] on the learner's functions;
//! - the proof `tests/proof-NN-slug.rs` calls [`prove`] on the solution, on other right answers and
//!   on typical wrong ones;
//! - the driver `tests/labs.rs` calls [`driver::main`], which builds and runs all graders.
//!
//! How a verdict comes about: [`model`] reads `lab.toml`; [`state`] compares the learner's file
//! with the stub; `isolate` starts this same executable as a child (`child`) that runs one check
//! and writes what happens into a verdict file (`record`); the parent reads it and [`report`]
//! keeps it.

mod alloc;
mod build;
mod capture;
pub mod check;
mod child;
pub mod diagnosis;
pub mod driver;
mod grade;
mod isolate;
pub mod model;
mod mutate;
mod panics;
mod printing;
pub mod progress;
mod prove;
mod record;
pub mod report;
pub mod salvage;
mod source;
pub mod state;
mod strip;
mod tensor;

pub use alloc::{CappedAllocator, peak_of};
pub use check::{Alternative, Check, Death, Exercise, Idea, Mistake};
pub use diagnosis::Diagnosis;
pub use driver::grade_all;
pub use grade::grade;
pub use model::{Facts, Kind, Lab, Prediction, root};
pub use mutate::{Mutant, Mutants, mutate};
pub use panics::{Unfinished, unfinished};
pub use progress::Progress;
pub use prove::prove;
pub use report::{LabReport, Report, State, Verdict};
pub use strip::strip;
pub use tensor::with_inputs;

/// Stands in `exercise.rs` where the learner writes: `exercise!("3.1")` fits any return type.
#[macro_export]
macro_rules! exercise {
    ($id:literal) => {
        $crate::unfinished($id)
    };
}

/// The folder of a lab: `lab!("03-autograd")`.
#[macro_export]
macro_rules! lab {
    ($slug:literal) => {
        $crate::root().join("labs").join(concat!("lab-", $slug))
    };
}
