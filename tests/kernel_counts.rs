//! The counts of every kernel: the tables of `kernels/README.md` are what a run gives, no kernel is
//! missing, and the page has a reason for each one that asks for more sectors than it could.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::{Map, Value};

/// A file of `kernels/`, with one kind of line end on every system.
fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels").join(name);
    std::fs::read_to_string(path).expect("it is there").replace("\r\n", "\n")
}

/// The parts of the page before the tables, and the tables.
fn page() -> [String; 2] {
    let page = file("README.md");
    let rest = page.split_once("<!-- cargo run --bin kernels -- counts --write -->\n\n");
    let (text, rest) = rest.expect("the page has a place for the tables");
    let (tables, _) = rest.split_once("\n<!-- end -->").expect("the place has an end");
    [text, tables].map(String::from)
}

fn counts(words: &[&str]) -> String {
    let done = Command::new(env!("CARGO_BIN_EXE_kernels"))
        .arg("counts")
        .args(words)
        .output()
        .expect("the command was built with this test");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("plain text").replace("\r\n", "\n")
}

#[test]
fn the_tables_are_what_a_run_gives() {
    let (shown, [_, tables]) = (counts(&[]), page());
    for (got, want) in shown.lines().zip(tables.lines()) {
        assert_eq!(got, want, "`cargo run --bin kernels -- counts --write` mends the page");
    }
    assert_eq!(shown.len(), tables.len());
}

/// `add` of `add_f32`: kernels that differ in the type of the elements only are one.
fn family(kernel: &str) -> &str {
    let (name, ending) = kernel.rsplit_once('_').unwrap_or((kernel, ""));
    let types = "f32 f16 bf16 f64 i64 i32 u8 bool b1 b2 b4 b8";
    if types.split(' ').any(|name| name == ending) { name } else { kernel }
}

#[test]
fn every_kernel_is_counted_and_every_excess_explained() {
    let files: Map<String, Value> = serde_json::from_str(&counts(&["--json"])).expect("JSON");
    let (mut counted, [text, _]) = (BTreeSet::new(), page());
    for row in files.values().flat_map(|rows| rows.as_array().expect("rows")) {
        let number = |key: &str| row[key].as_f64().unwrap_or(0.0);
        let kernel = row["kernel"].as_str().expect("a name");
        counted.insert(family(kernel).to_string());
        if row["dram"].is_null() {
            continue;
        }
        let (needed, named) = (number("of_needed"), text.contains(&format!("`{kernel}`")));
        assert!(needed >= 1.0, "{kernel}: {needed} of the bytes that it cannot do without");
        assert!(needed < 1.01 || named, "no reason for the bytes that {kernel} moves");
        for what in ["load", "store"] {
            let sectors = number(&format!("sectors_per_{what}"));
            let least = number(&format!("least_per_{what}"));
            assert!(sectors >= least, "{kernel}: {sectors} sectors, {least} at least");
            assert!(sectors == least || named, "no reason for the sectors of {kernel}");
        }
    }
    let registers = file("ptx/registers.tsv");
    let all = registers.lines().skip(1).filter_map(|line| line.split('\t').nth(1));
    for kernel in all {
        assert!(counted.contains(family(kernel)), "{kernel} is not counted");
    }
}
