//! Hidden copies: the bytes that an operation moved although nobody wrote `copy`.
//!
//! A reshape of a transposed tensor copies it, and so does whatever needs rows that lie side by
//! side. Each such copy is counted under the operation that made it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::profiler;

/// The hidden copies that one operation has made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HiddenCopies {
    /// The operation.
    pub op: &'static str,
    /// How many copies.
    pub count: u64,
    /// Bytes of all of them.
    pub bytes: u64,
}

static COPIES: Mutex<BTreeMap<&'static str, (u64, u64)>> = Mutex::new(BTreeMap::new());

/// The lock is held for a moment only, and nothing is called meanwhile.
fn copies() -> MutexGuard<'static, BTreeMap<&'static str, (u64, u64)>> {
    COPIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The hidden copies since the last reset, by operation, on all devices.
pub fn hidden_copies() -> Vec<HiddenCopies> {
    let entries = copies();
    entries.iter().map(|(&op, &(count, bytes))| HiddenCopies { op, count, bytes }).collect()
}

/// Starts counting anew.
pub fn reset_hidden_copies() {
    copies().clear();
}

/// Counts one copy of `bytes` by `op`.
#[track_caller]
pub(crate) fn count_hidden_copy(op: &'static str, bytes: u64) -> profiler::Span {
    let mut copies = copies();
    let (count, sum) = copies.entry(op).or_default();
    *count += 1;
    *sum += bytes;
    drop(copies);
    profiler::hidden_copy(bytes)
}
