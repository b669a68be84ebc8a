//! Wrong answers to 7.7.

use super::{Wrong, wrong};

pub fn mistakes() -> Vec<Wrong> {
    Vec::new()
}
