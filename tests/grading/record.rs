//! The verdict file: what a child tells its parent, one JSON object a line, written at once.
//!
//! A child may die at any moment (time limit, stack overflow, abort), so everything that the parent
//! needs for a diagnosis is in the file before the learner's code is called.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::check::Death;
use crate::diagnosis::Diagnosis;

static VERDICT: OnceLock<File> = OnceLock::new();

/// One line of the verdict file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Record {
    /// The seed of the check's random inputs.
    Seed(u64),
    /// The call that is about to be made.
    Called(String),
    /// What it means if the child dies this way from now on.
    IfItDies { death: Death, key: String, thought: String },
    /// A panic, on any thread: its message, and its place or nothing.
    Panicked { message: String, place: String },
    /// The allocator refused so many bytes.
    Refused(u64),
    /// The last line: the check passed.
    Passed,
    /// The last line: the check failed.
    Failed(Box<Diagnosis>),
}

/// Names the file that this process, a child, writes to.
pub(crate) fn open(path: &Path) -> Result<(), String> {
    let file = OpenOptions::new().append(true).open(path);
    let file = file.map_err(|error| format!("{} cannot be opened: {error}", path.display()))?;
    VERDICT.set(file).map_err(|_| "the verdict file is already open".to_owned())
}

/// Appends one line. Without a verdict file (a check run in the same process) it does nothing.
pub(crate) fn write(record: &Record) {
    if let (Some(mut file), Ok(mut line)) = (VERDICT.get(), serde_json::to_string(record)) {
        line.push('\n');
        // A full disk must not look like the learner's mistake; the parent says "no verdict".
        let _ = file.write_all(line.as_bytes());
    }
}

/// The allocator's line, put together without allocating: `{"refused":107374182400}`.
pub(crate) fn refused(bytes: usize) {
    let Some(mut file) = VERDICT.get() else { return };
    let mut line = [0u8; 40];
    let mut rest = &mut line[..];
    let _ = writeln!(rest, "{{\"refused\":{bytes}}}");
    let left = rest.len();
    let _ = file.write_all(&line[..line.len() - left]);
}

/// All whole lines of a verdict file; a line cut off by the child's death is skipped.
pub(crate) fn read(path: &Path) -> Vec<Record> {
    let text = std::fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}
