//! The `gpu-sim` command: what it prints, what it writes, and what it makes of wrong input.

#[path = "gpu_sim/arguments.rs"]
mod arguments;
#[path = "gpu_sim/findings.rs"]
mod findings;
#[path = "gpu_sim/refusals.rs"]
mod refusals;
#[path = "gpu_sim/reports.rs"]
mod reports;
#[path = "gpu_sim/sources.rs"]
mod sources;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// The kernels that are run: `kernels.cu`, compiled.
fn kernels() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("../tests/fixtures/gpu_sim/kernels.ptx")
}

/// Calls the command; the words are cut at blanks.
fn gpu_sim(words: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gpu-sim"))
        .args(words.split_whitespace())
        .current_dir(kernels().parent().expect("a folder"))
        .output()
        .expect("the command was built with this test")
}

/// `gpu-sim run kernels.ptx ..`
fn run(words: &str) -> Output {
    gpu_sim(&format!("run kernels.ptx {words}"))
}

/// What a run prints with `--json`, and its exit status, which must be 0 or 1.
fn document(words: &str) -> (Value, i32) {
    let done = run(&format!("{words} --json"));
    let status = done.status.code().expect("an exit status");
    let error = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(status < 2 && error.is_empty(), "{words}: status {status}, {error}");
    let lines = done.stdout.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(lines, 1, "{words}: one object in one line");
    (serde_json::from_slice(&done.stdout).expect("JSON"), status)
}

/// The document of a run in which nothing is wrong.
fn clean(words: &str) -> Value {
    let (document, status) = document(words);
    assert_eq!((status, &document["errors"]), (0, &Value::Array(Vec::new())), "{words}");
    document
}

/// The one finding of a run.
fn finding(words: &str) -> Value {
    let (mut document, status) = document(words);
    assert_eq!(status, 1, "{words}");
    let errors = document["errors"].as_array_mut().expect("a list");
    assert_eq!(errors.len(), 1, "{words}: {errors:?}");
    errors.remove(0)
}

fn text(done: &Output) -> String {
    String::from_utf8(done.stdout.clone()).expect("ASCII")
}

/// A file in the temporary folder; it is gone when this goes.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, bytes: &[u8]) -> Scratch {
        let path = std::env::temp_dir().join(format!("gpu-sim-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).expect("the temporary folder can be written");
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left in the system's temporary folder harms nobody.
        let _ = std::fs::remove_file(&self.0);
    }
}
