//! Runs kernels: launches on a [`Device`], block by block, warp by warp, 32 lanes at a time.

mod access;
mod atomic;
mod block;
mod call;
mod core;
mod device;
mod exchange;
mod fault;
mod findings;
mod format;
mod habit;
mod lanes;
mod launch;
mod print;
mod program;
mod registers;
mod report;
mod specials;
mod step;
mod warp;

pub use device::{Device, Launch, Options};
pub use program::Program;
pub use report::{Finding, Kind, Line, Place, Report};
