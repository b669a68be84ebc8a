//! Right answers in other styles than the solution's. The checks must accept every one of them.

use grading::Alternative;

use super::checks::Implementation;

/// At least two for each exercise.
pub fn alternatives() -> Vec<Alternative<Implementation>> {
    Vec::new()
}
