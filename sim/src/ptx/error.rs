//! What is wrong with a PTX text, and in which line.

use std::fmt;

/// A text that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The name of the PTX file.
    pub path: String,
    /// Its line, from 1.
    pub line: u32,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}: {}", self.path, self.line, self.message)
    }
}

impl std::error::Error for Error {}
