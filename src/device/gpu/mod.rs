//! The GPU backend: every kernel of `kernels/*.cu` launched by name, through a [`Driver`].
//!
//! Written once: CUDA and the simulated GPU run the same PTX with the same parameters. Launches go
//! into the default stream and return at once; an operand's memory cannot go away before its
//! kernel is done, since giving memory back waits for the device.
//!
//! [`Driver`]: crate::device::driver::Driver

mod elementwise;
mod launch;
mod modules;
mod walk;

use crate::device::{
    AdamwRule, Attended, Backend, Binary, Compare, Reduce, Scan, SgdRule, Unary, Update, View,
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

    fn copy(&self, x: View, _: DType) -> Storage {
        no_kernel("copy", x)
    }

    fn flip(&self, x: View, _: &[bool]) -> Storage {
        no_kernel("flip", x)
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
        no_kernel("adamw_step", updates[0].param)
    }

    fn sgd_step(&self, updates: &[Update<SgdRule>]) {
        no_kernel("sgd_step", updates[0].param)
    }
}
