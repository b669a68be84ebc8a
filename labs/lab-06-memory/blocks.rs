//! What the allocator of 6.1 and 6.2 works on: pools, requests, segments and their blocks.

/// Which segments a block may lie in. The two never lend to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pool {
    /// For blocks of at most 1 MiB.
    Small,
    /// For all others.
    Large,
}

/// What a tensor's bytes come to at the allocator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Bytes of the block; 0 if none is needed.
    pub block: u64,
    /// In which pool a block is looked for.
    pub pool: Pool,
    /// Bytes that the driver is asked for if no block of the pool fits; 0 if no block is needed.
    pub segment: u64,
}

/// A part of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Its first address.
    pub start: u64,
    /// Its bytes.
    pub size: u64,
    /// Whether a tensor has it.
    pub used: bool,
}

/// One allocation of the driver's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Its pool.
    pub pool: Pool,
    /// Its blocks by address. They fill it: each begins where the one before it ends.
    pub blocks: Vec<Block>,
}
