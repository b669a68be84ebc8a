//! The experiments of lab 04, one file each, and the trainings that they share.

pub mod adamw;
pub mod bytes;
pub mod curves;
pub mod forgotten;
pub mod gradients;
pub mod lines;
pub mod missing;
pub mod reach;
pub mod recipes;
pub mod scaler;
pub mod start;
pub mod training;
pub mod tree;
