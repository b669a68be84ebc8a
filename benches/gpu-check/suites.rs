//! The suites: each in a process of its own, so that a kernel that costs its process the GPU takes
//! no other suite along; the rest of its own goes on in another process.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::time::Instant;

use engine_room::{Device, Error, Misuse};
use engine_room_labs::{Cell, Table, print};
use serde_json::{Value, json};

use crate::{driver, scenes};

/// A name, and cases by name.
type Suite = (&'static str, &'static [(&'static str, fn())]);

include!(concat!(env!("OUT_DIR"), "/suites.rs"));

/// Before a line in which a process tells what became of a case.
const PASSED: &str = "gpu-check passed: ";
const FAILED: &str = "gpu-check failed: ";

/// The driver's first: without it nothing works.
fn suites() -> impl Iterator<Item = Suite> {
    let driver = [("driver", driver::CASES), ("driver_scenes", scenes::CASES)];
    driver.into_iter().chain(FAMILIES.iter().copied())
}

/// In the process of a suite: plays it from a case on, until the end or until the GPU is lost.
pub fn play(name: &str, from: usize) {
    let Some((_, cases)) = suites().find(|(suite, _)| *suite == name) else { return };
    for (name, case) in &cases[from.min(cases.len())..] {
        match catch_unwind(AssertUnwindSafe(case)) {
            Ok(()) => println!("{PASSED}{name}"),
            Err(payload) => {
                let said = if let Some(error) = payload.downcast_ref::<Error>() {
                    error.to_string()
                } else if let Some(misuse) = payload.downcast_ref::<Misuse>() {
                    misuse.to_string()
                } else if let Some(text) = payload.downcast_ref::<String>() {
                    text.clone()
                } else {
                    payload.downcast_ref::<&str>().unwrap_or(&"it panicked").to_string()
                };
                println!("{FAILED}{name}: {}", said.replace('\n', " "));
            }
        }
        if Device::cuda(0).and_then(|gpu| gpu.synchronize()).is_err() {
            return;
        }
    }
}

/// What became of the cases of a suite.
struct Outcome {
    suite: &'static str,
    cases: usize,
    failures: Vec<String>,
    seconds: f64,
}

/// What became of all.
pub struct Results(Vec<Outcome>);

/// Runs every suite, and prints failures as they come.
pub fn run_all(verbose: bool) -> Results {
    Results(suites().map(|suite| run(suite, verbose)).collect())
}

fn run((suite, cases): Suite, verbose: bool) -> Outcome {
    let start = Instant::now();
    let (mut done, mut failures) = (0, Vec::new());
    while done < cases.len() {
        let told = lines_of(suite, done, verbose);
        failures.extend(told.iter().filter_map(|line| line.strip_prefix(FAILED)).map(String::from));
        done += told.len();
        if told.is_empty() {
            failures.push(format!("{}: its process ended", cases[done].0));
            done += 1;
        }
    }
    let cases = cases.len();
    print(&format!("{suite}: {} of {cases} passed\n", cases - failures.len()));
    failures.iter().for_each(|failure| print(&format!("    {failure}\n")));
    Outcome { suite, cases, failures, seconds: start.elapsed().as_secs_f64() }
}

/// What a process tells that plays a suite from a case on.
fn lines_of(suite: &str, from: usize, verbose: bool) -> Vec<String> {
    let program = std::env::current_exe().expect("this program has a path");
    let errors = if verbose { Stdio::inherit() } else { Stdio::null() };
    let mut child = Command::new(program);
    child.args(["--play", suite, &from.to_string()]).env("ENGINE_ROOM_GPU", "cuda").stderr(errors);
    let output = child.output().expect("this program can be started again");
    let text = String::from_utf8_lossy(&output.stdout);
    let told = |line: &&str| line.starts_with(PASSED) || line.starts_with(FAILED);
    text.lines().filter(told).map(String::from).collect()
}

impl Results {
    /// Whether any case failed.
    pub fn failed(&self) -> bool {
        self.0.iter().any(|outcome| !outcome.failures.is_empty())
    }

    /// A row for each suite.
    pub fn table(&self) -> Table {
        let mut table = Table::new()
            .column("suite", "suite", "")
            .column("cases", "cases", "")
            .column("failed", "failed", "")
            .column("seconds", "time", "");
        for Outcome { suite, cases, failures, seconds } in &self.0 {
            let (cases, failed) = (Cell::Count(*cases as u64), Cell::Count(failures.len() as u64));
            table.row([Cell::from(*suite), cases, failed, Cell::Seconds(*seconds)]);
        }
        table
    }

    /// The cases that failed, and what they said.
    pub fn failures(&self) -> Value {
        let of = |outcome: &Outcome| json!({ outcome.suite: outcome.failures });
        self.0.iter().filter(|outcome| !outcome.failures.is_empty()).map(of).collect()
    }
}
