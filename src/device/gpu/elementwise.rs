//! Elementwise kernels: one thread an element.

use crate::device::driver::Params;
use crate::device::gpu::launch::{BLOCK, Fresh, blocks_for, kernel_for, launch, source};
use crate::device::gpu::walk::Walk;
use crate::device::{Binary, View};
use crate::storage::Storage;

/// y = f(a, b); see `kernels/binary.cu`.
pub fn binary(f: Binary, a: View, b: View) -> Storage {
    let (op, device) = (f.name(), a.storage.device());
    let kernel = kernel_for(op, op, a);
    let walk = Walk::new(op, [a.layout, b.layout]);
    let y = Fresh::new(device, a.dtype(), walk.count() as usize);
    let (a, b) = (source(op, a), source(op, b));
    let params = Params::new().pointer(a.at).pointer(b.at).pointer(y.at());
    let threads = ([blocks_for(walk.count()), 1, 1], [BLOCK, 1, 1]);
    launch(device, op, &kernel, threads, &walk.append_to(params));
    y.into_storage()
}
