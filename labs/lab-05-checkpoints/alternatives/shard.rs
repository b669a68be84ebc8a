//! Other right answers: 5.5.

use super::{Other, other};

pub fn alternatives() -> Vec<Other> {
    Vec::new()
}
