//! Rows of what layers and losses are made of.

use crate::ops::table::samples::{classified, one};
use crate::ops::table::{OpRow, row};

pub(super) const ROWS: &[OpRow] = &[
    row("softmax", one, |x| x[0].softmax(1)),
    row("log_softmax", one, |x| x[0].log_softmax(-1)),
    row("cross_entropy", classified, |x| x[0].cross_entropy(&x[1])),
];
