//! What 5.5 is about: the weights of a model, the files they go into, and the index of the files.

use std::collections::BTreeMap;

/// A weight as it is about to be saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weight {
    /// Its name in the state dict. No two weights have the same one.
    pub name: String,
    /// The bytes of its elements.
    pub bytes: u64,
    /// Which storage holds them. Two weights with the same one are tied: two names for one tensor.
    pub storage: u64,
}

/// One file of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shard {
    /// Its name: `model-00001-of-00003.safetensors`.
    pub file: String,
    /// The names of the weights in it, in any order.
    pub names: Vec<String>,
}

/// What `model.safetensors.index.json` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    /// Under `metadata`: the bytes of all weights.
    pub total_size: u64,
    /// Which file each weight is in: the name of the weight, the name of the file.
    pub weight_map: BTreeMap<String, String>,
}

/// A checkpoint before it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// The files, in the order of their numbers.
    pub shards: Vec<Shard>,
    /// None if one file is enough.
    pub index: Option<Index>,
}
