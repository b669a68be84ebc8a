//! Rows of views, and the copies beside them.

use crate::ops::table::samples::{narrow, one};
use crate::ops::table::{OpRow, row};

pub(super) const ROWS: &[OpRow] = &[
    row("transpose", one, |x| x[0].transpose(0, 2)),
    row("permute", one, |x| x[0].permute(&[2, 0, 1])),
    row("narrow", one, |x| x[0].narrow(1, 1, 2)),
    row("slice", one, |x| x[0].slice(2, 0, 4, 3)),
    row("select", one, |x| x[0].select(1, -1)),
    row("unfold", one, |x| x[0].unfold(2, 3, 1)),
    row("flip", one, |x| x[0].flip(&[0, -1])),
    row("reshape", one, |x| x[0].transpose(0, 1).reshape(&[4, 6])),
    row("expand", narrow, |x| x[0].expand(&[2, 3, 4])),
    row("copy", one, |x| x[0].transpose(1, 2).copy()),
];
