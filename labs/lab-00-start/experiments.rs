//! The experiments of lab 00, one file each.

pub mod machine;
pub mod rust;
pub mod triangle;
pub mod weights;
