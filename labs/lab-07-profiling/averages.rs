//! What 7.2 reads and returns: the calls of a profile, and a row for all of one key.

/// One call on the host. A profile holds them in the order in which they began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub name: String,
    /// The shapes of its operands.
    pub shapes: Vec<Vec<usize>>,
    /// The call that it is a direct part of: an index into the same list.
    pub parent: Option<usize>,
    /// From its start to its end, on the host.
    pub cpu_ns: u64,
    /// What the device took for the kernels that it launched itself, and none of its parts.
    pub kernels_ns: u64,
}

/// All calls of one key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    pub name: String,
    /// Empty if shapes are no part of the key.
    pub shapes: Vec<Vec<usize>>,
    pub count: u64,
    pub cpu_total_ns: u64,
    pub self_cpu_ns: u64,
    pub device_total_ns: u64,
    pub self_device_ns: u64,
}
