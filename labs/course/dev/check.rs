//! `course dev check`: a lab's facts are complete, its stub is the stripped solution and unsolved.

mod shipped;

use clap::Args;
use engine_room_labs::capture::show;
use engine_room_labs::print;
use grading::model::anchor;
use grading::{Facts, Kind, Lab, root, state};

use crate::dev::strip::stripped;
use crate::{Outcome, edit, find};

/// Arguments of `course dev check`.
#[derive(Args)]
pub struct CheckArgs {
    /// Labs (03); all without one
    labs: Vec<String>,
    /// Check exercise.rs as it is handed out, too: it is the stub, and it solves nothing
    #[arg(long)]
    shipped: bool,
}

/// Prints every problem, and what was checked.
pub fn run(args: &CheckArgs) -> Outcome {
    let labs = find::labs_named(&args.labs)?;
    let mut good = true;
    for lab in &labs {
        let mut problems = problems(lab)?;
        if args.shipped && problems.is_empty() {
            problems = shipped::problems(lab)?;
        }
        good &= problems.is_empty();
        let (count, predictions) = (lab.exercises.len(), lab.predictions.len());
        print(&match problems.is_empty() {
            true => format!("lab {}: {count} exercises, {predictions} predictions, good\n", lab.id),
            false => problems.iter().map(|p| format!("lab {}: {p}\n", lab.id)).collect(),
        });
    }
    Ok(good)
}

fn problems(lab: &Lab) -> Result<Vec<String>, String> {
    let anchors = anchors(lab)?;
    let stub = edit::read(&lab.folder.join("stub.rs"))?;
    let mut problems = Vec::new();
    for facts in &lab.exercises {
        let found = incomplete(facts).into_iter().chain(without_stub(facts, &stub));
        problems.extend(found.map(|problem| format!("exercise {}: {problem}", facts.id)));
        if !anchors.contains(&facts.section) {
            let section = &facts.section;
            problems.push(format!("exercise {}: its chapter has no '{section}'", facts.id));
        }
    }
    for prediction in &lab.predictions {
        let texts = [&prediction.question, &prediction.unit, &prediction.experiment];
        if !is_id(&prediction.id, |c| c.is_ascii_lowercase()) || texts.iter().any(|t| t.is_empty())
        {
            let want = "its id is not like 3.a, or question, unit or experiment is empty";
            problems.push(format!("prediction {}: {want}", prediction.id));
        }
        if texts.iter().any(|text| !text.is_ascii()) {
            problems.push(format!("prediction {}: it is not plain ASCII", prediction.id));
        }
    }
    problems.extend(drifted(lab, &stub)?);
    Ok(problems)
}

/// What the facts lack.
fn incomplete(facts: &Facts) -> Vec<String> {
    let mut problems = Vec::new();
    if !is_id(&facts.id, |c| c.is_ascii_digit()) {
        problems.push("its id is not of the form N.M".to_string());
    }
    if facts.minutes.estimate == 0 || facts.points == 0 {
        problems.push("it needs minutes and points above 0".to_string());
    }
    if facts.statement.trim().is_empty() || facts.title.trim().is_empty() {
        problems.push("it needs a title and a statement".to_string());
    }
    if facts.hints.len() != 3 {
        problems.push(format!("it has {} hints, not 3", facts.hints.len()));
    }
    for (i, hint) in facts.hints.iter().enumerate() {
        let words = hint.split_whitespace().count();
        if !(25..=70).contains(&words) {
            problems.push(format!("hint {} has {words} words, not 25 to 70", i + 1));
        }
    }
    let printed = facts.hints.iter().chain([&facts.title, &facts.section]);
    if printed.into_iter().any(|text| !text.is_ascii()) {
        problems.push("title and hints are printed on terminals: plain ASCII only".to_string());
    }
    problems
}

/// Whether `id` is a number, a dot and characters of one kind.
fn is_id(id: &str, kind: fn(char) -> bool) -> bool {
    let all = |text: &str, kind: fn(char) -> bool| !text.is_empty() && text.chars().all(kind);
    id.split_once('.').is_some_and(|(n, m)| all(n, |c| c.is_ascii_digit()) && all(m, kind))
}

/// Functions that the stub lacks, and an exercise that it does not hand out.
fn without_stub(facts: &Facts, stub: &str) -> Vec<String> {
    // A stub compared with itself is "not started" exactly if it has all the functions.
    let missing = facts.functions.iter().filter(|name| !same_function(facts, name, stub, stub));
    let mut problems: Vec<String> =
        missing.map(|name| format!("stub.rs has no function {name}")).collect();
    let call = format!("exercise!(\"{}\")", facts.id);
    if facts.kind != Kind::Debug && !stub.contains(&call) {
        problems.push(format!("stub.rs has no {call}"));
    }
    problems
}

fn same_function(facts: &Facts, name: &str, source: &str, stub: &str) -> bool {
    let one = Facts { functions: vec![name.to_string()], ..facts.clone() };
    state::is_not_started(&one, source, stub)
}

/// Where the stub is not what the solution makes, or is the solution.
fn drifted(lab: &Lab, stub: &str) -> Result<Vec<String>, String> {
    let Some(made) = stripped(lab)? else { return Ok(Vec::new()) };
    let solution = edit::read(&lab.folder.join("solution.rs"))?;
    let mut problems = Vec::new();
    if made != *stub {
        let todo = format!("cargo run --bin course -- dev strip {}", lab.id);
        problems.push(format!("stub.rs is not what solution.rs makes: {todo}"));
    }
    for facts in &lab.exercises {
        let solved = facts.functions.iter().filter(|n| same_function(facts, n, &solution, stub));
        let solved = solved.map(|n| format!("exercise {}: stub.rs holds the solved {n}", facts.id));
        problems.extend(solved);
    }
    Ok(problems)
}

/// The anchors of the chapter's headings, as mdBook makes them.
fn anchors(lab: &Lab) -> Result<Vec<String>, String> {
    let chapter = root().join("book/src").join(&lab.slug).join("index.md");
    if !chapter.is_file() {
        return Err(format!("{} is missing", show(&chapter)));
    }
    let text = edit::read(&chapter)?;
    let headings = text.lines().filter(|line| line.starts_with('#'));
    Ok(headings.map(|line| anchor(line.trim_start_matches('#').trim())).collect())
}
