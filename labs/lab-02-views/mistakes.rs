//! Wrong answers that learners give. The checks must reject each with the diagnosis that names it.

#[path = "mistakes/blocks.rs"]
mod blocks;
#[path = "mistakes/copies.rs"]
mod copies;
#[path = "mistakes/foretold.rs"]
mod foretold;
#[path = "mistakes/headers.rs"]
mod headers;
#[path = "mistakes/views.rs"]
mod views;

use grading::Mistake;

use super::checks::{Implementation, implementation};
use super::solution;

type Wrong = Mistake<Implementation>;

/// All of them, by exercise.
pub fn mistakes() -> Vec<Wrong> {
    let headers =
        [headers::strides(), headers::permutes(), headers::expands()].into_iter().flatten();
    let others = [views::mistakes(), copies::mistakes(), blocks::mistakes(), foretold::mistakes()];
    headers.chain(others.into_iter().flatten()).collect()
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
