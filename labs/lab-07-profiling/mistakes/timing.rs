//! Wrong answers to 7.3.

use super::{Wrong, wrong};

pub fn mistakes() -> Vec<Wrong> {
    Vec::new()
}
