//! Wrong answers that learners give. The checks must reject each with the diagnosis that names it.

use grading::Mistake;

use super::checks::Implementation;

/// All of them, by exercise.
pub fn mistakes() -> Vec<Mistake<Implementation>> {
    Vec::new()
}
