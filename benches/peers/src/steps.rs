//! Training steps: forward, backward and AdamW, of an MLP and of a small GPT.

use candle_core::{DType, Device, Tensor};
use candle_nn::{AdamW, Optimizer, ParamsAdamW, VarBuilder, VarMap, loss};

use crate::candle_models as peer;

/// Layers of the MLP.
pub const SIZES: [usize; 4] = [784, 256, 128, 10];
/// Images of a batch.
pub const IMAGES: usize = 64;
/// Sequences of a batch.
pub const BATCH: usize = 8;
/// Tokens of a sequence.
pub const CONTEXT: usize = 64;
/// Numbers for each token.
pub const WIDTH: usize = 128;
/// Attention heads.
pub const HEADS: usize = 4;
/// Transformer blocks.
pub const LAYERS: usize = 4;
/// Tokens that there are.
pub const VOCABULARY: usize = 96;
