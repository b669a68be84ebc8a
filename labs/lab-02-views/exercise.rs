//! Lab 02, Views. Seven exercises, one function each (2.1 and 2.2 have two).
//!
//! Replace each `exercise!(..)` by your code. Grade with `cargo test --test lab-02-views`, ask for
//! a hint with `cargo run --bin course -- hint 2.1`.
#![allow(dead_code, unused_imports, unused_variables)] // what you have not begun is silent

use engine_room::{Tensor, memory};
use grading::exercise;

use super::attention::{Block, Sizes};
use super::cache::Memory;
use super::header::Header;

/// 2.1 The strides of a packed tensor of this shape, row by row.
pub fn contiguous_strides(shape: &[usize]) -> Vec<usize> {
    exercise!("2.1")
}

/// 2.1 The place in the storage of the element with this index, one number a dimension.
pub fn position(header: &Header, index: &[usize]) -> usize {
    exercise!("2.1")
}

/// 2.2 The header with its dimensions in another order: dimension `order[0]` comes first.
pub fn permute(header: &Header, order: &[usize]) -> Header {
    exercise!("2.2")
}

/// 2.2 The header of the elements `start` to `start + len - 1` along one dimension.
pub fn narrow(header: &Header, dim: usize, start: usize, len: usize) -> Header {
    exercise!("2.2")
}

/// 2.3 The header broadcast to a larger shape, or `None` if that is not a broadcast of it.
pub fn expand(header: &Header, shape: &[usize]) -> Option<Header> {
    exercise!("2.3")
}

/// 2.4 The strides that show the same elements under another shape, or `None` if there are none.
pub fn view_strides(header: &Header, shape: &[usize]) -> Option<Vec<usize>> {
    exercise!("2.4")
}

/// 2.5 Copies a matrix view of a storage, row by row, into packed memory.
pub fn gather(memory: &mut Memory, from: &Header) {
    exercise!("2.5")
}

/// 2.6 Self-attention on `x: (T, B, C)` as `attend_with_copies` computes it, with one hidden copy.
pub fn attend(x: &Tensor, block: &Block) -> Tensor {
    exercise!("2.6")
}

/// 2.7 The bytes of all hidden copies that `grouped_attention` makes on these sizes.
pub fn copied_bytes(sizes: &Sizes) -> u64 {
    exercise!("2.7")
}
