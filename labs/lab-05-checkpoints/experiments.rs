//! The experiments of lab 05, one file each, and what they share.

pub mod bytes;
pub mod crash;
pub mod damage;
pub mod header;
pub mod pickle;
pub mod report;
pub mod resume;
pub mod shares;
