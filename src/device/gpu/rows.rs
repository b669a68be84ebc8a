//! `Rows` of `kernels/rows.cuh`: rows of operands, and the threads that walk along them.

use crate::device::driver::Params;
use crate::device::gpu::launch::{BLOCK, count};
use crate::device::gpu::walk::Walk;
use crate::layout::{Layout, inner_row};

/// Threads of a warp.
pub(super) const WARP: u32 = 32;

/// Elements up to which a warp is enough for a row.
const SHORT: u32 = 1024;

/// The rows of `N` operands of one shape, `(.., len)`.
pub(super) struct Rows<const N: usize> {
    outer: Walk<N>,
    steps: [usize; N],
    len: u32,
}

impl<const N: usize> Rows<N> {
    /// The rows along the last dimension; of a tensor without dimensions, one of one element.
    pub fn new(op: &'static str, layouts: [&Layout; N]) -> Rows<N> {
        let last = layouts[0].shape().len().saturating_sub(1);
        let outer = layouts.map(|layout| layout.split(|dim| dim == last).0);
        let steps = layouts.map(|layout| inner_row(layout).1);
        let len = count(op, inner_row(layouts[0]).0);
        count(op, layouts[0].shape().numel());
        Rows { outer: Walk::new(op, std::array::from_fn(|i| &outer[i])), steps, len }
    }

    /// How many rows there are.
    pub fn count(&self) -> u32 {
        self.outer.count()
    }

    /// The elements of a row.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// The elements of all rows.
    pub fn numel(&self) -> u32 {
        self.count() * self.len
    }

    /// Blocks and threads with a row of threads for each row.
    pub fn threads(&self) -> ([u32; 3], [u32; 3]) {
        let block = block_for(self.len);
        ([self.count().div_ceil(block[1]), 1, 1], block)
    }

    /// Adds the bytes of the C struct to parameters.
    pub fn append_to(&self, params: Params) -> Params {
        let mut params = self.outer.append_to(params);
        for &step in &self.steps {
            params = params.i64(step as i64);
        }
        params.u32(self.len).aligned(8)
    }
}

/// A block whose rows of threads suit rows of `len` elements.
pub(super) fn block_for(len: u32) -> [u32; 3] {
    if len <= SHORT { [WARP, BLOCK / WARP, 1] } else { [BLOCK, 1, 1] }
}
