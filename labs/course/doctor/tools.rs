//! The programs that the course needs: the compiler, cargo, mdBook.

use std::ffi::OsStr;
use std::process::Command;

use super::Finding;

const RUST: &str = env!("CARGO_PKG_RUST_VERSION");
const MDBOOK: [u64; 2] = [0, 5];

/// The compiler that cargo calls here, against the version that the course needs.
pub fn compiler() -> Vec<Finding> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let todo =
        format!("Install Rust {RUST} or newer from https://rustup.rs, or: rustup update stable");
    vec![match version(&rustc) {
        Err(why) => Finding::fail(format!("rustc: {why}"), todo),
        Ok(said) if numbers(&said) >= numbers(RUST) => Finding::ok(said),
        Ok(said) => Finding::fail(format!("{said}, and the course needs {RUST}"), todo),
    }]
}

/// The cargo that runs this program.
pub fn cargo() -> Vec<Finding> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let todo = "Install Rust from https://rustup.rs; cargo comes with it.";
    vec![match version(&cargo) {
        Ok(said) => Finding::ok(said),
        Err(why) => Finding::fail(format!("cargo: {why}"), todo),
    }]
}

/// mdBook, which only the pages need.
pub fn mdbook() -> Vec<Finding> {
    let todo = "The labs run without it. To read the book: cargo install mdbook --version 0.5.4 \
                --locked, then mdbook serve";
    vec![match version("mdbook".as_ref()) {
        Err(why) => Finding::note(format!("mdbook: {why}"), todo),
        Ok(said) if numbers(&said).starts_with(&MDBOOK) => Finding::ok(said),
        Ok(said) => Finding::fail(format!("{said}, and the book needs 0.5.x"), todo),
    }]
}

/// The first line that `program --version` prints.
fn version(program: &OsStr) -> Result<String, String> {
    let output = Command::new(program).arg("--version").output();
    let output = output.map_err(|e| format!("it cannot be started ({e})"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    match said.lines().next() {
        Some(line) if output.status.success() && !numbers(line).is_empty() => Ok(line.to_string()),
        _ => Err("it starts, and does not say its version".to_string()),
    }
}

/// The numbers of the first word with a digit: `rustc 1.95.0 (5980…)` becomes 1, 95, 0.
fn numbers(text: &str) -> Vec<u64> {
    let is_version = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    let words = text.split_whitespace().map(|word| word.trim_start_matches('v'));
    let version = words.into_iter().find(is_version).unwrap_or_default();
    version.split(['.', '-', '+']).map_while(|part| part.parse().ok()).collect()
}
