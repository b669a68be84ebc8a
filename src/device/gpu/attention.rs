//! Attention, forward and backward; see `kernels/attention.cu`.

use crate::device::driver::Params;
use crate::device::gpu::launch::{Fresh, Source, address, count, kernel_for, launch, source};
use crate::device::gpu::walk::Walk;
use crate::device::{Attended, Device, View};
use crate::dtype::DType;
use crate::error::misuse;
use crate::layout::Layout;
use crate::storage::Storage;

const OP: &str = "scaled_dot_product_attention";

/// y, and ln Σ eᶻ of each query in `f32`.
pub fn attention(x: Attended) -> [Storage; 2] {
    let job = Job::new(x, None);
    let kernel = kernel_for(OP, &format!("attention_{}", job.widest), x.q);
    let y = job.fresh(x.q.dtype(), [job.queries, job.width]);
    let log_sums = job.fresh(DType::F32, [job.queries, 1]);
    let operands = job.operands().pointer(y.at()).pointer(log_sums.at());
    job.launch(&kernel, job.queries, operands);
    [y, log_sums].map(Fresh::into_storage)
}

/// The gradients of q, k and v.
pub fn attention_backward(x: Attended, log_sums: View, dy: View) -> [Storage; 3] {
    let job = Job::new(x, Some(dy));
    let dtype = x.q.dtype();
    let kernel = |name: &str| kernel_for(OP, &format!("attention_{name}_{}", job.widest), x.q);
    let (dq_kernel, dkv_kernel) = (kernel("dq"), kernel("dkv"));
    let dq = job.fresh(dtype, [job.queries, job.depth]);
    let dk = job.fresh(dtype, [job.keys, job.depth]);
    let dv = job.fresh(dtype, [job.keys, job.width]);
    // Σ p · dp of each query: from the first kernel for the second.
    let centres = job.fresh(DType::F32, [job.queries, 1]);
    let (dy, sums) = (source(OP, dy), source(OP, log_sums));
    let operands = || job.operands().pointer(dy.at).pointer(sums.at);
    job.launch(&dq_kernel, job.queries, operands().pointer(dq.at()).pointer(centres.at()));
    let results = operands().pointer(centres.at()).pointer(dk.at()).pointer(dv.at());
    job.launch(&dkv_kernel, job.keys, results);
    [dq, dk, dv].map(Fresh::into_storage)
}

/// What the kernels have in common: `Heads` of `kernels/attention.cuh`, and the operands.
struct Job<'a> {
    device: Device,
    sources: [Source<'a>; 3],
    mask: Option<Source<'a>>,
    walk: Walk<5>,
    /// From row to row and from column to column of q, k, v, the mask and dy.
    steps: [[usize; 2]; 5],
    queries: usize,
    keys: usize,
    depth: usize,
    width: usize,
    /// The least width of a kernel that these heads fit into.
    widest: usize,
    scale: f64,
    causal: bool,
}

impl<'a> Job<'a> {
    fn new(x: Attended<'a>, dy: Option<View>) -> Job<'a> {
        // What is missing is not read, so its place may be anywhere.
        let layouts = [Some(x.q), Some(x.k), Some(x.v), x.mask, dy];
        let layouts = layouts.map(|view| view.map_or(x.q.layout, |view| view.layout));
        let [of_heads, matrices] = [0, 1].map(|part| layouts.map(|layout| halves(layout)[part]));
        let [queries, depth] = [0, 1].map(|dim| matrices[0].shape()[dim]);
        let [keys, width] = [0, 1].map(|dim| matrices[2].shape()[dim]);
        Job {
            device: x.q.storage.device(),
            sources: [x.q, x.k, x.v].map(|view| source(OP, view)),
            mask: x.mask.map(|mask| source(OP, mask)),
            walk: Walk::new(OP, of_heads.each_ref()),
            steps: matrices.map(|layout| [layout.strides()[0], layout.strides()[1]]),
            queries,
            keys,
            depth,
            width,
            widest: widest(x.q, depth.max(width)),
            scale: x.scale,
            causal: x.causal,
        }
    }

    /// Room for a matrix of each head.
    fn fresh(&self, dtype: DType, [rows, columns]: [usize; 2]) -> Fresh {
        let heads = self.walk.count() as usize;
        Fresh::new(self.device, dtype, count(OP, heads * rows * columns) as usize)
    }

    /// The parameters that come first.
    fn operands(&self) -> Params {
        let [q, k, v] = [0, 1, 2].map(|i| self.sources[i].at);
        Params::new().pointer(q).pointer(k).pointer(v).pointer(address(self.mask.as_ref()))
    }

    /// One block for each tile of `rows` of each head, with the `Heads` as the last parameter.
    fn launch(&self, kernel: &str, rows: usize, params: Params) {
        let mut params = self.walk.append_to(params);
        for step in self.steps.iter().flatten() {
            params = params.i64(*step as i64);
        }
        for size in [self.queries, self.keys, self.depth, self.width] {
            params = params.u32(count(OP, size));
        }
        params = params.f32(self.scale as f32).i32(self.causal.into());
        let warps = 512 / self.widest as u32;
        let blocks = self.walk.count() * (rows as u32).div_ceil(4 * warps);
        launch(self.device, OP, kernel, ([blocks, 1, 1], [32 * warps, 1, 1]), &params);
    }
}

/// The dimensions of the heads, and the last two.
fn halves(layout: &Layout) -> [Layout; 2] {
    let rank = layout.shape().len();
    layout.split(|dim| dim + 2 >= rank).into()
}

/// The least width of a kernel that a head of so many numbers fits into.
///
/// # Panics
/// With a `Misuse` if there is none.
fn widest(x: View, width: usize) -> usize {
    if width <= 64 {
        return 64;
    }
    if width > 128 {
        let what = format!("{} {:?} on {}", x.dtype(), x.layout.shape(), x.storage.device());
        let message = format!(
            "a GPU's kernel takes heads of up to 128 numbers, and these have {width}; use more and \
             narrower heads, or compute on the cpu"
        );
        misuse(OP, &[&what], message);
    }
    128
}
