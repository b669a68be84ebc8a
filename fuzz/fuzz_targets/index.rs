//! Any bytes as the index of a checkpoint in several files. From the repository's root:
//!
//!     cargo +nightly fuzz run index fuzz/corpus/index tests/golden/checkpoints/python_sharded \
//!         tests/golden/checkpoints/engine/sharded -- -max_total_time=600 -timeout=10 \
//!         -rss_limit_mb=2048
//!
//! The files that it may name are those of `python_sharded`. As in `header.rs` the heap is
//! counted.

#![no_main]

#[path = "../../tests/engine/exercise.rs"]
mod exercise;
#[path = "../../tests/engine/heap.rs"]
mod heap;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A folder of this process with the files of the checkpoint.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let from = here.join("../tests/golden/checkpoints/python_sharded");
        let to = std::env::temp_dir().join(format!("fuzz-index-{}", std::process::id()));
        fs::create_dir_all(&to).expect("a folder for temporary files");
        for entry in fs::read_dir(from).expect("the fixtures are there").flatten() {
            fs::copy(entry.path(), to.join(entry.file_name())).expect("a file is copied");
        }
        to
    })
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = exercise::index(bytes, folder());
});
