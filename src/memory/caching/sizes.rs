//! The sizes of PyTorch's allocator, and what a request is rounded to.
//!
//! Source: PyTorch 2.9.1, `c10/cuda/CUDACachingAllocator.cpp`.

/// Every block has a multiple of so many bytes (`kMinBlockSize`).
pub const BLOCK_UNIT: u64 = 512;
/// The largest request that the small pool serves (`kSmallSize`).
pub const SMALL_SIZE: u64 = 1 << 20;
/// Segments of the small pool (`kSmallBuffer`).
pub const SMALL_SEGMENT: u64 = 2 << 20;
/// Segments for middling requests (`kLargeBuffer`).
pub const LARGE_SEGMENT: u64 = 20 << 20;
/// From here on a request gets a segment of its own size (`kMinLargeAlloc`)…
pub const OWN_SEGMENT: u64 = 10 << 20;
/// …rounded up to a multiple of this (`kRoundLarge`).
pub const SEGMENT_UNIT: u64 = 2 << 20;

/// What is asked of the allocator, rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::memory) struct Request {
    /// Bytes that were asked for.
    pub bytes: u64,
    /// Bytes of the block.
    pub size: u64,
    /// Bytes of a segment for it, if none has room.
    pub segment: u64,
    /// For which stream.
    pub stream: usize,
    /// From which pool.
    pub small: bool,
}

impl Request {
    /// `None` if no size of 64 bits is large enough.
    pub fn new(bytes: u64, stream: usize) -> Option<Request> {
        let size = bytes.checked_next_multiple_of(BLOCK_UNIT)?;
        let segment = if size <= SMALL_SIZE {
            SMALL_SEGMENT
        } else if size < OWN_SEGMENT {
            LARGE_SEGMENT
        } else {
            size.checked_next_multiple_of(SEGMENT_UNIT)?
        };
        Some(Request { bytes, size, segment, stream, small: size <= SMALL_SIZE })
    }
}

/// How the allocator may be set (PyTorch's `PYTORCH_CUDA_ALLOC_CONF`, which 2.9.1 calls deprecated
/// and is the only name that its allocator reads).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Whether freed memory is kept. Without it each tensor is an allocation of the driver's: slow,
    /// and the way to let a simulated GPU or NVIDIA's compute-sanitizer see every access beside a
    /// tensor. A program that is started with `ENGINE_ROOM_NO_MEMORY_CACHING=1` in its environment
    /// begins without, on every device (PyTorch: `PYTORCH_NO_CUDA_MEMORY_CACHING=1`).
    pub caching: bool,
    /// Blocks of so many bytes or more are not split, so that a large hole stays large
    /// (`max_split_size_mb`); `u64::MAX` for no limit.
    pub max_split_size: u64,
    /// If more than this part of the device is reserved, segments that were not used for long are
    /// given back before a new one is taken (`garbage_collection_threshold`); `None` for never.
    /// PyTorch takes the part of the limit that `set_per_process_memory_fraction` sets.
    pub garbage_collection_threshold: Option<f64>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { caching: true, max_split_size: u64::MAX, garbage_collection_threshold: None }
    }
}

impl Settings {
    /// Whether the rest of a block is made a block of its own.
    pub(super) fn splits(&self, request: &Request, block: u64) -> bool {
        let rest = block - request.size;
        match request.small {
            true => rest >= BLOCK_UNIT,
            false => request.size < self.max_split_size && rest > SMALL_SIZE,
        }
    }

    /// Whether the best block that was found may serve: a block that is too large to be split is
    /// kept for large requests, and not wasted on one that is much smaller.
    pub(super) fn fits(&self, request: &Request, block: u64) -> bool {
        match request.size < self.max_split_size {
            true => block < self.max_split_size,
            false => block < request.size.saturating_add(LARGE_SEGMENT),
        }
    }
}
