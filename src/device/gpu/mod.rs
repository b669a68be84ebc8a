//! The GPU backend: every kernel of `kernels/*.cu` launched by name, through a [`Driver`].
//!
//! Written once: CUDA and the simulated GPU run the same PTX with the same parameters. Launches go
//! into the default stream and return at once; an operand's memory cannot go away before its
//! kernel is done, since what is given back goes to later work of the same stream only.
//!
//! [`Driver`]: crate::device::driver::Driver

mod attention;
mod elementwise;
mod fill;
mod in_place;
mod index;
mod launch;
mod matmul;
mod modules;
mod movement;
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
use crate::rng::GeneratorState;
use crate::storage::Storage;

/// A device that runs kernels.
pub struct Gpu;

impl Backend for Gpu {
    fn fill(&self, device: Device, dtype: DType, numel: usize, value: Scalar) -> Storage {
        fill::fill(device, dtype, numel, value)
    }

    fn arange(&self, device: Device, dtype: DType, numel: usize) -> Storage {
        fill::arange(device, dtype, numel)
    }

    fn unary(&self, f: Unary, x: View) -> Storage {
        elementwise::unary(f, x)
    }

    fn binary(&self, f: Binary, a: View, b: View) -> Storage {
        elementwise::binary(f, a, b)
    }

    fn compare(&self, f: Compare, a: View, b: View) -> Storage {
        elementwise::compare(f, a, b)
    }

    fn select(&self, condition: View, a: View, b: View) -> Storage {
        movement::select(condition, a, b)
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
        attention::attention(x)
    }

    fn attention_backward(&self, x: Attended, log_sums: View, dy: View) -> [Storage; 3] {
        attention::attention_backward(x, log_sums, dy)
    }

    fn index_select(&self, x: View, index: View) -> Storage {
        index::index_select(x, index)
    }

    fn index_add(&self, x: View, index: View, src: View) -> Storage {
        index::index_add(x, index, src)
    }

    fn copy(&self, x: View, to: DType) -> Storage {
        movement::copy(x, to)
    }

    fn flip(&self, x: View, over: &[bool]) -> Storage {
        movement::flip(x, over)
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

    fn add_in_place(&self, x: View, y: View, alpha: Scalar) {
        in_place::add(x, y, alpha)
    }

    fn mul_in_place(&self, x: View, y: View) {
        in_place::mul(x, y)
    }

    fn copy_in_place(&self, op: &'static str, x: View, y: View) {
        in_place::assign(op, x, y)
    }

    fn masked_fill_in_place(&self, x: View, mask: View, value: Scalar) {
        in_place::masked_fill(x, mask, value)
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
