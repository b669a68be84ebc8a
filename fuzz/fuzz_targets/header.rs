//! Any bytes as a safetensors file. From the repository's root, with the fixtures to begin with:
//!
//!     cargo +nightly fuzz run header fuzz/corpus/header tests/golden/checkpoints \
//!         tests/golden/checkpoints/engine -- -max_total_time=600 -timeout=10 -rss_limit_mb=2048
//!
//! The same function runs, on seeded damage, in `tests/engine_safetensors_damage.rs`. It counts the
//! heap: what is allocated must be a small multiple of the bytes.

#![no_main]

#[path = "../../tests/engine/exercise.rs"]
mod exercise;
#[path = "../../tests/engine/heap.rs"]
mod heap;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = exercise::header(bytes);
});
