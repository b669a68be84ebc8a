//! Makes modules of `tests/gpu_*.rs` in which the tests are plain functions, and a list of them: so
//! that one program has them all, and can be carried to a machine that has a GPU and no cargo.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// What clippy would say of modules that each were a program of their own.
const LINTS: &str = "#[allow(clippy::duplicate_mod, clippy::type_complexity)]\n";

fn main() {
    let folder = |name| PathBuf::from(env::var_os(name).expect("cargo sets it"));
    let (tests, out) = (folder("CARGO_MANIFEST_DIR").join("../tests"), folder("OUT_DIR"));
    println!("cargo::rerun-if-changed={}", tests.display());
    let entries = fs::read_dir(&tests).expect("the folder tests is there");
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let (mut modules, mut rows) = (String::new(), String::new());
    for path in &files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let Some(suite) = name.strip_suffix(".rs").filter(|name| name.starts_with("gpu_")) else {
            continue;
        };
        let text = fs::read_to_string(path).expect("a test is text").replace("\r\n", "\n");
        if text.contains("mod agree;") {
            let target = out.join(name.as_ref());
            fs::write(&target, plain(&text, &tests)).expect("OUT_DIR can be written");
            modules += &format!("{LINTS}#[path = {target:?}]\nmod {suite};\n");
            rows += &format!("    (\"{suite}\", &[{}]),\n", cases(&text, suite));
        }
    }
    let list = format!("/// Of `tests/gpu_*.rs`.\nconst FAMILIES: &[Suite] = &[\n{rows}];\n");
    fs::write(out.join("suites.rs"), modules + &list).expect("OUT_DIR can be written");
}

/// The text with its tests as public functions, and the modules that it names found from elsewhere.
fn plain(text: &str, tests: &Path) -> String {
    let tests = tests.display().to_string().replace('\\', "/");
    text.replace("#[path = \"", &format!("#[path = \"{tests}/")).replace("#[test]\nfn ", "pub fn ")
}

/// `("name", suite::name),` for each test.
fn cases(text: &str, suite: &str) -> String {
    let names = text.split("#[test]\nfn ").skip(1).filter_map(|rest| rest.split('(').next());
    names.map(|name| format!("(\"{name}\", {suite}::{name}), ")).collect()
}
