//! The grader of one lab: a test program whose tests are the lab's exercises.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use libtest_mimic::{Arguments, Failed, Trial};

use crate::check::Exercise;
use crate::child::{self, Request};
use crate::model::{Facts, Lab, root};
use crate::printing::{print, run_trials};
use crate::progress;
use crate::report::{LabReport, Report, Verdict};
use crate::{isolate, state};

/// The verdicts so far, by the exercise's id.
type Verdicts = Arc<Mutex<BTreeMap<String, Verdict>>>;

/// Where the driver wants the report; set by the driver only.
pub(crate) const REPORT: &str = "ENGINE_ROOM_REPORT";

/// Grades the lab in `folder`: the main function of `tests/lab-NN-slug.rs`.
///
/// `source` is the text of the learner's `exercise.rs` that `implementation` was compiled from.
/// Accepts the arguments of any Rust test: a filter, `--list`, `--exact`, `--nocapture`.
pub fn grade<I: Copy + Send + 'static>(
    folder: impl AsRef<Path>,
    source: &str,
    checks: &[Exercise<I>],
    implementation: I,
) -> ExitCode {
    if let Some(request) = Request::from_args() {
        child::run(&request, checks, implementation);
    }
    let ids: Vec<&str> = checks.iter().map(|exercise| exercise.id).collect();
    graded(folder.as_ref(), source, &ids).unwrap_or_else(|problem| {
        eprintln!("The lab cannot be graded: {problem}");
        ExitCode::from(2)
    })
}

fn graded(folder: &Path, source: &str, checks: &[&str]) -> Result<ExitCode, String> {
    let lab = Arc::new(load(folder, checks)?);
    let stub = folder.join("stub.rs");
    let stub = std::fs::read_to_string(&stub)
        .map_err(|error| format!("{} cannot be read: {error}", stub.display()))?;
    let args = Arguments::from_args();
    let verdicts = Verdicts::default();
    let mut trials = Vec::new();
    for facts in &lab.exercises {
        let untouched = state::is_not_started(facts, source, &stub);
        if untouched && wanted(&args, &facts.name()) {
            note(&verdicts, Verdict::not_started(facts));
        }
        let trial = trial(&lab, facts, &verdicts, args.nocapture);
        trials.push(trial.with_ignored_flag(untouched));
    }
    let conclusion = run_trials(&args, trials);
    if !args.list {
        publish(&lab, &verdicts)?;
    }
    Ok(conclusion.map_or(ExitCode::FAILURE, |conclusion| conclusion.exit_code()))
}

/// The lab, if its exercises are those that have a check.
pub(crate) fn load(folder: &Path, checks: &[&str]) -> Result<Lab, String> {
    let lab = Lab::load(folder)?;
    let described: Vec<&str> = lab.exercises.iter().map(|facts| facts.id.as_str()).collect();
    if described != checks {
        return Err(format!("lab.toml describes {described:?}, and checks.rs checks {checks:?}"));
    }
    Ok(lab)
}

/// One exercise as a test.
fn trial(lab: &Arc<Lab>, facts: &Facts, verdicts: &Verdicts, loud: bool) -> Trial {
    let (lab, verdicts, id) = (Arc::clone(lab), Arc::clone(verdicts), facts.id.clone());
    Trial::test(facts.name(), move || {
        let facts = lab.exercise(&id).ok_or("the lab has no such exercise")?;
        let limit = Duration::from_secs(facts.time_limit.into());
        let outcome = isolate::run(&id, 0, limit);
        if loud && !outcome.output.is_empty() {
            print(&format!("{id} printed:\n{}\n", outcome.output));
        }
        let verdict = Verdict::from_check(&lab, facts, outcome.diagnosis_with_output());
        let failed =
            verdict.diagnosis.as_ref().map(|diagnosis| Failed::from(diagnosis.to_string()));
        note(&verdicts, verdict);
        failed.map_or(Ok(()), Err)
    })
}

fn note(verdicts: &Verdicts, verdict: Verdict) {
    let mut verdicts = verdicts.lock().unwrap_or_else(PoisonError::into_inner);
    verdicts.insert(verdict.id.clone(), verdict);
}

/// Whether a test of this name is asked for, as libtest understands filters.
pub(crate) fn wanted(args: &Arguments, name: &str) -> bool {
    let fits = |filter: &String| if args.exact { name == filter } else { name.contains(filter) };
    args.filter.iter().all(fits) && !args.skip.iter().any(fits)
}

/// Hands the report to the driver, or remembers it if a learner runs this grader directly.
fn publish(lab: &Lab, verdicts: &Verdicts) -> Result<(), String> {
    let verdicts = verdicts.lock().unwrap_or_else(PoisonError::into_inner);
    let exercises = lab.exercises.iter().filter_map(|facts| verdicts.get(&facts.id).cloned());
    let report =
        Report::new(vec![LabReport { id: lab.id.clone(), exercises: exercises.collect() }]);
    match std::env::var_os(REPORT) {
        Some(path) => {
            let json = serde_json::to_string(&report).map_err(|error| error.to_string())?;
            std::fs::write(path, json).map_err(|error| format!("no report was written: {error}"))
        }
        None => {
            progress::remember(&root(), &report);
            Ok(())
        }
    }
}
