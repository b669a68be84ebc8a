//! `Walk` of `kernels/common.cuh`: the shape that operands have in common, and their strides.

use crate::device::driver::Params;
use crate::device::gpu::launch::count;
use crate::layout::{Layout, coalesced};
use crate::shape::MAX_DIMS;

/// A shape and, for each of `N` operands, how far apart its elements lie.
pub(super) struct Walk<const N: usize> {
    count: u32,
    layouts: [Layout; N],
}

impl<const N: usize> Walk<N> {
    /// The walk over layouts of one shape, with as few dimensions as possible.
    pub fn new(op: &'static str, layouts: [&Layout; N]) -> Walk<N> {
        let count = count(op, layouts[0].shape().numel());
        Walk { count, layouts: coalesced(layouts) }
    }

    /// How many elements there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Adds the bytes of the C struct to parameters.
    pub fn append_to(&self, params: Params) -> Params {
        let shape = self.layouts[0].shape();
        // A tensor of one number counts as one dimension: the kernel's loop then has a last one.
        let mut params = params.aligned(8).u32(self.count).i32(shape.len().max(1) as i32);
        for dim in 0..MAX_DIMS {
            params = params.u32(shape.get(dim).map_or(1, |&size| size as u32));
        }
        for layout in &self.layouts {
            for dim in 0..MAX_DIMS {
                params = params.i64(layout.strides().get(dim).map_or(0, |&step| step as i64));
            }
        }
        params
    }
}
