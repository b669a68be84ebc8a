//! Kernels that go by an index along one dimension; see `kernels/index.cu`.

use crate::device::View;
use crate::device::driver::Params;
use crate::device::gpu::launch::{Fresh, each, kernel_for, kernel_of_size, launch, source, target};
use crate::device::gpu::movement::copy;
use crate::device::gpu::walk::Walk;
use crate::dtype::DType;
use crate::layout::Layout;
use crate::storage::Storage;

/// `y[i, j] = x[index[i, j], j]` for `dim` 0, and so on.
pub fn gather(op: &'static str, x: View, dim: usize, index: View) -> Storage {
    let device = x.storage.device();
    let walk = Walk::new(op, [&x.layout.frozen(dim, index.layout.shape()), index.layout]);
    let y = Fresh::new(device, x.dtype(), walk.count() as usize);
    let step = x.layout.strides()[dim] as i64;
    let kernel = kernel_of_size("gather", x);
    let (x, index) = (source(op, x), source(op, index));
    let params = Params::new().pointer(x.at).pointer(index.at).pointer(y.at());
    launch(device, op, &kernel, each(walk.count()), &walk.append_to(params).i64(step));
    y.into_storage()
}

/// A copy of x with `y[index[i, j], j] += src[i, j]` for `dim` 0, and so on; in no order.
pub fn scatter_add(op: &'static str, x: View, dim: usize, index: View, src: View) -> Storage {
    let kernel = kernel_for(op, "scatter_add", x);
    let packed = Layout::contiguous(x.layout.shape());
    let y = copy(x, computed_with(x.dtype()));
    let sums = View { storage: &y, layout: &packed };
    let walk = Walk::new(op, [&packed.frozen(dim, index.layout.shape()), index.layout, src.layout]);
    add(op, &kernel, sums, &walk, packed.strides()[dim], index, src);
    // Rounded once, after all that falls on one place has been added up.
    if y.dtype() == x.dtype() { y } else { copy(sums, x.dtype()) }
}

fn add(
    op: &'static str,
    kernel: &str,
    sums: View,
    walk: &Walk<3>,
    step: usize,
    index: View,
    src: View,
) {
    let device = sums.storage.device();
    let (sums, index, src) = (target(op, sums), source(op, index), source(op, src));
    let params = Params::new().pointer(sums.at).pointer(index.at).pointer(src.at);
    launch(device, op, kernel, each(walk.count()), &walk.append_to(params).i64(step as i64));
}

/// `(V, ..), (K) → (K, ..)`: slices of the first dimension.
pub fn index_select(x: View, index: View) -> Storage {
    let repeated = repeated(index, x.layout);
    gather("index_select", x, 0, View { layout: &repeated, ..index })
}

/// A copy of x, `(V, ..)`, with slices of src, `(K, ..)`, added where the index says; in no order.
pub fn index_add(x: View, index: View, src: View) -> Storage {
    let repeated = repeated(index, x.layout);
    scatter_add("index_add", x, 0, View { layout: &repeated, ..index }, src)
}

/// A list of slices as an index for each of their elements: `(K) → (K, ..)`.
fn repeated(list: View, x: &Layout) -> Layout {
    let (count, rank) = (list.layout.shape().numel(), x.shape().len());
    let mut shape = vec![1; rank];
    shape[0] = count;
    let column = list.layout.view(&shape).expect("dimensions of size 1 can be added to a list");
    shape[1..].copy_from_slice(&x.shape()[1..]);
    column.expand(&shape).expect("dimensions of size 1 can be repeated")
}

/// The type in which elements are added up.
pub(super) fn computed_with(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        other => other,
    }
}
