//! Kernels that change numbers where they are; see `kernels/in_place.cu`.
//!
//! If both operands lie in one storage, the second is read from a copy, as on the CPU.

use crate::device::View;
use crate::device::driver::Params;
use crate::device::gpu::launch::{
    bits, each, kernel_for, kernel_of_size, launch, number, source, target,
};
use crate::device::gpu::movement::copy;
use crate::device::gpu::walk::Walk;
use crate::dtype::Scalar;
use crate::layout::Layout;

/// x += alpha · y.
pub fn add(x: View, y: View, alpha: Scalar) {
    let kernel = kernel_for("add_", "add_", x);
    update("add_", &kernel, x, y, |params| number(params, alpha, x.dtype()));
}

/// x = x · y.
pub fn mul(x: View, y: View) {
    update("mul_", &kernel_for("mul_", "mul_", x), x, y, |params| params);
}

/// x = y.
pub fn assign(op: &'static str, x: View, y: View) {
    update(op, &kernel_of_size("copy_", x), x, y, |params| params);
}

/// x = value where the mask holds.
pub fn masked_fill(x: View, mask: View, value: Scalar) {
    let kernel = kernel_of_size("masked_fill_", x);
    update("masked_fill_", &kernel, x, mask, |params| params.i64(bits(value, x.dtype())));
}

/// Launches a kernel with x, y and what `numbers` adds.
fn update(
    op: &'static str,
    kernel: &str,
    x: View,
    y: View,
    numbers: impl FnOnce(Params) -> Params,
) {
    if std::ptr::eq(x.storage, y.storage) {
        let (apart, packed) = (copy(y, y.dtype()), Layout::contiguous(y.layout.shape()));
        return update(op, kernel, x, View { storage: &apart, layout: &packed }, numbers);
    }
    let (device, walk) = (x.storage.device(), Walk::new(op, [x.layout, y.layout]));
    let (x, y) = (target(op, x), source(op, y));
    let params = walk.append_to(Params::new().pointer(x.at).pointer(y.at));
    launch(device, op, kernel, each(walk.count()), &numbers(params));
}
