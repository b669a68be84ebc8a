//! Any bytes as PTX. From the repository's root, with the compilers' files to begin with:
//!
//!     cargo +nightly fuzz run ptx fuzz/corpus/ptx sim/tests/ptx sim/programs/ptx -- \
//!         -max_total_time=600 -timeout=10 -rss_limit_mb=2048
//!
//! The same function runs, on seeded damage instead of libFuzzer's, in `sim/tests/fuzz.rs`.

#![no_main]

#[path = "../../sim/tests/fuzz/exercise.rs"]
mod exercise;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| exercise::exercise(bytes));
