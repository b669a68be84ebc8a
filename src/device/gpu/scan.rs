//! What runs along rows, and sorting; see `kernels/scan.cu` and `kernels/sort.cu`.

use crate::device::driver::Params;
use crate::device::gpu::launch::{Fresh, each, launch, source};
use crate::device::gpu::reduce::kernel_of;
use crate::device::gpu::rows::{Rows, WARP};
use crate::device::{Scan, View};
use crate::dtype::DType;
use crate::storage::Storage;

/// Elements that a block sorts: as many as its shared memory has room for.
const RUN: u32 = 1024;

/// What a scan leaves at each element of `(outer, n)`.
pub fn scan(f: Scan, x: View) -> Storage {
    let op = match f {
        Scan::CumSum => "cumsum",
        Scan::CumProd => "cumprod",
        Scan::CumMax => "cummax",
        Scan::CumMin => "cummin",
        Scan::Sort => return sort(x),
    };
    let (kernel, device) = (kernel_of(op, op, x), x.storage.device());
    let to = match f {
        Scan::CumSum | Scan::CumProd => x.dtype().of_sum(),
        _ => DType::I64,
    };
    let rows = Rows::new(op, [x.layout]);
    let y = Fresh::new(device, to, rows.numel() as usize);
    let x = source(op, x);
    let params = rows.append_to(Params::new().pointer(x.at).pointer(y.at()));
    if rows.len() > 0 {
        launch(device, op, &kernel, rows.threads(), &params);
    }
    y.into_storage()
}

/// Where the smallest element of each row is, the next one, and so on: sorted runs, merged two by
/// two from one storage into another and back.
fn sort(x: View) -> Storage {
    let (op, device) = ("sort", x.storage.device());
    let [sort_runs, merge_runs] = ["sort_runs", "merge_runs"].map(|name| kernel_of(op, name, x));
    let rows = Rows::new(op, [x.layout]);
    let fresh = || Fresh::new(device, DType::I64, rows.numel() as usize);
    let (mut y, x) = (fresh(), source(op, x));
    let mut size = rows.len().next_power_of_two().clamp(2 * WARP, RUN);
    let params = rows.append_to(Params::new().pointer(x.at).pointer(y.at()));
    let blocks = rows.count() * rows.len().div_ceil(size);
    launch(device, op, &sort_runs, ([blocks, 1, 1], [size / 2, 1, 1]), &params);
    while size < rows.len() {
        let merged = fresh();
        let params = Params::new().pointer(x.at).pointer(y.at()).pointer(merged.at());
        let params = rows.append_to(params).u32(size);
        launch(device, op, &merge_runs, each(rows.numel()), &params);
        (y, size) = (merged, 2 * size);
    }
    y.into_storage()
}
