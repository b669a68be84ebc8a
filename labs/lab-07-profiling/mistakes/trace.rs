//! Wrong answers to 7.4.

use super::{Wrong, wrong};

pub fn mistakes() -> Vec<Wrong> {
    Vec::new()
}
