//! Any bytes as PTX: damaged files are refused, or read and run, without a panic and in time.
//!
//! `ENGINE_ROOM_FUZZ_TEXTS` says how many texts (some seconds' worth without it),
//! `ENGINE_ROOM_FUZZ_SEED` the first seed. What was found by them or by the fuzz target is kept in
//! `fuzz/found.rs`.

#[path = "fuzz/exercise.rs"]
mod exercise;
#[path = "fuzz/found.rs"]
mod found;
#[path = "fuzz/mutants.rs"]
mod mutants;
mod random;
