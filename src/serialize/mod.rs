//! Checkpoints: state dicts in files, and back.
//!
//! `safetensors.rs` writes and reads one file, `header.rs` what it says of itself; `shards.rs` does
//! the same with several files and their `index.rs`; `map_location.rs` says where the tensors go.
//! What is in a file is not believed: each number is compared with the file's size before anything
//! is done with it. `files.rs` is how a file gets its new content without a moment in which there
//! is neither the old one nor the new one. `checkpoint.rs` and `saved_run.rs` save and restore a
//! whole training, `checkpoints.rs` keeps the last ones. `pt/` reads the files of PyTorch.

mod checkpoint;
mod checkpoints;
mod disk;
mod files;
mod header;
mod index;
mod json;
mod map_location;
mod mapped;
mod pt;
mod records;
mod safetensors;
mod saved_run;
mod shards;

pub use crate::nn::{IncompatibleKeys, StateDict};
pub use checkpoint::Checkpoint;
pub use checkpoints::{Checkpoints, Entry, Latest};
pub use disk::Disk;
pub use files::{Files, NewFile, replace};
pub use map_location::MapLocation;
pub use pt::{PickleOp, PtFile, PtValue, load_pt, load_pt_at, pickle_opcodes, read_pickle};
pub use safetensors::{deserialize, load_file, save_file, save_with, serialize};
pub use saved_run::{Restore, SavedRun};
pub use shards::{load_sharded, save_sharded, save_sharded_with};
