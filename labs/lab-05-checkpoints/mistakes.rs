//! Wrong answers that learners give. The checks must reject each with the diagnosis that names it.

#[path = "mistakes/flatten.rs"]
mod flatten;
#[path = "mistakes/header.rs"]
mod header;
#[path = "mistakes/load.rs"]
mod load;
#[path = "mistakes/reshard.rs"]
mod reshard;
#[path = "mistakes/reshard_walk.rs"]
mod reshard_walk;
#[path = "mistakes/resume.rs"]
mod resume;
#[path = "mistakes/save.rs"]
mod save;
#[path = "mistakes/shard.rs"]
mod shard;

use grading::Mistake;

use super::checks::{Implementation, implementation};
use super::solution;

type Wrong = Mistake<Implementation>;

/// All of them, by exercise.
pub fn mistakes() -> Vec<Wrong> {
    let parts = [
        flatten::mistakes(),
        header::mistakes(),
        load::mistakes(),
        save::mistakes(),
        shard::mistakes(),
        reshard::mistakes(),
        reshard_walk::mistakes(),
        resume::mistakes(),
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
