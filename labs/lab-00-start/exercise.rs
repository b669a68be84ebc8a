//! Lab 00, Start. Two exercises, one function each.
//!
//! 0.1 has one line to mend. In 0.2 replace `exercise!(..)` by your code. Grade with
//! `cargo test --test lab-00-start`, ask for a hint with `cargo run --bin course -- hint 0.1`.
#![allow(dead_code, unused_imports, unused_variables)] // what you have not begun is silent

use grading::exercise;

use super::format::Format;

/// 0.1 So many bytes in GiB, as a driver reports memory: 1 GiB is 1,024 · 1,024 · 1,024 bytes.
///
/// One line is wrong. Mend it.
pub fn gib(bytes: u64) -> f64 {
    bytes as f64 / 1_000_000_000.0
}

/// 0.2 The bytes of so many weights in this format, without anything that is stored beside them.
///
/// In `Format::Int4` two weights share a byte, and the last byte may be half empty.
pub fn weight_bytes(parameters: u64, format: Format) -> u64 {
    exercise!("0.2")
}
