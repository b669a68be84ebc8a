//! Wrong answers to 7.5.

use super::{Wrong, wrong};

pub fn mistakes() -> Vec<Wrong> {
    Vec::new()
}
