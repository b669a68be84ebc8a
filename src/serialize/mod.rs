//! Saving and loading.

mod disk;
mod files;

pub use disk::Disk;
pub use files::{Files, NewFile, replace};
