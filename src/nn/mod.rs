//! Building blocks of models: the module tree, layers, and their initialisations.

mod activation;
mod attention;
mod batch_norm;
mod dropout;
mod embedding;
mod gpt;
pub mod init;
mod linear;
mod mlp;
mod module;
mod norm;
mod parameter;
mod recomputed;
mod sequential;
mod summary;
mod transformer;
mod tree;

pub use activation::{Gelu, Relu, Silu, Tanh};
pub use attention::MultiHeadAttention;
pub use batch_norm::BatchNorm1d;
pub use dropout::Dropout;
pub use embedding::Embedding;
pub use gpt::{Gpt, GptConfig};
pub use linear::Linear;
pub use mlp::Mlp;
pub use module::{Module, Parts};
pub use norm::{LayerNorm, RmsNorm};
pub use parameter::{Buffer, Parameter, Training};
pub use recomputed::Recomputed;
pub use sequential::Sequential;
pub use summary::Summary;
pub use transformer::TransformerBlock;
pub(crate) use tree::zero_grad;
