//! Rows of operations that go by an index tensor.

use crate::ops::table::samples::{indexed, listed, scattered};
use crate::ops::table::{OpRow, row};

pub(super) const ROWS: &[OpRow] = &[
    row("gather", indexed, |x| x[0].gather(1, &x[1])),
    row("scatter_add", scattered, |x| x[0].scatter_add(1, &x[1], &x[2])),
    row("take", listed, |x| x[0].take(&x[1])),
    row("index", listed, |x| x[0].index(&[None, Some(&x[1])])),
    row("index_select", listed, |x| x[0].index_select(1, &x[1])),
];
