//! PTX as text: lexer, parser and syntax tree. No meaning yet.
//!
//! The text is what NVIDIA's "PTX ISA" calls a module; the section numbers in these files are
//! those of its version 8.5.

pub mod ast;
mod error;
mod lexer;
pub mod listing;
mod parser;
pub mod source;

pub use error::Error;
pub use parser::parse;
