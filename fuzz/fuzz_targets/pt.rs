//! Any bytes as a `.pt` file. From the repository's root, with PyTorch's to begin with:
//!
//!     cargo +nightly fuzz run pt fuzz/corpus/pt tests/golden/checkpoints -- \
//!         -max_total_time=600 -timeout=10 -rss_limit_mb=2048
//!
//! The same function runs, on seeded damage, in `tests/engine_pt_damage.rs`. It counts the heap:
//! what is allocated must be a small multiple of the bytes.

#![no_main]

#[path = "../../tests/engine/archive.rs"]
mod archive;
#[path = "../../tests/engine/pt_exercise.rs"]
mod pt_exercise;
#[path = "../../tests/engine/heap.rs"]
mod heap;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = pt_exercise::file(bytes);
});
