//! Random numbers; see `kernels/random.cu`.

use crate::device::driver::Params;
use crate::device::gpu::launch::{Fresh, count, each, launch};
use crate::device::{Device, Draw};
use crate::dtype::DType;
use crate::rng::GeneratorState;
use crate::storage::Storage;

/// What is drawn from a stream, from where it is.
pub fn draw(device: Device, what: Draw, numel: usize, from: GeneratorState) -> Storage {
    let (op, kernel, dtype) = match what {
        Draw::Uniform => ("rand", "uniform", DType::F32),
        Draw::Keep { .. } => ("dropout", "keep", DType::Bool),
    };
    let (numel, y) = (count(op, numel), Fresh::new(device, dtype, numel));
    let params = Params::new().pointer(y.at()).u32(numel);
    let params = params.i64(from.seed as i64).i64(from.drawn as i64);
    let params = match what {
        Draw::Uniform => params,
        Draw::Keep { threshold } => params.u32(threshold),
    };
    // A thread has four numbers, and the first one begins where a group of four does.
    let groups = (numel + (from.drawn % 4) as u32).div_ceil(4);
    launch(device, op, kernel, each(if numel == 0 { 0 } else { groups }), &params);
    y.into_storage()
}
