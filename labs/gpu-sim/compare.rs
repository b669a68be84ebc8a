//! `gpu-sim compare`: the counters of two runs side by side.

use std::path::{Path, PathBuf};

use clap::Args;
use engine_room_labs::{Cell, Table};
use engine_room_sim::counters::Counters;
use serde_json::Value;

use crate::{Outcome, json};

/// Which runs.
#[derive(Args)]
pub struct CompareArgs {
    /// What `gpu-sim run --json` printed for the first run
    first: PathBuf,
    /// What it printed for the second
    second: PathBuf,
}

/// Runs the command.
///
/// # Errors
///
/// In one line, which file is no run.
pub fn run(args: &CompareArgs) -> Outcome {
    let runs = [load(&args.first)?, load(&args.second)?];
    let mut table = Table::new()
        .column("counter", "counter", "")
        .column("first", "first", "")
        .column("second", "second", "")
        .column("ratio", "second / first", "");
    for (name, _) in json::named(&Counters::default()) {
        let [first, second] = [0, 1].map(|at: usize| runs[at]["counters"][name].as_u64());
        table.row(row(name, first, second));
    }
    let [first, second] = [0, 1].map(|at: usize| runs[at]["modelled_ns"].as_u64());
    table.row(row("modelled_ns", first, second));
    for part in parts(&runs) {
        let ns = |at: usize| runs[at]["model"]["parts"][&part].as_f64().map(|ns| ns.ceil() as u64);
        table.row(row(&format!("{part} ns"), ns(0), ns(1)));
    }
    for key in ["waves", "warps_per_multiprocessor"] {
        let [first, second] = [0, 1].map(|at: usize| runs[at]["model"][key].as_u64());
        table.row(row(key, first, second));
    }
    let mut text = String::new();
    for (which, run) in ["first", "second"].iter().zip(&runs) {
        let word = |key: &str| run[key].as_str().unwrap_or("?").to_string();
        let findings = run["errors"].as_array().map_or(0, Vec::len);
        text += &format!("{which}: {} on {}, findings: {findings}\n", word("kernel"), word("gpu"));
    }
    engine_room_labs::print(&format!("{text}\n{}", table.text()));
    Ok(true)
}

/// The parts of the GPU that one of the runs keeps busy: first those of the first run.
fn parts(runs: &[Value; 2]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let parts = runs.iter().filter_map(|run| run["model"]["parts"].as_object());
    for name in parts.flat_map(|parts| parts.keys()) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

fn row(name: &str, first: Option<u64>, second: Option<u64>) -> [Cell; 4] {
    let count = |value: Option<u64>| value.map_or(Cell::Missing, Cell::Count);
    let ratio = match (first, second) {
        (Some(first), Some(second)) if first > 0 => Cell::Ratio(second as f64 / first as f64),
        _ => Cell::Missing,
    };
    [Cell::from(name), count(first), count(second), ratio]
}

fn load(path: &Path) -> Result<Value, String> {
    let shown = path.display();
    let text = std::fs::read(path).map_err(|e| format!("{shown} cannot be read: {e}"))?;
    let run: Value = serde_json::from_slice(&text).map_err(|e| format!("{shown}: {e}"))?;
    if run["counters"].is_object() {
        return Ok(run);
    }
    Err(format!("{shown} is not what `gpu-sim run --json` prints: it has no counters"))
}
