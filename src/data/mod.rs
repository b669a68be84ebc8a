//! Data for training: datasets, the order in which examples come, and the loader that makes
//! batches of them.

mod dataset;
mod loader;
mod sampler;

pub use dataset::{Dataset, TensorDataset, collate};
pub use loader::DataLoader;
pub use sampler::{Sampler, SamplerState};
