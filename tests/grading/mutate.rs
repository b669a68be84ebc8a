//! The mutation score of a lab: of all small changes of its solution, how many the checks notice.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::check::Exercise;
use crate::child::{self, Request};
use crate::isolate;

/// The score below which a lab's checks are not good enough, in percent.
const ENOUGH: usize = 95;
/// The limit of a mutant: so many times the solution's time, and at least this long.
const TIMES: u32 = 20;
const AT_LEAST: Duration = Duration::from_secs(1);

/// One small change of a solution.
#[derive(Debug, Clone, Copy)]
pub struct Mutant {
    /// The exercise whose function is changed.
    pub exercise: &'static str,
    /// The line in `solution.rs`.
    pub line: usize,
    /// What becomes what.
    pub change: &'static str,
}

/// The mutants of a solution.
pub struct Mutants {
    /// All of them; their numbers begin with 1.
    pub all: &'static [Mutant],
    /// Chooses the one that runs; 0 is the solution.
    pub activate: fn(u32),
    /// Mutants that need not be noticed: `exercise | equivalent | change | reason` a line.
    pub exceptions: &'static str,
}

/// Runs every mutant against the check of its exercise, prints the score and every survivor, and
/// fails below 95%: the main function of `tests/mutation/mutation-NN-slug.rs`.
pub fn mutate<I: Copy + Send + 'static>(
    checks: &[Exercise<I>],
    implementation: I,
    mutants: &Mutants,
) -> ExitCode {
    if let Some(request) = Request::from_args() {
        (mutants.activate)(u32::try_from(request.subject).unwrap_or_default());
        child::run(&request, checks, implementation);
    }
    match score(checks.iter().map(|exercise| exercise.id), mutants) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("The lab cannot be mutated: {problem}");
            ExitCode::from(2)
        }
    }
}

fn score(ids: impl Iterator<Item = &'static str>, mutants: &Mutants) -> Result<bool, String> {
    let mut limits = BTreeMap::new();
    for id in ids {
        let outcome = isolate::run(id, 0, AT_LEAST * TIMES);
        if let Some(diagnosis) = outcome.diagnosis {
            return Err(format!("the solution of {id} does not pass\n{diagnosis}"));
        }
        limits.insert(id, AT_LEAST.max(outcome.took * TIMES));
    }
    let survivors = survivors(mutants.all, &limits)?;
    let excepted = |mutant: &Mutant| mutants.exceptions.lines().any(|line| excepts(line, mutant));
    let (known, unknown): (Vec<&Mutant>, Vec<&Mutant>) =
        survivors.into_iter().partition(|mutant| excepted(mutant));
    for Mutant { exercise, line, change } in &unknown {
        println!("survived: {exercise}, solution.rs line {line}: {change}");
    }
    let stale = stale(mutants.exceptions, &known);
    stale.iter().for_each(|line| println!("no longer survives: {line}"));
    let counted = mutants.all.len() - known.len();
    let noticed = counted - unknown.len();
    let percent = 100.0 * noticed as f64 / counted.max(1) as f64;
    println!(
        "{noticed} of {counted} mutants noticed ({percent:.1}%, at least {ENOUGH}% is needed); \
         {} more need not be: tests/mutation/exceptions",
        known.len()
    );
    Ok(counted > 0 && noticed * 100 >= ENOUGH * counted && stale.is_empty())
}

/// The mutants that the checks accept, by number.
fn survivors<'a>(
    all: &'a [Mutant],
    limits: &BTreeMap<&str, Duration>,
) -> Result<Vec<&'a Mutant>, String> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let work = || {
        while let Some(mutant) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            let limit = limits.get(mutant.exercise).copied().unwrap_or(AT_LEAST);
            let number = 1 + all.iter().position(|other| std::ptr::eq(other, mutant)).unwrap_or(0);
            if isolate::run(mutant.exercise, number, limit).diagnosis.is_none()
                && let Ok(mut found) = found.lock()
            {
                found.insert(number, mutant);
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
    let found = found.into_inner().map_err(|_| "a worker panicked".to_owned())?;
    Ok(found.into_values().collect())
}

/// Whether this line of the exceptions is about the mutant.
fn excepts(line: &str, mutant: &Mutant) -> bool {
    let fields: Vec<&str> = line.split(" | ").collect();
    matches!(fields[..], [id, "equivalent", change, reason]
        if id == mutant.exercise && change == mutant.change && !reason.trim().is_empty())
}

/// Exceptions that no survivor needs any more.
fn stale<'a>(exceptions: &'a str, known: &[&Mutant]) -> Vec<&'a str> {
    let is_exception = |line: &&str| line.contains(" | equivalent | ") && !line.starts_with('#');
    let unused = |line: &&str| !known.iter().any(|mutant| excepts(line, mutant));
    exceptions.lines().filter(is_exception).filter(unused).collect()
}
