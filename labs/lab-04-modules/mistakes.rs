//! Wrong answers that learners give. The checks must reject each with the diagnosis that names it.

#[path = "mistakes/adamw.rs"]
mod adamw;
#[path = "mistakes/bytes.rs"]
mod bytes;
#[path = "mistakes/gradients.rs"]
mod gradients;
#[path = "mistakes/layers.rs"]
mod layers;
#[path = "mistakes/training_loop.rs"]
mod training_loop;

use grading::Mistake;

use super::checks::{Implementation, implementation};
use super::solution;

type Wrong = Mistake<Implementation>;

/// All of them, by exercise.
pub fn mistakes() -> Vec<Wrong> {
    let parts = [
        layers::mistakes(),
        adamw::mistakes(),
        gradients::mistakes(),
        training_loop::mistakes(),
        bytes::mistakes(),
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
