//! `Walk` of `kernels/common.cuh`: the shape that operands have in common, and their strides.

use crate::device::driver::Params;
use crate::device::gpu::launch::count;
use crate::layout::{Layout, coalesced};
use crate::shape::{Dims, MAX_DIMS};

/// A shape and, for each of `N` operands, how far apart its elements lie.
pub(super) struct Walk<const N: usize> {
    count: u32,
    shape: Dims,
    strides: [[i64; MAX_DIMS]; N],
}

impl<const N: usize> Walk<N> {
    /// The walk over layouts of one shape, with as few dimensions as possible.
    pub fn new(op: &'static str, layouts: [&Layout; N]) -> Walk<N> {
        let count = count(op, layouts[0].shape().numel());
        let layouts = coalesced(layouts);
        Walk { count, shape: *layouts[0].shape(), strides: layouts.map(|layout| steps(&layout)) }
    }

    /// How many elements there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Adds the bytes of the C struct to parameters.
    pub fn append_to(&self, params: Params) -> Params {
        // A tensor of one number counts as one dimension: the kernel's loop then has a last one.
        let rank = self.shape.len().max(1) as i32;
        let mut params = params.aligned(8).u32(self.count).i32(rank);
        for dim in 0..MAX_DIMS {
            params = params.u32(self.shape.get(dim).map_or(1, |&size| size as u32));
        }
        self.strides.iter().flatten().fold(params, |params, &step| params.i64(step))
    }
}

impl Walk<1> {
    /// The walk from the end to the front in those dimensions for which `over` is true. It starts
    /// at their last element; the second result says how far that is from the first.
    pub fn backwards(op: &'static str, layout: &Layout, over: &[bool]) -> (Walk<1>, usize) {
        let (onward, back) = (layout.stepping(|dim| !over[dim]), layout.stepping(|dim| over[dim]));
        let Walk { count, shape, strides: [onward, steps_back] } = Walk::new(op, [&onward, &back]);
        let strides = [std::array::from_fn(|dim| onward[dim] - steps_back[dim])];
        let steps = back.shape().iter().zip(back.strides().iter());
        let last = steps.map(|(size, step)| size.saturating_sub(1) * step).sum();
        (Walk { count, shape, strides }, last)
    }
}

fn steps(layout: &Layout) -> [i64; MAX_DIMS] {
    std::array::from_fn(|dim| layout.strides().get(dim).map_or(0, |&step| step as i64))
}
