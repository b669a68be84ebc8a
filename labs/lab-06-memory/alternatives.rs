//! Right answers in other styles than the solution's. The checks must accept every one of them.

#[path = "alternatives/blocks.rs"]
mod blocks;
#[path = "alternatives/holder.rs"]
mod holder;
#[path = "alternatives/peak.rs"]
mod peak;
#[path = "alternatives/recompute.rs"]
mod recompute;
#[path = "alternatives/round.rs"]
mod round;
#[path = "alternatives/segments.rs"]
mod segments;
#[path = "alternatives/step_peak.rs"]
mod step_peak;

use grading::Alternative;

use super::checks::{Implementation, implementation};
use super::solution;

type Other = Alternative<Implementation>;

/// At least two for each exercise.
pub fn alternatives() -> Vec<Other> {
    let parts = [
        round::alternatives(),
        blocks::alternatives(),
        peak::alternatives(),
        holder::alternatives(),
        recompute::alternatives(),
        segments::alternatives(),
        step_peak::alternatives(),
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
