//! Checkpoints: state dicts in files, and back.
//!
//! `safetensors.rs` writes and reads one file, `shards.rs` several with an index;
//! `map_location.rs` says where the tensors go. What is in a file is not believed: each number is
//! compared with the file's size before anything is done with it.

mod map_location;
mod pt;
mod safetensors;
mod shards;

pub use crate::nn::{IncompatibleKeys, StateDict};
pub use map_location::MapLocation;
pub use pt::{PickleOp, PtFile, PtValue, load_pt, load_pt_at, pickle_opcodes, read_pickle};
pub use safetensors::{deserialize, load_file, save_file, serialize};
pub use shards::{load_sharded, save_sharded};
