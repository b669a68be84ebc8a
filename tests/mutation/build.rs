//! Makes from each lab's solution one program that holds all its mutants.

#[path = "mutator.rs"]
mod mutator;
#[path = "rules.rs"]
mod rules;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Labs with a mutation target in this package.
const LABS: [&str; 8] = [
    "00-start",
    "01-tensors",
    "02-views",
    "03-autograd",
    "04-modules",
    "05-checkpoints",
    "06-memory",
    "07-profiling",
];

fn main() -> Result<(), Box<dyn Error>> {
    let package = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    for lab in LABS {
        let solution = package.join(format!("../../labs/lab-{lab}/solution.rs"));
        let exceptions = package.join(format!("exceptions-{lab}.txt"));
        let source = read(&solution)?;
        let mutated = mutator::schemata(&source, &read(&exceptions)?)?;
        fs::write(out.join(format!("lab-{lab}.rs")), mutated)?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, String> {
    println!("cargo::rerun-if-changed={}", path.display());
    fs::read_to_string(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))
}
