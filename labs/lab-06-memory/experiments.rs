//! The experiments of lab 06, one file each.

pub mod rounding;
