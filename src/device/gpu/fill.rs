//! Fresh tensors made on the device; see `kernels/fill.cu`.

use crate::device::Device;
use crate::device::driver::Params;
use crate::device::gpu::launch::{Fresh, bits, count, each, launch};
use crate::dtype::{DType, Scalar};
use crate::storage::Storage;

/// `numel` times one value.
pub fn fill(device: Device, dtype: DType, numel: usize, value: Scalar) -> Storage {
    let (y, count) = (Fresh::new(device, dtype, numel), count("full", numel));
    let params = Params::new().pointer(y.at()).u32(count).i64(bits(value, dtype));
    launch(device, "full", &format!("fill_b{}", dtype.size()), each(count), &params);
    y.into_storage()
}

/// 0, 1, … `numel` − 1.
pub fn arange(device: Device, dtype: DType, numel: usize) -> Storage {
    let (y, count) = (Fresh::new(device, dtype, numel), count("arange", numel));
    let params = Params::new().pointer(y.at()).u32(count);
    launch(device, "arange", &format!("arange_{dtype}"), each(count), &params);
    y.into_storage()
}
