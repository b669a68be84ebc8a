//! The header of a tensor: what it says of the numbers in its storage.

use std::fmt;

/// Shape, strides and offset of a tensor, all counted in elements: what the engine's `Layout` and
/// PyTorch's `x.shape`, `x.stride()` and `x.storage_offset()` are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Size of each dimension.
    pub shape: Vec<usize>,
    /// Elements to step over in the storage for one step in each dimension.
    pub strides: Vec<usize>,
    /// Place in the storage of the element whose indices are all 0.
    pub offset: usize,
}

impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Header { shape, strides, offset } = self;
        write!(f, "shape {shape:?}, strides {strides:?}, offset {offset}")
    }
}
