//! Lab 07, Profiling. Seven exercises.
//!
//! Replace each `exercise!(..)` by your code, and mend what 7.3 and 7.6 hand out. Grade with
//! `cargo test --test lab-07-profiling`, ask for a hint with
//! `cargo run --bin course -- hint 7.1`.
#![allow(dead_code, unused_imports, unused_variables)] // what you have not begun is silent

// STUB use grading::exercise;
// STUB
use super::averages::{Call, Row};
use super::spans::{Span, Times};

/// 7.1 The total and the self time of each span, in the order of the list.
pub fn self_times(spans: &[Span]) -> Vec<Times> {
    // SOLUTION 7.1
    Vec::new()
    // END
}

/// 7.2 A row for each key, in the order in which the keys first come up.
pub fn key_averages(calls: &[Call], group_by_input_shape: bool) -> Vec<Row> {
    // SOLUTION 7.2
    Vec::new()
    // END
}
