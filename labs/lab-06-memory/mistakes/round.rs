//! Wrong answers: 6.1.

use super::Wrong;

pub fn mistakes() -> Vec<Wrong> {
    Vec::new()
}
