//! The experiments of lab 02, one file each.

pub mod alias;
pub mod block;
pub mod calls;
pub mod headers;
pub mod keeps;
pub mod operands;
pub mod stride;
pub mod walks;

use std::sync::Arc;

use engine_room::memory::{hidden_copies, reset_hidden_copies};
use engine_room::{Layout, Tensor};

/// How many copies, and of how many bytes, a call makes without being asked to.
fn hidden<T>(call: impl FnOnce() -> T) -> (T, u64, u64) {
    reset_hidden_copies();
    let result = call();
    let made = hidden_copies();
    let (count, bytes) = made.iter().fold((0, 0), |(n, b), copy| (n + copy.count, b + copy.bytes));
    (result, count, bytes)
}

/// Whether two tensors lie in one storage.
fn share(a: &Tensor, b: &Tensor) -> bool {
    Arc::ptr_eq(a.storage(), b.storage())
}

fn header(layout: &Layout) -> String {
    format!("strides {:?}, offset {}", layout.strides(), layout.offset())
}
