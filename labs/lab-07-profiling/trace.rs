//! What 7.4 writes down: events of the host and of devices.

/// From when to when something ran, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Any text.
    pub name: String,
    /// The device that it ran on; `None` is the host.
    pub device: Option<usize>,
    /// The thread of the host, or the stream of the device.
    pub lane: usize,
    /// Nanoseconds since 1970.
    pub start_ns: u64,
    /// Never before `start_ns`.
    pub end_ns: u64,
    /// The call of the host that asked for it, if it ran on a device: an index into the same list.
    pub cause: Option<usize>,
}

/// A JSON object of such names, each with a value that is JSON already:
/// `object(&[("a", "1".to_string())])` is `{"a": 1}`.
pub fn object(fields: &[(&str, String)]) -> String {
    let fields: Vec<String> =
        fields.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
    format!("{{{}}}", fields.join(", "))
}
