//! The experiments of lab 06, one file each, and what they share.

pub mod attention;
pub mod batch;
pub mod gpu;
pub mod holders;
pub mod language;
pub mod mine;
pub mod pieces;
pub mod price;
pub mod segments;
pub mod small;
pub mod step;
pub mod trace;
