//! JSON as 5.2 needs it: names that stand twice are kept, and whole numbers stay whole.

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number from 0 to 2^64 - 1, written without sign, point and exponent.
    Whole(u64),
    /// Any other number: `-1`, `8.0`, `1e3`.
    Number(f64),
    /// `"text"`, with its escapes resolved.
    Text(String),
    /// `[..]`
    List(Vec<Json>),
    /// `{..}`: every pair in the order of the text, also where a name stands twice.
    Object(Vec<(String, Json)>),
}

/// The value that a text is, or `None` if it is not JSON.
pub fn parse_json(text: &str) -> Option<Json> {
    None
}
