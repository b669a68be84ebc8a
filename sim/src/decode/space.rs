//! The kinds of memory, and where each begins among the generic addresses.

/// The kinds of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Space {
    /// Of the whole device. Constant memory is read-only global memory.
    Global,
    /// As above, read through the constant cache: no sectors are counted.
    Constant,
    /// Of a block.
    Shared,
    /// Of a thread.
    Local,
    /// The parameters of the kernel.
    Param,
    /// Any of these, by address.
    Generic,
}

/// Where a kind of memory begins among the generic addresses; each takes [`WINDOW`].
pub const PARAM_WINDOW: u64 = 0x0500_0000_0000;
/// As above.
pub const SHARED_WINDOW: u64 = 0x0600_0000_0000;
/// As above.
pub const LOCAL_WINDOW: u64 = 0x0700_0000_0000;
/// How many addresses a window has.
pub const WINDOW: u64 = 1 << 24;
/// The handle of the first function; each has [`HANDLE`] more.
pub const HANDLES: u64 = 0x0400_0000_0000;
/// The distance of two handles.
pub const HANDLE: u64 = 16;

impl Space {
    /// The kind of memory that a generic address is of, and the address within it.
    pub fn of(self, address: u64) -> (Space, u64) {
        let inside = |window: u64| address.wrapping_sub(window) < WINDOW;
        match self {
            Space::Generic if inside(SHARED_WINDOW) => (Space::Shared, address - SHARED_WINDOW),
            Space::Generic if inside(LOCAL_WINDOW) => (Space::Local, address - LOCAL_WINDOW),
            Space::Generic if inside(PARAM_WINDOW) => (Space::Param, address - PARAM_WINDOW),
            Space::Generic => (Space::Global, address),
            _ => (self, address),
        }
    }
}
