//! Wrong answers that learners give. The checks must reject each with the diagnosis that names it.

#[path = "mistakes/averages.rs"]
mod averages;
#[path = "mistakes/kernel.rs"]
mod kernel;
#[path = "mistakes/spans.rs"]
mod spans;
#[path = "mistakes/step.rs"]
mod step;
#[path = "mistakes/timing.rs"]
mod timing;
#[path = "mistakes/trace.rs"]
mod trace;
#[path = "mistakes/trace_arrows.rs"]
mod trace_arrows;
#[path = "mistakes/trace_names.rs"]
mod trace_names;
#[path = "mistakes/trace_style.rs"]
mod trace_style;
#[path = "mistakes/training.rs"]
mod training;

use grading::Mistake;

use super::checks::{Implementation, implementation};
use super::solution;

type Wrong = Mistake<Implementation>;

/// All of them, by exercise.
pub fn mistakes() -> Vec<Wrong> {
    let parts = [
        spans::mistakes(),
        averages::mistakes(),
        timing::mistakes(),
        trace::mistakes(),
        kernel::mistakes(),
        training::mistakes(),
        step::mistakes(),
    ];
    parts.into_iter().flatten().collect()
}

fn wrong(
    exercise: &'static str,
    diagnosis: &'static str,
    name: &'static str,
    change: impl FnOnce(&mut Implementation),
) -> Wrong {
    let mut implementation = implementation!(solution);
    change(&mut implementation);
    Mistake { exercise, name, diagnosis, implementation }
}
