//! The GPU backend: every kernel of `kernels/*.cu` launched by name, through a [`Driver`].
//!
//! Written once: CUDA and the simulated GPU run the same PTX with the same parameters. Launches go
//! into the default stream and return at once; an operand's memory cannot go away before its
//! kernel is done, since giving memory back waits for the device.
//!
//! [`Driver`]: crate::device::driver::Driver

mod elementwise;
mod index;
mod launch;
mod matmul;
mod modules;
mod norm;
mod optimizer;
mod place;
mod random;
mod reduce;
mod rows;
mod scan;
mod softmax;
mod walk;

pub use matmul::{MatmulKernel, matmul_by};

use crate::device::{
    AdamwRule, Attended, Backend, Binary, Compare, Device, Draw, Reduce, Scan, SgdRule, Unary,
    Update, View,
};
use crate::dtype::{DType, Scalar};
use crate::error::misuse;
use crate::rng::GeneratorState;
use crate::storage::Storage;

/// A device that runs kernels.
pub struct Gpu;

fn no_kernel(op: &'static str, x: View) -> ! {
    let what = format!("{} {:?} on {}", x.dtype(), x.layout.shape(), x.storage.device());
    let message = "this device holds and moves tensors, but has no kernels yet; compute on the \
                   cpu: x.to(Device::Cpu)";
    misuse(op, &[&what], message.to_string())
}

impl Backend for Gpu {
    fn unary(&self, f: Unary, x: View) -> Storage {
        no_kernel(f.name(), x)
    }

    fn binary(&self, f: Binary, a: View, b: View) -> Storage {
        elementwise::binary(f, a, b)
    }

    fn compare(&self, f: Compare, a: View, _: View) -> Storage {
        no_kernel(f.name(), a)
    }

    fn select(&self, _: View, a: View, _: View) -> Storage {
        no_kernel("where", a)
    }

    fn reduce(&self, f: Reduce, x: View, over: &[bool], to: DType) -> Storage {
        reduce::reduce(f, x, over, to)
    }

    fn arg_reduce(&self, f: Reduce, x: View) -> Storage {
        reduce::arg_reduce(f, x)
    }

    fn scan(&self, f: Scan, x: View) -> Storage {
        scan::scan(f, x)
    }

    fn matmul(&self, a: View, b: View) -> Storage {
        matmul::matmul(a, b)
    }

    fn softmax(&self, x: View, log: bool) -> Storage {
        softmax::softmax(x, log)
    }

    fn logsumexp(&self, x: View, over: &[bool]) -> Storage {
        reduce::logsumexp(x, over)
    }

    fn variance(&self, x: View, over: &[bool], divisor: f64, root: bool) -> Storage {
        reduce::variance(x, over, divisor, root)
    }

    fn layer_norm(
        &self,
        x: View,
        weight: Option<View>,
        bias: Option<View>,
        eps: f64,
        centred: bool,
    ) -> [Storage; 3] {
        norm::layer_norm(x, weight, bias, eps, centred)
    }

    fn layer_norm_backward(
        &self,
        x_and_dy: [View; 2],
        moments: [View; 2],
        weight: Option<View>,
        centred: bool,
    ) -> [Storage; 3] {
        norm::layer_norm_backward(x_and_dy, moments, weight, centred)
    }

    fn attention(&self, x: Attended) -> [Storage; 2] {
        no_kernel("scaled_dot_product_attention", x.q)
    }

    fn attention_backward(&self, x: Attended, _: View, _: View) -> [Storage; 3] {
        no_kernel("scaled_dot_product_attention", x.q)
    }

    fn index_select(&self, x: View, index: View) -> Storage {
        index::index_select(x, index)
    }

    fn index_add(&self, x: View, index: View, src: View) -> Storage {
        index::index_add(x, index, src)
    }

    fn copy(&self, x: View, _: DType) -> Storage {
        no_kernel("copy", x)
    }

    fn flip(&self, x: View, _: &[bool]) -> Storage {
        no_kernel("flip", x)
    }

    fn gather(&self, x: View, dim: usize, index: View) -> Storage {
        index::gather("gather", x, dim, index)
    }

    fn scatter_add(&self, x: View, dim: usize, index: View, src: View) -> Storage {
        index::scatter_add("scatter_add", x, dim, index, src)
    }

    fn take(&self, x: View, index: View) -> Storage {
        place::take(x, index)
    }

    fn put_in_place(&self, op: &'static str, x: View, index: View, src: View, accumulate: bool) {
        place::put(op, x, index, src, accumulate)
    }

    fn add_in_place(&self, x: View, _: View, _: Scalar) {
        no_kernel("add_", x)
    }

    fn mul_in_place(&self, x: View, _: View) {
        no_kernel("mul_", x)
    }

    fn copy_in_place(&self, op: &'static str, x: View, _: View) {
        no_kernel(op, x)
    }

    fn masked_fill_in_place(&self, x: View, _: View, _: Scalar) {
        no_kernel("masked_fill_", x)
    }

    fn adamw_step(&self, updates: &[Update<AdamwRule>]) {
        optimizer::adamw(updates)
    }

    fn sgd_step(&self, updates: &[Update<SgdRule>]) {
        optimizer::sgd(updates)
    }

    fn draw(&self, device: Device, what: Draw, numel: usize, from: GeneratorState) -> Storage {
        random::draw(device, what, numel, from)
    }
}
