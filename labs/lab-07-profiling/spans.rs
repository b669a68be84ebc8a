//! What 7.1 reads: spans of time, as a recorder leaves them.

/// From when to when something ran on one thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    pub name: String,
    /// The number that the system gave the thread.
    pub thread: usize,
    pub start_ns: u64,
    /// Never before `start_ns`.
    pub end_ns: u64,
}

/// How long a span took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// From its start to its end.
    pub total_ns: u64,
    /// Without its direct parts.
    pub self_ns: u64,
}
