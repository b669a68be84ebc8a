//! How the weights of a model are stored.

/// What one weight is on the disk and in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// 32-bit floating point.
    F32,
    /// The upper 16 bits of an `f32`.
    BF16,
    /// An 8-bit integer.
    Int8,
    /// A 4-bit integer. The smallest thing that memory can hold is a byte.
    Int4,
}

impl Format {
    /// The largest first.
    pub const ALL: [Format; 4] = [Format::F32, Format::BF16, Format::Int8, Format::Int4];
}
