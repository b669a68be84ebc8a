//! What 5.6 plans.

/// A piece of an old rank's file that goes into a new rank's share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Read {
    /// The old rank, whose file it is.
    pub file: usize,
    /// The first element in the file.
    pub from: usize,
    /// How many elements.
    pub count: usize,
    /// The first element in the share.
    pub to: usize,
}
