//! The GPU backend: every kernel of `kernels/*.cu` launched by name, through a [`Driver`].
//!
//! Written once: CUDA and the simulated GPU run the same PTX with the same parameters. Launches go
//! into the default stream and return at once; an operand's memory cannot go away before its
//! kernel is done, since giving memory back waits for the device.
//!
//! [`Driver`]: crate::device::driver::Driver

mod elementwise;
mod fill;
mod in_place;
mod launch;
mod modules;
mod movement;
mod walk;

use crate::device::{
    AdamwRule, Attended, Backend, Binary, Compare, Device, Reduce, Scan, SgdRule, Unary, Update,
    View,
};
use crate::dtype::{DType, Scalar};
use crate::error::misuse;
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

    fn reduce(&self, _: Reduce, x: View, _: &[bool], _: DType) -> Storage {
        no_kernel("reduce", x)
    }

    fn arg_reduce(&self, _: Reduce, x: View) -> Storage {
        no_kernel("arg_reduce", x)
    }

    fn scan(&self, _: Scan, x: View) -> Storage {
        no_kernel("scan", x)
    }

    fn matmul(&self, a: View, _: View) -> Storage {
        no_kernel("matmul", a)
    }

    fn softmax(&self, x: View, _: bool) -> Storage {
        no_kernel("softmax", x)
    }

    fn logsumexp(&self, x: View, _: &[bool]) -> Storage {
        no_kernel("logsumexp", x)
    }

    fn variance(&self, x: View, _: &[bool], _: f64, _: bool) -> Storage {
        no_kernel("var", x)
    }

    fn layer_norm(
        &self,
        x: View,
        _: Option<View>,
        _: Option<View>,
        _: f64,
        _: bool,
    ) -> [Storage; 3] {
        no_kernel("layer_norm", x)
    }

    fn layer_norm_backward(
        &self,
        [x, _]: [View; 2],
        _: [View; 2],
        _: Option<View>,
        _: bool,
    ) -> [Storage; 3] {
        no_kernel("layer_norm", x)
    }

    fn attention(&self, x: Attended) -> [Storage; 2] {
        no_kernel("scaled_dot_product_attention", x.q)
    }

    fn attention_backward(&self, x: Attended, _: View, _: View) -> [Storage; 3] {
        no_kernel("scaled_dot_product_attention", x.q)
    }

    fn index_select(&self, x: View, _: View) -> Storage {
        no_kernel("index_select", x)
    }

    fn index_add(&self, x: View, _: View, _: View) -> Storage {
        no_kernel("index_add", x)
    }

    fn copy(&self, x: View, to: DType) -> Storage {
        movement::copy(x, to)
    }

    fn flip(&self, x: View, over: &[bool]) -> Storage {
        movement::flip(x, over)
    }

    fn gather(&self, x: View, _: usize, _: View) -> Storage {
        no_kernel("gather", x)
    }

    fn scatter_add(&self, x: View, _: usize, _: View, _: View) -> Storage {
        no_kernel("scatter_add", x)
    }

    fn take(&self, x: View, _: View) -> Storage {
        no_kernel("take", x)
    }

    fn put_in_place(&self, op: &'static str, x: View, _: View, _: View, _: bool) {
        no_kernel(op, x)
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
        no_kernel("adamw_step", updates[0].param)
    }

    fn sgd_step(&self, updates: &[Update<SgdRule>]) {
        no_kernel("sgd_step", updates[0].param)
    }
}
