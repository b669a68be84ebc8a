//! Proves the graders: the checks accept every right answer and reject every typical wrong one,
//! with the diagnosis that names its misconception.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use libtest_mimic::{Arguments, Failed, Trial};

use crate::check::{Alternative, Exercise, Mistake};
use crate::child::{self, Request};
use crate::diagnosis::Diagnosis;
use crate::model::Lab;
use crate::{grade, isolate};

/// How many other right answers and how many wrong ones each exercise needs.
const ALTERNATIVES: usize = 2;
const MISTAKES: usize = 3;

/// The limit of a mistake, which may be one that never ends; shorter, so that proofs stay quick.
const MISTAKE_LIMIT: Duration = Duration::from_secs(4);

/// An implementation under proof: what it is, and what must come.
struct Subject<I> {
    exercise: &'static str,
    name: String,
    expected: Expected,
    implementation: I,
}

#[derive(Clone, Copy)]
enum Expected {
    /// Passes, within a twentieth of the exercise's time limit.
    PassQuickly,
    Pass,
    /// Fails, with this key.
    Diagnosis(&'static str),
}

/// Proves the checks of the lab in `folder`: the main function of `tests/proof-NN-slug.rs`.
///
/// Every subject runs in a child, since a mistake may hang or overflow the stack.
pub fn prove<I: Copy + Send + 'static>(
    folder: impl AsRef<Path>,
    checks: &[Exercise<I>],
    solution: I,
    alternatives: Vec<Alternative<I>>,
    mistakes: Vec<Mistake<I>>,
) -> ExitCode {
    let counts = (checks.len(), alternatives.len(), mistakes.len());
    let subjects = subjects(checks, solution, alternatives, mistakes);
    if let Some(request) = Request::from_args() {
        let subject = subjects.get(request.subject);
        let implementation = subject.map_or(solution, |subject| subject.implementation);
        child::run(&request, checks, implementation);
    }
    match proved(folder.as_ref(), checks, &subjects) {
        Ok(conclusion) => {
            let (solutions, alternatives, mistakes) = counts;
            println!("{solutions} solutions, {alternatives} alternatives, {mistakes} mistakes");
            conclusion.exit_code()
        }
        Err(problem) => {
            eprintln!("The lab cannot be proved: {problem}");
            ExitCode::from(2)
        }
    }
}

/// All subjects in one list; parent and child count it alike.
fn subjects<I: Copy>(
    checks: &[Exercise<I>],
    solution: I,
    alternatives: Vec<Alternative<I>>,
    mistakes: Vec<Mistake<I>>,
) -> Vec<Subject<I>> {
    let solutions = checks.iter().map(|check| Subject {
        exercise: check.id,
        name: format!("{} solution", check.id),
        expected: Expected::PassQuickly,
        implementation: solution,
    });
    let alternatives = alternatives.into_iter().map(|other| Subject {
        exercise: other.exercise,
        name: format!("{} alternative: {}", other.exercise, other.name),
        expected: Expected::Pass,
        implementation: other.implementation,
    });
    let mistakes = mistakes.into_iter().map(|wrong| Subject {
        exercise: wrong.exercise,
        name: format!("{} mistake: {}", wrong.exercise, wrong.name),
        expected: Expected::Diagnosis(wrong.diagnosis),
        implementation: wrong.implementation,
    });
    solutions.chain(alternatives).chain(mistakes).collect()
}

fn proved<I>(
    folder: &Path,
    checks: &[Exercise<I>],
    subjects: &[Subject<I>],
) -> Result<libtest_mimic::Conclusion, String> {
    let ids: Vec<&'static str> = checks.iter().map(|exercise| exercise.id).collect();
    let lab = grade::load(folder, &ids)?;
    let mut trials = Vec::new();
    for (index, subject) in subjects.iter().enumerate() {
        trials.push(trial(&lab, index, subject)?);
    }
    for id in ids {
        let problem = enough(id, subjects);
        let name = format!("{id} has alternatives and mistakes, each with its own diagnosis");
        trials.push(Trial::test(name, move || problem.map_err(Failed::from)));
    }
    Ok(libtest_mimic::run(&Arguments::from_args(), trials))
}

/// One subject as a test.
fn trial<I>(lab: &Lab, index: usize, subject: &Subject<I>) -> Result<Trial, String> {
    let (id, expected) = (subject.exercise, subject.expected);
    let facts = lab.exercise(id);
    let facts = facts.ok_or_else(|| format!("{}: there is no exercise {id}", subject.name))?;
    let limit = Duration::from_secs(facts.time_limit.into());
    Ok(Trial::test(subject.name.clone(), move || {
        let mistake = matches!(expected, Expected::Diagnosis(_));
        let outcome = isolate::run(id, index, if mistake { MISTAKE_LIMIT } else { limit });
        let quick = outcome.took * 20 <= limit;
        let took = outcome.took;
        match (expected, outcome.diagnosis_with_output()) {
            (Expected::PassQuickly, None) if !quick => {
                Err(format!("it took {took:?}, more than a twentieth of the limit {limit:?}")
                    .into())
            }
            (Expected::Pass | Expected::PassQuickly, None) => Ok(()),
            (Expected::Pass | Expected::PassQuickly, Some(diagnosis)) => {
                Err(format!("a right answer was rejected [{}]\n{diagnosis}", diagnosis.key).into())
            }
            (Expected::Diagnosis(key), None) => {
                Err(format!("a wrong answer was accepted; expected [{key}]").into())
            }
            (Expected::Diagnosis(key), Some(diagnosis)) => right_key(key, &diagnosis),
        }
    }))
}

fn right_key(key: &str, diagnosis: &Diagnosis) -> Result<(), Failed> {
    if diagnosis.key == key {
        return Ok(());
    }
    Err(format!("expected [{key}], the diagnosis is [{}]\n{diagnosis}", diagnosis.key).into())
}

/// Whether an exercise has enough subjects, and no two mistakes share a diagnosis.
fn enough<I>(id: &str, subjects: &[Subject<I>]) -> Result<(), String> {
    let of_exercise = || subjects.iter().filter(|subject| subject.exercise == id);
    let alternatives = of_exercise().filter(|s| matches!(s.expected, Expected::Pass)).count();
    let mut mistakes = 0;
    let mut keys = BTreeSet::new();
    for subject in of_exercise() {
        if let Expected::Diagnosis(key) = subject.expected {
            mistakes += 1;
            if !keys.insert(key) {
                return Err(format!("two mistakes have the diagnosis {key:?}"));
            }
        }
    }
    if alternatives < ALTERNATIVES || mistakes < MISTAKES {
        return Err(format!(
            "{alternatives} alternatives and {mistakes} mistakes; \
             at least {ALTERNATIVES} and {MISTAKES} are needed"
        ));
    }
    Ok(())
}
