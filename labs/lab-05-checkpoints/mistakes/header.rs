//! Wrong answers: 5.2.

use super::{Wrong, wrong};

pub fn mistakes() -> Vec<Wrong> {
    Vec::new()
}
