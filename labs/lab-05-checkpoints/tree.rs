//! What 5.1 walks through: a tree of modules, and the tensors that it holds.

use engine_room::DType;

/// A tensor as a module holds it: which part of which storage. Two equal handles are one tensor.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Handle {
    /// The number of the storage; no two storages have the same.
    pub storage: u64,
    /// Its first element, counted from the beginning of the storage.
    pub offset: usize,
    /// Its sizes.
    pub shape: Vec<usize>,
    /// How many elements of the storage lie between neighbours, for each dimension.
    pub strides: Vec<usize>,
    /// The type of its elements.
    pub dtype: DType,
}

/// A tensor that is no parameter, such as a running mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Buffer {
    /// Its name in its module.
    pub name: String,
    /// Its tensor.
    pub tensor: Handle,
    /// Whether it is a part of the state dict.
    pub persistent: bool,
}

/// A module: what it holds itself, and the modules below it. All are in the order of registration.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Node {
    /// Its own parameters, by name.
    pub parameters: Vec<(String, Handle)>,
    /// Its own buffers.
    pub buffers: Vec<Buffer>,
    /// The modules below it, by name.
    pub children: Vec<(String, Node)>,
}

/// One line of a state dict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The whole name, from the root: `blocks.0.attention.weight`.
    pub name: String,
    /// The name under which the same tensor is written; `None` if it is written under this one.
    pub alias_of: Option<String>,
}
