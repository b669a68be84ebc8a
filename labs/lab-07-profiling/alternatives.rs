//! Right answers in other styles than the solution's. The checks must accept every one of them.

#[path = "alternatives/averages.rs"]
mod averages;
#[path = "alternatives/kernel.rs"]
mod kernel;
#[path = "alternatives/spans.rs"]
mod spans;
#[path = "alternatives/step.rs"]
mod step;
#[path = "alternatives/timing.rs"]
mod timing;
#[path = "alternatives/trace.rs"]
mod trace;
#[path = "alternatives/training.rs"]
mod training;

use grading::Alternative;

use super::checks::{Implementation, implementation};
use super::solution;

type Other = Alternative<Implementation>;

/// At least two for each exercise.
pub fn alternatives() -> Vec<Other> {
    let parts = [
        spans::alternatives(),
        averages::alternatives(),
        timing::alternatives(),
        trace::alternatives(),
        kernel::alternatives(),
        training::alternatives(),
        step::alternatives(),
    ];
    parts.into_iter().flatten().collect()
}

fn other(
    exercise: &'static str,
    name: &'static str,
    change: impl FnOnce(&mut Implementation),
) -> Other {
    let mut implementation = implementation!(solution);
    change(&mut implementation);
    Alternative { exercise, name, implementation }
}
