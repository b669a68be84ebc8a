//! Lab 02, Views. Seven exercises, one function each (2.1 and 2.2 have two).
//!
//! Replace each `exercise!(..)` by your code. Grade with `cargo test --test lab-02-views`, ask for
//! a hint with `cargo run --bin course -- hint 2.1`.
#![allow(dead_code, unused_imports, unused_variables)] // what you have not begun is silent

use engine_room::{Tensor, memory};
// STUB use grading::exercise;

use super::attention::{Block, Sizes};
use super::cache::Memory;
use super::header::Header;

/// 2.1 The strides of a packed tensor of this shape, row by row.
pub fn contiguous_strides(shape: &[usize]) -> Vec<usize> {
    // SOLUTION 2.1
    let mut strides = vec![1; shape.len()];
    for dim in (1..shape.len()).rev() {
        strides[dim - 1] = strides[dim] * shape[dim];
    }
    strides
    // END
}

/// 2.1 The place in the storage of the element with this index, one number a dimension.
pub fn position(header: &Header, index: &[usize]) -> usize {
    // SOLUTION 2.1
    let mut place = header.offset;
    for (dim, i) in index.iter().enumerate() {
        place += i * header.strides[dim];
    }
    place
    // END
}

/// 2.2 The header with its dimensions in another order: dimension `order[0]` comes first.
pub fn permute(header: &Header, order: &[usize]) -> Header {
    // SOLUTION 2.2
    let mut result = header.clone();
    for (dim, &from) in order.iter().enumerate() {
        result.shape[dim] = header.shape[from];
        result.strides[dim] = header.strides[from];
    }
    result
    // END
}

/// 2.2 The header of the elements `start` to `start + len - 1` along one dimension.
pub fn narrow(header: &Header, dim: usize, start: usize, len: usize) -> Header {
    // SOLUTION 2.2
    let mut result = header.clone();
    result.shape[dim] = len;
    result.offset += start * header.strides[dim];
    result
    // END
}

/// 2.3 The header broadcast to a larger shape, or `None` if that is not a broadcast of it.
pub fn expand(header: &Header, shape: &[usize]) -> Option<Header> {
    // SOLUTION 2.3
    if shape.len() < header.shape.len() {
        return None;
    }
    let added = shape.len() - header.shape.len();
    let mut strides = vec![0; shape.len()];
    for dim in 0..header.shape.len() {
        if header.shape[dim] == shape[added + dim] {
            strides[added + dim] = header.strides[dim];
        } else if header.shape[dim] != 1 {
            return None;
        }
    }
    Some(Header { shape: shape.to_vec(), strides, offset: header.offset })
    // END
}

/// 2.4 The strides that show the same elements under another shape, or `None` if there are none.
pub fn view_strides(header: &Header, shape: &[usize]) -> Option<Vec<usize>> {
    // SOLUTION 2.4
    let count = |sizes: &[usize]| -> usize { sizes.iter().product() };
    if count(shape) != count(&header.shape) {
        return None;
    }
    let mut strides = vec![1; shape.len()];
    if shape.contains(&0) {
        return Some(strides);
    }
    // How many sizes of the new shape are not used yet, and the run of memory that is cut up.
    let mut next = shape.len();
    let (mut size, mut stride) = (1, 0);
    for dim in (0..header.shape.len()).rev() {
        if size == 1 {
            stride = header.strides[dim];
        }
        size *= header.shape[dim];
        // Does the next dimension outwards go on where this run ends? A size of 1 does not count.
        let outer = (0..dim).rev().find(|&outer| header.shape[outer] != 1);
        if outer.is_some_and(|outer| header.strides[outer] == size * stride) {
            continue;
        }
        while size > 1 {
            next -= 1;
            if size % shape[next] != 0 {
                return None;
            }
            strides[next] = stride;
            stride *= shape[next];
            size /= shape[next];
        }
    }
    Some(strides)
    // END
}

/// 2.5 Copies a matrix view of a storage, row by row, into packed memory.
pub fn gather(memory: &mut Memory, from: &Header) {
    // SOLUTION 2.5
    let (rows, columns) = (from.shape[0], from.shape[1]);
    let mut copy = |i: usize, j: usize| {
        let place = from.offset + i * from.strides[0] + j * from.strides[1];
        memory.copy(place, i * columns + j);
    };
    if rows < columns {
        for j in 0..columns {
            for i in 0..rows {
                copy(i, j);
            }
        }
    } else {
        for i in 0..rows {
            for j in 0..columns {
                copy(i, j);
            }
        }
    }
    // END
}

/// 2.6 Self-attention on `x: (T, B, C)` as `attend_with_copies` computes it, with one hidden copy.
pub fn attend(x: &Tensor, block: &Block) -> Tensor {
    // SOLUTION 2.6
    let (t, b, c) = (x.shape()[0], x.shape()[1], x.shape()[2]);
    let (h, d) = (block.heads, c / block.heads);
    let mut parts = Vec::new();
    for part in [0, 1, 2] {
        let own = x.matmul(&block.qkv.narrow(1, part * c, c));
        parts.push(own.reshape(&[t, b * h, d]).transpose(0, 1));
    }
    let (q, k, v) = (&parts[0], &parts[1], &parts[2]);
    let scores = q.bmm(&k.transpose(1, 2)).mul_scalar(1.0 / (d as f32).sqrt());
    let y = scores.softmax(-1).bmm(v);
    y.transpose(0, 1).reshape(&[t, b, c]).matmul(&block.out)
    // END
}

/// 2.7 The bytes of all hidden copies that `grouped_attention` makes on these sizes.
pub fn copied_bytes(sizes: &Sizes) -> u64 {
    // SOLUTION 2.7
    let Sizes { batch, queries, keys, heads, kv_heads, head_width, dtype } = *sizes;
    // Between batch and heads lies time, so they merge only where one of the three has size 1.
    let merges = |tokens: usize| batch == 1 || heads == 1 || tokens == 1;
    let mut of_queries = 0;
    if !merges(queries) {
        of_queries += 1;
    }
    // The result's heads merge with their width.
    if heads > 1 && queries > 1 {
        of_queries += 1;
    }
    // A group and its repetition merge only if there is one group; it then steps by 0, and a batch
    // does not.
    let copied = if kv_heads == heads { !merges(keys) } else { kv_heads > 1 || batch > 1 };
    let of_keys = if copied { 2 } else { 0 };
    let tokens = (of_queries * queries + of_keys * keys) as u64;
    tokens * (batch * heads * head_width) as u64 * dtype.size() as u64
    // END
}
