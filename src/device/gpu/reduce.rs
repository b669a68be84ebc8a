//! Reductions over any dimensions; see `kernels/reduce.cuh`, `reduce.cu` and `arg_reduce.cu`.
//!
//! A large reduction takes two launches: the first one leaves parts, in the type that is computed
//! with, and the second one reduces these.

use crate::device::driver::{DevicePtr, Params};
use crate::device::gpu::launch::{BLOCK, Fresh, kernel_for, launch, source};
use crate::device::gpu::rows::{WARP, block_for};
use crate::device::gpu::walk::Walk;
use crate::device::{Device, Reduce, View};
use crate::dtype::DType;
use crate::layout::{Layout, coalesced, inner_row};
use crate::storage::Storage;

/// Blocks that keep a GPU busy: more parts than that only make more work.
const BLOCKS: u32 = 256;

/// Elements that a thread should reduce before parts are worth a second launch.
const PER_THREAD: u32 = 32;

/// Which kernel reduces elements, which one the parts, and what comes at the end.
#[derive(Clone, Copy)]
struct Plan {
    op: &'static str,
    kernel: &'static str,
    of_parts: &'static str,
    finish: Finish,
}

/// `Finish` of `kernels/reduce.cuh`.
#[derive(Clone, Copy)]
struct Finish {
    to: DType,
    root: bool,
    divisor: f64,
}

impl Finish {
    fn plain(to: DType) -> Finish {
        Finish { to, root: false, divisor: 1.0 }
    }
}

/// Reduces the dimensions for which `over` is true, to elements of type `to`.
pub fn reduce(f: Reduce, x: View, over: &[bool], to: DType) -> Storage {
    let (op, kernel, of_parts) = match f {
        Reduce::Sum => ("sum", "sum", "sum"),
        Reduce::Prod => ("prod", "prod", "prod"),
        Reduce::Max => ("max", "max", "max"),
        Reduce::Min => ("min", "min", "min"),
        Reduce::Norm1 => ("norm", "sum_abs", "sum"),
        Reduce::Norm2 => ("norm", "sum_squares", "sum"),
        Reduce::NormInf => ("norm", "max_abs", "max"),
    };
    let finish = Finish { root: f == Reduce::Norm2, ..Finish::plain(to) };
    run(Plan { op, kernel, of_parts, finish }, x, over, DevicePtr::NULL).into_storage()
}

/// ln Σ exp(x): of parts too, since their logarithms are numbers like any other.
pub fn logsumexp(x: View, over: &[bool]) -> Storage {
    let (op, finish) = ("logsumexp", Finish::plain(x.dtype()));
    run(Plan { op, kernel: op, of_parts: op, finish }, x, over, DevicePtr::NULL).into_storage()
}

/// Σ (x − mean)² / divisor, or the root of it: first the mean, in `f32`, then what is left.
pub fn variance(x: View, over: &[bool], divisor: f64, root: bool) -> Storage {
    let (op, of_parts) = ("var", "sum");
    let count = x.layout.split(|dim| over[dim]).1.shape().numel() as f64;
    let finish = Finish { to: DType::F32, root: false, divisor: count };
    let mean = run(Plan { op, kernel: "sum", of_parts, finish }, x, over, DevicePtr::NULL);
    let finish = Finish { to: x.dtype(), root, divisor };
    run(Plan { op, kernel: "sum_squares", of_parts, finish }, x, over, mean.at()).into_storage()
}

/// The sums over the first dimension of `(parts, n)`, packed numbers of type `f32`.
pub(super) fn sum_of_parts(op: &'static str, parts: &Fresh, shape: [u32; 2], to: DType) -> Storage {
    let plan = Plan { op, kernel: "sum", of_parts: "sum", finish: Finish::plain(to) };
    second(plan, parts, shape, DType::F32).into_storage()
}

/// The index of the largest element of each row of `(outer, n)`, or of the smallest.
pub fn arg_reduce(f: Reduce, x: View) -> Storage {
    let op = if f == Reduce::Max { "argmax" } else { "argmin" };
    let (kernel, device) = (kernel_of(op, op, x), x.storage.device());
    let last = x.layout.shape().len().saturating_sub(1);
    let shape = Shape::new(op, x.layout, |dim| dim == last);
    let y = Fresh::new(device, DType::I64, shape.kept.count() as usize);
    let x = source(op, x);
    let params = shape.append_to(Params::new().pointer(x.at).pointer(y.at()));
    launch(device, op, &kernel, shape.threads(1), &params);
    y.into_storage()
}

/// The name of the kernel; `bool` is stored as `u8` is, with 0 and 1.
pub(super) fn kernel_of(op: &'static str, name: &str, x: View) -> String {
    match x.dtype() {
        DType::Bool => format!("{name}_u8"),
        _ => kernel_for(op, name, x),
    }
}

/// One launch, or two. `mean` has a number for each result, or is null.
fn run(plan: Plan, x: View, over: &[bool], mean: DevicePtr) -> Fresh {
    let (op, device, dtype) = (plan.op, x.storage.device(), x.dtype());
    let kernel = kernel_of(op, plan.kernel, x);
    let shape = Shape::new(op, x.layout, |dim| over[dim]);
    let x = source(op, x);
    let parts = shape.parts();
    if parts == 1 {
        return shape.launch(plan, device, &kernel, 1, [x.at, mean]);
    }
    let wide = if dtype.is_floating_point() { DType::F32 } else { DType::I64 };
    let first = Plan { finish: Finish::plain(wide), ..plan };
    let y = shape.launch(first, device, &kernel, parts, [x.at, mean]);
    second(plan, &y, [parts, shape.kept.count()], wide)
}

/// Reduces parts, `(parts, n)`.
fn second(plan: Plan, parts: &Fresh, [count, n]: [u32; 2], wide: DType) -> Fresh {
    let layout = Layout::contiguous(&[count as usize, n as usize]);
    let shape = Shape::new(plan.op, &layout, |dim| dim == 0);
    let kernel = format!("{}_{wide}", plan.of_parts);
    shape.launch(plan, parts.device(), &kernel, 1, [parts.at(), DevicePtr::NULL])
}

/// `Reduction` of `kernels/reduce.cuh`, and the threads for it.
struct Shape {
    kept: Walk<1>,
    reduced: Walk<1>,
    columns: bool,
    block: [u32; 3],
}

impl Shape {
    fn new(op: &'static str, layout: &Layout, over: impl Fn(usize) -> bool) -> Shape {
        let (kept, reduced) = layout.split(over);
        let ((width, kept_step), (_, reduced_step)) = (inner(&kept), inner(&reduced));
        let (kept, reduced) = (Walk::new(op, [&kept]), Walk::new(op, [&reduced]));
        // A single element is no row: there the kept ones lie side by side, if any do.
        let columns = reduced.count() < 2 || (reduced_step != 1 && kept_step < reduced_step);
        let block = match columns {
            true => columns_block(width, reduced.count()),
            false => block_for(reduced.count()),
        };
        Shape { kept, reduced, columns, block }
    }

    /// Threads that work on one kept element.
    fn depth(&self) -> u32 {
        self.block[usize::from(self.columns)]
    }

    fn blocks(&self) -> u32 {
        self.kept.count().div_ceil(self.block[usize::from(!self.columns)])
    }

    /// Into how many parts the reduced elements are cut.
    fn parts(&self) -> u32 {
        let useful = self.reduced.count() / (self.depth() * PER_THREAD);
        (BLOCKS / self.blocks().max(1)).min(useful).max(1)
    }

    fn threads(&self, parts: u32) -> ([u32; 3], [u32; 3]) {
        ([self.blocks(), parts, 1], self.block)
    }

    fn append_to(&self, params: Params) -> Params {
        let params = self.reduced.append_to(self.kept.append_to(params));
        params.i32(self.columns.into()).aligned(8)
    }

    /// One launch; the result has its parts one after the other.
    fn launch(
        &self,
        Plan { op, finish, .. }: Plan,
        device: Device,
        kernel: &str,
        parts: u32,
        [x, mean]: [DevicePtr; 2],
    ) -> Fresh {
        let y = Fresh::new(device, finish.to, (parts * self.kept.count()) as usize);
        let params = Params::new().pointer(x).pointer(mean).pointer(y.at());
        let params = self.append_to(params).i32(code(finish.to)).i32(finish.root.into());
        let params = params.f32(finish.divisor as f32);
        launch(device, op, kernel, self.threads(parts), &params);
        y
    }
}

/// The inner row of a layout with as few dimensions as possible.
fn inner(layout: &Layout) -> (usize, usize) {
    inner_row(&coalesced([layout])[0])
}

/// Threads side by side for up to 32 kept elements, and below each other as far as there are
/// elements to reduce; both powers of two.
pub(super) fn columns_block(width: usize, count: u32) -> [u32; 3] {
    let width = width.clamp(1, WARP as usize).next_power_of_two() as u32;
    let depth = (BLOCK / width).min(count.max(1).next_power_of_two());
    [BLOCK / depth, depth, 1]
}

/// `ElementType` of `kernels/types.cuh`.
fn code(dtype: DType) -> i32 {
    let types =
        [DType::F32, DType::F16, DType::BF16, DType::I64, DType::I32, DType::U8, DType::Bool];
    let place = types.iter().position(|&other| other == dtype);
    place.expect("no kernel computes f64") as i32
}
