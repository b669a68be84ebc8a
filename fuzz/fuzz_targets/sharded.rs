//! Any bytes as the index of a state that is split over ranks. From the repository's root:
//!
//!     cargo +nightly fuzz run sharded fuzz/corpus/sharded tests/golden/checkpoints/sharded -- \
//!         -max_total_time=600 -timeout=10 -rss_limit_mb=2048
//!
//! The files that it may name are those of two ranks. The heap is counted.

#![no_main]

#[path = "../../tests/engine/exercise_sharded.rs"]
mod exercise_sharded;
#[path = "../../tests/engine/heap.rs"]
mod heap;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use exercise_sharded::{INDEX, damaged, fill};

/// A folder of this process with the files of two ranks.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let to = std::env::temp_dir().join(format!("fuzz-sharded-{}", std::process::id()));
        fs::create_dir_all(&to).expect("a folder for temporary files");
        fill(&to);
        to
    })
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    fs::write(folder().join(INDEX), bytes).expect("room for an index");
    let _ = damaged(folder());
});
