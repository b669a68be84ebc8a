//! Wrong answers that learners give. The checks must reject each with the diagnosis that names it.

#[path = "mistakes/blocks.rs"]
mod blocks;
#[path = "mistakes/holder.rs"]
mod holder;
#[path = "mistakes/peak.rs"]
mod peak;
#[path = "mistakes/recompute.rs"]
mod recompute;
#[path = "mistakes/round.rs"]
mod round;
#[path = "mistakes/segments.rs"]
mod segments;
#[path = "mistakes/step_peak.rs"]
mod step_peak;

use grading::Mistake;

use super::checks::{Implementation, implementation};
use super::solution;

type Wrong = Mistake<Implementation>;

/// All of them, by exercise.
pub fn mistakes() -> Vec<Wrong> {
    let parts = [
        round::mistakes(),
        blocks::mistakes(),
        peak::mistakes(),
        holder::mistakes(),
        recompute::mistakes(),
        segments::mistakes(),
        step_peak::mistakes(),
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
