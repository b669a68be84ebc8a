//! Grades all labs: builds every grader, runs it, and shows one table and one last line.
//!
//! A grader that does not compile costs its broken exercises (see [`salvage`]) and no other.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use libtest_mimic::Arguments;

use crate::build::{self, Built};
use crate::diagnosis::{Diagnosis, ascii, key};
use crate::grade::{REPORT, wanted};
use crate::isolate::verdict_file;
use crate::model::{Facts, Lab, root};
use crate::printing::print;
use crate::report::{LabReport, Report, State, Verdict};
use crate::{progress, salvage};

/// The main function of `tests/labs.rs`: takes libtest's arguments, ends in one line.
pub fn main() -> ExitCode {
    let args = Arguments::from_args();
    let graded = Lab::all(&root()).and_then(|labs| {
        if args.list {
            list(&labs, &args);
            return Ok(true);
        }
        let report = grade_labs(&root(), &labs, &args)?;
        if report.verdicts().next().is_none() && (args.filter.is_some() || !args.skip.is_empty()) {
            print("no exercise fits the filter; none was graded\n");
            return Ok(true);
        }
        print(&render(&labs, &report, false));
        Ok(report.failures(false) == 0)
    });
    match graded {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            print(&format!("The labs could not be graded.\n{}\n", ascii(&problem)));
            ExitCode::FAILURE
        }
    }
}

/// Grades all labs under `root`, or what `only` names: a lab (`03`, `03-autograd`) or an exercise
/// (`3.1`). An error says why nothing could be graded.
pub fn grade_all(root: &Path, only: Option<&str>) -> Result<Report, String> {
    let mut labs = Lab::all(root)?;
    let mut args = Arguments::default();
    if let Some(only) = only {
        labs.retain(|lab| {
            [&lab.id, &lab.slug, &lab.target()].contains(&&only.to_owned())
                || lab.exercise(only).is_some()
        });
        args.exact = true;
        args.filter = labs.iter().find_map(|lab| lab.exercise(only)).map(Facts::name);
        if labs.is_empty() {
            return Err(format!(
                "There is no lab and no exercise {only:?}; `course list` names them."
            ));
        }
    }
    grade_labs(root, &labs, &args)
}

fn list(labs: &[Lab], args: &Arguments) {
    for facts in labs.iter().flat_map(|lab| &lab.exercises) {
        if wanted(args, &facts.name()) {
            print(&format!("{}: test\n", facts.name()));
        }
    }
}

fn grade_labs(root: &Path, labs: &[Lab], args: &Arguments) -> Result<Report, String> {
    if labs.is_empty() {
        return Err("No lab was found: there is no labs/lab-NN-slug/lab.toml.".to_owned());
    }
    let any = |lab: &&Lab| lab.exercises.iter().any(|facts| wanted(args, &facts.name()));
    let labs: Vec<&Lab> = labs.iter().filter(any).collect();
    if labs.is_empty() {
        return Ok(Report::default());
    }
    let targets: Vec<String> = labs.iter().map(|lab| lab.target()).collect();
    for target in &targets {
        let file = root.join("tests").join(format!("{target}.rs"));
        if !file.is_file() {
            return Err(format!("{target} has no grader: tests/{target}.rs is missing."));
        }
    }
    let built = build::graders(root, &targets)?;
    let reports = labs.iter().map(|lab| grade_lab(root, lab, &built, args));
    let report = Report::new(reports.collect::<Result<_, _>>()?);
    progress::remember(root, &report);
    Ok(report)
}

fn grade_lab(root: &Path, lab: &Lab, built: &Built, args: &Arguments) -> Result<LabReport, String> {
    if let Some(executable) = built.executables.get(&lab.target()) {
        return run(root, lab, executable, args);
    }
    let Some(errors) = built.errors.get(&lab.target()) else {
        let errors: Vec<_> = built.errors.values().flatten().cloned().collect();
        return Err(format!("{}\n{}", build::not_the_learners(&errors), built.log.trim_end()));
    };
    let salvage = salvage::salvage(root, lab, errors)?;
    let mut report = match &salvage.executable {
        Some(executable) => run(root, lab, executable, args)?,
        None => {
            let wanted = lab.exercises.iter().filter(|facts| wanted(args, &facts.name()));
            let exercises = wanted.map(Verdict::not_started).collect();
            LabReport { id: lab.id.clone(), exercises }
        }
    };
    for verdict in &mut report.exercises {
        if let (Some(diagnosis), Some(facts)) =
            (salvage.broken.get(&verdict.id), lab.exercise(&verdict.id))
        {
            *verdict = Verdict::from_check(lab, facts, Some(diagnosis.clone()));
        }
    }
    Ok(report)
}

/// Runs a grader and reads its report; a grader that reports nothing is a failure, in words.
fn run(root: &Path, lab: &Lab, executable: &Path, args: &Arguments) -> Result<LabReport, String> {
    let path = verdict_file()?;
    let mut command = Command::new(executable);
    command.current_dir(root.join("tests")).env(REPORT, &path).stdin(Stdio::null());
    command.args(&args.filter);
    command.args(args.skip.iter().flat_map(|skip| ["--skip", skip]));
    command.args(args.exact.then_some("--exact"));
    let output = command.output();
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    // A file that cannot be removed is left to the system's cleaning of temporary files.
    let _ = std::fs::remove_file(&path);
    let output = output.map_err(|error| format!("{} cannot be run: {error}", lab.target()))?;
    let report: Option<Report> = serde_json::from_str(&text).ok();
    match report.and_then(|report| report.labs.into_iter().next()) {
        Some(report) if !report.exercises.is_empty() => Ok(report),
        _ => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(format!("The grader {} graded no exercise.\n{}", lab.target(), said.trim_end()))
        }
    }
}

/// The table, the diagnoses and the last line, as plain ASCII.
pub fn render(labs: &[Lab], report: &Report, is_final: bool) -> String {
    let mut out = format!("\n{:<44}{:<13}{:>8}{:>9}\n", "exercise", "state", "points", "minutes");
    let mut diagnoses = String::new();
    for of_lab in &report.labs {
        let Some(lab) = labs.iter().find(|lab| lab.id == of_lab.id) else { continue };
        out += &format!("lab {} {}\n", lab.id, ascii(&lab.title));
        for verdict in &of_lab.exercises {
            let Some(facts) = lab.exercise(&verdict.id) else { continue };
            out += &row(facts, verdict);
            if let Some(diagnosis) = &verdict.diagnosis {
                let text = failure(facts, verdict, diagnosis);
                diagnoses += &without_repetition(text, &diagnosis.output, &diagnoses);
            }
        }
    }
    out += &format!("{:<57}{:>8}\n", "", format!("{}/{}", report.points, report.max_points));
    format!("{out}{diagnoses}\n{}\n", report.last_line(is_final))
}

fn row(facts: &Facts, verdict: &Verdict) -> String {
    let name = ascii(&facts.name());
    let state = verdict.state.words();
    let points = format!("{}/{}", verdict.points, verdict.max_points);
    format!("  {name:<42}{state:<13}{points:>8}{:>9}\n", facts.minutes.typical())
}

/// A compiler message that stands above already is not shown again.
fn without_repetition(text: String, output: &str, above: &str) -> String {
    let first = output.lines().find(|line| line.contains("-->"));
    match (text.find("The compiler says:"), first) {
        (Some(at), Some(place)) if above.contains(&ascii(place)) => {
            format!("{}The compiler says the same as above.\n", &text[..at])
        }
        _ => text,
    }
}

fn failure(facts: &Facts, verdict: &Verdict, diagnosis: &Diagnosis) -> String {
    let state = match (verdict.state, diagnosis.key.as_str()) {
        (State::Unfinished, _) => "unfinished",
        (_, key::COMPILE_ERROR) => "does not compile",
        _ => "failed",
    };
    format!("\n{}: {state}\n{diagnosis}", ascii(&facts.name()))
}
