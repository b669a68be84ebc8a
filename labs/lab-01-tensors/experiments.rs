//! The experiments of lab 01, one file each.

pub mod bits;
pub mod blocking;
pub mod formats;
pub mod matmul;
pub mod pipeline;
pub mod steps;
pub mod sums;
pub mod transfers;

use engine_room::{DType, Tensor};

use crate::formats::Format;

/// The formats that the engine has as element types.
const STORED: [(Format, DType); 3] =
    [(Format::F32, DType::F32), (Format::F16, DType::F16), (Format::Bf16, DType::BF16)];

/// The simulated GPU that the experiments use.
const GPU: usize = 0;

/// x as the engine stores it in this type.
fn stored(x: f64, dtype: DType) -> f64 {
    Tensor::from_vec(vec![x], &[1]).to(dtype).to(DType::F64).item_as()
}
