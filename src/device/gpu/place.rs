//! Kernels that go by places counted in logical order; see `kernels/place.cu`.

use crate::device::View;
use crate::device::driver::Params;
use crate::device::gpu::in_place::assign;
use crate::device::gpu::index::computed_with;
use crate::device::gpu::launch::{Fresh, each, kernel_for, kernel_of_size, launch, source, target};
use crate::device::gpu::movement::copy;
use crate::device::gpu::walk::Walk;
use crate::dtype::DType;
use crate::layout::Layout;
use crate::storage::Storage;

/// `y[i]` is the element of x at place `index[i]`.
pub fn take(x: View, index: View) -> Storage {
    let (op, device) = ("take", x.storage.device());
    let (of_x, of_index) = (Walk::new(op, [x.layout]), Walk::new(op, [index.layout]));
    let y = Fresh::new(device, x.dtype(), of_index.count() as usize);
    let kernel = kernel_of_size(op, x);
    let (x, index) = (source(op, x), source(op, index));
    let params = Params::new().pointer(x.at).pointer(index.at).pointer(y.at());
    let params = of_index.append_to(of_x.append_to(params));
    launch(device, op, &kernel, each(of_index.count()), &params);
    y.into_storage()
}

/// The element of x at place `index[i]` becomes `src[i]`, or that is added to it.
pub fn put(op: &'static str, x: View, index: View, src: View, accumulate: bool) {
    if std::ptr::eq(x.storage, src.storage) {
        let packed = Layout::contiguous(src.layout.shape());
        let src = copy(src, src.dtype());
        return put(op, x, index, View { storage: &src, layout: &packed }, accumulate);
    }
    match (accumulate, computed_with(x.dtype())) {
        (false, _) => overwrite(op, x, index, src),
        (true, wide) if wide == x.dtype() => add(op, x, index, src),
        (true, wide) => {
            // Rounded once, after all that falls on one place has been added up.
            let packed = Layout::contiguous(x.layout.shape());
            let sums = copy(x, wide);
            let sums = View { storage: &sums, layout: &packed };
            add(op, sums, index, src);
            let rounded = copy(sums, x.dtype());
            assign(op, x, View { storage: &rounded, layout: &packed });
        }
    }
}

/// src is added to x, which is of the type that src is computed with; in no order.
fn add(op: &'static str, x: View, index: View, src: View) {
    let device = x.storage.device();
    let (of_x, walk) = (Walk::new(op, [x.layout]), Walk::new(op, [index.layout, src.layout]));
    let kernel = kernel_for(op, "put_add", src);
    let (x, index, src) = (target(op, x), source(op, index), source(op, src));
    let params = Params::new().pointer(x.at).pointer(index.at).pointer(src.at);
    let params = walk.append_to(of_x.append_to(params));
    launch(device, op, &kernel, each(walk.count()), &params);
}

/// Of several elements for one place, the last one stays there.
fn overwrite(op: &'static str, x: View, index: View, src: View) {
    let device = x.storage.device();
    let (of_x, of_index) = (Walk::new(op, [x.layout]), Walk::new(op, [index.layout]));
    let walk = Walk::new(op, [index.layout, src.layout]);
    let kernel = kernel_of_size("put", x);
    let winner = Fresh::new(device, DType::I32, of_x.count() as usize);
    let (x, index, src) = (target(op, x), source(op, index), source(op, src));
    for kernel in ["put_clear", "put_claim"] {
        let params = of_index.append_to(Params::new().pointer(index.at).pointer(winner.at()));
        launch(device, op, kernel, each(walk.count()), &params);
    }
    let params = Params::new().pointer(x.at).pointer(index.at).pointer(src.at);
    let params = walk.append_to(of_x.append_to(params.pointer(winner.at())));
    launch(device, op, &kernel, each(walk.count()), &params);
}
