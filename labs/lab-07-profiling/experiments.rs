//! The experiments of lab 07.
