//! The experiments of lab 07.

pub mod launch;
pub mod lines;
pub mod network;
pub mod pays;
pub mod profile_of_gpt;
pub mod roofline;
pub mod slow;
pub mod sync;
pub mod time_line;
