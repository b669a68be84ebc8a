//! Right answers in other styles than the solution's. The checks must accept every one of them.

#[path = "alternatives/flatten.rs"]
mod flatten;
#[path = "alternatives/header.rs"]
mod header;
#[path = "alternatives/load.rs"]
mod load;
#[path = "alternatives/reshard.rs"]
mod reshard;
#[path = "alternatives/resume.rs"]
mod resume;
#[path = "alternatives/save.rs"]
mod save;
#[path = "alternatives/shard.rs"]
mod shard;

use grading::Alternative;

use super::checks::{Implementation, implementation};
use super::solution;

type Other = Alternative<Implementation>;

/// At least two for each exercise.
pub fn alternatives() -> Vec<Other> {
    let parts = [
        flatten::alternatives(),
        header::alternatives(),
        load::alternatives(),
        save::alternatives(),
        shard::alternatives(),
        reshard::alternatives(),
        resume::alternatives(),
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
