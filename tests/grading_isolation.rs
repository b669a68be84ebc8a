//! Whatever a learner's function does, its exercise gets a verdict, and the others keep theirs.
//!
//! This program is a grader of a fixture lab when it is called with `--grade` (or as a child), and
//! otherwise the test that runs itself as that grader and reads the report.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

use grading::{Check, Death, Diagnosis, Exercise, Report, State, Verdict};

#[global_allocator]
static ALLOCATOR: grading::CappedAllocator = grading::CappedAllocator;

#[expect(unused_variables, reason = "a stub uses none of its arguments")]
#[path = "fixtures/lab-99-fixture/exercise.rs"]
mod exercise;

const SOURCE: &str = include_str!("fixtures/lab-99-fixture/exercise.rs");
const STUB: &str = include_str!("fixtures/lab-99-fixture/stub.rs");

type Double = fn(u64) -> u64;

/// Name in the learner's file, the function, and the state and key that must come.
const CASES: [(&str, Double, State, &str); 15] = [
    ("not_started", exercise::not_started, State::NotStarted, ""),
    ("passes", exercise::passes, State::Passed, ""),
    ("unfinished", exercise::unfinished, State::Unfinished, "unfinished"),
    ("wrong", exercise::wrong, State::Failed, "99-squared"),
    ("exits", exercise::exits, State::Failed, "exited"),
    ("hangs", exercise::hangs, State::Failed, "99-never-ends"),
    ("recurses", exercise::recurses, State::Failed, "stack-overflow"),
    ("allocates", exercise::allocates, State::Failed, "memory-limit"),
    ("aborts", exercise::aborts, State::Failed, "aborted"),
    ("panics_twice", exercise::panics_twice, State::Failed, "aborted"),
    ("prints_for_ever", exercise::prints_for_ever, State::Failed, "99-never-ends"),
    ("leaves_a_thread", exercise::leaves_a_thread, State::Passed, ""),
    ("leaves_a_process", exercise::leaves_a_process, State::Passed, ""),
    ("misuses", exercise::misuses, State::Failed, "panicked"),
    ("panics_elsewhere", exercise::panics_elsewhere, State::Failed, "wrong-value"),
];

/// One check for all: the case's number is its exercise's.
const CHECKS: [Exercise<[Double; 15]>; 15] = [
    Exercise { id: "99.1", check: |double, check| doubles(double[0], check) },
    Exercise { id: "99.2", check: |double, check| doubles(double[1], check) },
    Exercise { id: "99.3", check: |double, check| doubles(double[2], check) },
    Exercise { id: "99.4", check: |double, check| doubles(double[3], check) },
    Exercise { id: "99.5", check: |double, check| doubles(double[4], check) },
    Exercise { id: "99.6", check: |double, check| doubles(double[5], check) },
    Exercise { id: "99.7", check: |double, check| doubles(double[6], check) },
    Exercise { id: "99.8", check: |double, check| doubles(double[7], check) },
    Exercise { id: "99.9", check: |double, check| doubles(double[8], check) },
    Exercise { id: "99.10", check: |double, check| doubles(double[9], check) },
    Exercise { id: "99.11", check: |double, check| doubles(double[10], check) },
    Exercise { id: "99.12", check: |double, check| doubles(double[11], check) },
    Exercise { id: "99.13", check: |double, check| doubles(double[12], check) },
    Exercise { id: "99.14", check: |double, check| doubles(double[13], check) },
    Exercise { id: "99.15", check: |double, check| doubles(double[14], check) },
];

fn doubles(double: Double, check: &mut Check) -> Result<(), Diagnosis> {
    check.if_it_dies(Death::TimeLimit, "99-never-ends", "A loop without an end.");
    let bytes = 3 + check.rng().below(1_000) as u64;
    let called = format!("double({bytes})");
    let got = check.call(&called, || double(bytes))?;
    let squared = grading::Idea { key: "99-squared", thought: "Squared.", value: bytes * bytes };
    check.equal("bytes", &called, &got, &(2 * bytes), &[squared])
}

fn main() -> ExitCode {
    let asked = |flag: &str| std::env::args().any(|argument| argument == flag);
    if asked("--linger") {
        // Some seconds of counting: longer than the grader has patience for.
        let count = (0..300_000_000_u64).map(std::hint::black_box).sum::<u64>();
        println!("{count}");
        return ExitCode::SUCCESS;
    }
    if asked("--child") || std::env::var_os("FIXTURE_GRADER").is_some() {
        return grading::grade(folder(), SOURCE, &CHECKS, CASES.map(|case| case.1));
    }
    write_lab();
    let (report, output) = graded(&[]);
    each_case_gets_its_verdict(&report);
    the_reason_is_told(&report, &output);
    the_seed_repeats_the_inputs(&report);
    one_exercise_can_be_asked_for();
    println!("isolation: {} exercises, each with its own verdict", CASES.len());
    ExitCode::SUCCESS
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("lab-99-fixture")
}

fn write_lab() {
    let mut toml =
        "id = \"99\"\nslug = \"99-fixture\"\ntitle = \"Fixture\"\nobjectives = []\n".to_owned();
    for (index, (name, ..)) in CASES.iter().enumerate() {
        toml += &format!(
            "[[exercise]]\nid = \"99.{}\"\ntitle = \"{name}\"\nfunctions = [\"{name}\"]\n\
             kind = \"implement\"\nminutes = {{ estimate = 5, measured = [] }}\npoints = 2\n\
             section = \"two-inputs\"\nstatement = \"Double it.\"\nhints = [\"a\", \"b\", \"c\"]\n\
             time_limit = 2\n",
            index + 1
        );
    }
    std::fs::create_dir_all(folder()).expect("the target folder can be written");
    std::fs::write(folder().join("lab.toml"), toml).expect("lab.toml can be written");
    std::fs::write(folder().join("stub.rs"), STUB).expect("stub.rs can be written");
}

/// Runs this program as a grader, and reads its report.
fn graded(settings: &[(&str, &str)]) -> (Report, Output) {
    let path = folder().join("report.json");
    let program = std::env::current_exe().expect("this program has a path");
    let mut command = Command::new(program);
    command.env("FIXTURE_GRADER", "1").env("ENGINE_ROOM_REPORT", &path);
    for (name, value) in settings {
        match name.strip_prefix("--") {
            Some(_) => command.args([name, value]),
            None => command.env(name, value),
        };
    }
    let output = command.output().expect("the grader can be started");
    let text = std::fs::read_to_string(path).expect("the grader writes a report");
    (serde_json::from_str(&text).expect("the report is JSON"), output)
}

fn verdict<'a>(report: &'a Report, name: &str) -> &'a Verdict {
    let index = CASES.iter().position(|case| case.0 == name).expect("a case of that name");
    let id = format!("99.{}", index + 1);
    report.verdicts().find(|verdict| verdict.id == id).expect("a verdict for each exercise")
}

fn diagnosis<'a>(report: &'a Report, name: &str) -> &'a Diagnosis {
    verdict(report, name).diagnosis.as_ref().expect("a diagnosis")
}

fn each_case_gets_its_verdict(report: &Report) {
    for (name, _, state, key) in CASES {
        let verdict = verdict(report, name);
        let came = verdict.diagnosis.as_ref().map_or("", |diagnosis| &diagnosis.key);
        assert_eq!((verdict.state, came), (state, key), "{name}: {:?}", verdict.diagnosis);
    }
    assert_eq!((report.points, report.max_points), (6, 30));
    assert_eq!(report.last_line(false), "11 failed, 3 of 15 solved");
}

fn the_reason_is_told(report: &Report, output: &Output) {
    let wrong = diagnosis(report, "wrong");
    assert!(wrong.output.starts_with("bytes is "), "{wrong:?}");
    assert_eq!(wrong.section, "'two inputs' in chapter 99");
    assert!(wrong.called.starts_with("double("), "{wrong:?}");
    for (name, words) in [
        ("exits", "exit code 0"),
        ("hangs", "no answer within 2 s"),
        ("allocates", "107374182400 bytes more"),
        ("panics_twice", &format!("a panic ({}): first", place("panic!(\"first\")"))),
        ("panics_twice", &format!("a panic ({}): second", place("panic!(\"second\")"))),
        ("misuses", &format!("a panic ({}): matmul(", place("matmul"))),
    ] {
        let got = &diagnosis(report, name).got;
        assert!(got.contains(words), "{name}: {got}");
        assert_eq!(diagnosis(report, name).output, "", "{name}");
        assert!(diagnosis(report, name).called.starts_with("double("), "{name}");
    }
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("Your code printed:\n  | bytes is "), "{text}");
    assert!(text.is_ascii() && !text.contains("stack backtrace"), "{text}");
}

/// Where the learner's file says this, as a diagnosis names it.
fn place(words: &str) -> String {
    let line = SOURCE.lines().position(|line| line.contains(words)).expect("the file says so");
    format!("exercise.rs line {}", line + 1)
}

fn the_seed_repeats_the_inputs(report: &Report) {
    let wrong = diagnosis(report, "wrong");
    let seed = wrong.seed.expect("a seed").to_string();
    let only = ("--exact", "99.4 wrong");
    let (again, _) = graded(&[("ENGINE_ROOM_SEED", &seed), only]);
    assert_eq!(diagnosis(&again, "wrong").called, wrong.called);
    let (other, _) = graded(&[("ENGINE_ROOM_SEED", "7"), only]);
    assert_eq!(diagnosis(&other, "wrong").seed, Some(7));
    assert_ne!(diagnosis(&other, "wrong").called, wrong.called);
    let (refused, _) = graded(&[("ENGINE_ROOM_SEED", "seven"), only]);
    assert_eq!(diagnosis(&refused, "wrong").key, "grader");
}

fn one_exercise_can_be_asked_for() {
    let (report, output) = graded(&[("--exact", "99.2 passes")]);
    assert_eq!(report.verdicts().count(), 1);
    assert!(output.status.success());
}
