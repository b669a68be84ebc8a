//! Softmax of rows; see `kernels/softmax.cu`.

use crate::device::View;
use crate::device::driver::Params;
use crate::device::gpu::launch::{Fresh, kernel_for, launch, source};
use crate::device::gpu::rows::Rows;
use crate::storage::Storage;

/// softmax(x), or its logarithm, of each row of `(outer, n)`.
pub fn softmax(x: View, log: bool) -> Storage {
    let op = if log { "log_softmax" } else { "softmax" };
    let (kernel, device, dtype) = (kernel_for(op, "softmax", x), x.storage.device(), x.dtype());
    let rows = Rows::new(op, [x.layout]);
    let y = Fresh::new(device, dtype, rows.numel() as usize);
    let x = source(op, x);
    let params = rows.append_to(Params::new().pointer(x.at).pointer(y.at())).i32(log.into());
    if rows.len() > 0 {
        launch(device, op, &kernel, rows.threads(), &params);
    }
    y.into_storage()
}
