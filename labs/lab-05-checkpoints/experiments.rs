//! The experiments of lab 05, one file each, and what they share.

pub mod crash;
pub mod header;
pub mod report;
pub mod resume;
pub mod shares;
