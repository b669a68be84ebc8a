//! When the learner's file does not compile: the broken exercises fail, the others keep their
//! verdicts.
//!
//! The compiler's errors are laid at the exercises whose functions hold them. A copy of the file,
//! in which those functions are the stub's again, is then graded. It is called `.salvaged.rs`, lies
//! beside the learner's file, and has the same line numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use proc_macro2::TokenStream;

use crate::build;
pub use crate::build::{CompileError, Place};
use crate::diagnosis::{Diagnosis, key};
use crate::model::Lab;
use crate::source::{function_lines, is_closed};

/// The name of the copy that is graded.
pub const FILE: &str = ".salvaged.rs";

/// What could be saved of a lab that does not compile.
pub(crate) struct Salvage {
    /// The grader on the copy; none if the copy does not compile either.
    pub(crate) executable: Option<PathBuf>,
    /// Why each broken exercise failed, by exercise id.
    pub(crate) broken: BTreeMap<String, Diagnosis>,
}

/// Puts the stub's functions in place of broken ones until the grader compiles.
pub(crate) fn salvage(root: &Path, lab: &Lab, errors: &[CompileError]) -> Result<Salvage, String> {
    let copy = lab.folder.join(FILE);
    let salvage = salvage_into(&copy, root, lab, errors.to_vec());
    // There may be no copy yet; one that stays does no harm and is ignored by git.
    let _ = std::fs::remove_file(copy);
    salvage
}

fn salvage_into(
    copy: &Path,
    root: &Path,
    lab: &Lab,
    mut errors: Vec<CompileError>,
) -> Result<Salvage, String> {
    let read = |name: &str| {
        let path = lab.folder.join(name);
        std::fs::read_to_string(&path)
            .map_err(|error| format!("{} cannot be read: {error}", path.display()))
    };
    let (mut text, stub) = (read("exercise.rs")?, read("stub.rs")?);
    let functions: Vec<&str> =
        lab.exercises.iter().flat_map(|facts| &facts.functions).map(String::as_str).collect();
    let mut broken = BTreeMap::new();
    // Each round replaces at least one function, so there are at most so many.
    for _ in &functions {
        let Some(blamed) = blame(&errors, &text, &functions) else { break };
        for (name, said) in &blamed {
            text = replaced(&text, &stub, name)?;
            for facts in lab.exercises.iter().filter(|facts| facts.functions.contains(name)) {
                broken.entry(facts.id.clone()).or_insert_with(|| diagnosis(said));
            }
        }
        std::fs::write(copy, &text)
            .map_err(|error| format!("{} cannot be written: {error}", copy.display()))?;
        let mut built = build::salvaged(root, &lab.target())?;
        if let Some(executable) = built.executables.remove(&lab.target()) {
            return Ok(Salvage { executable: Some(executable), broken });
        }
        errors = built.errors.remove(&lab.target()).unwrap_or_default();
    }
    if !errors.iter().flat_map(|error| &error.places).any(|place| is_learners(&place.file)) {
        return Err(build::not_the_learners(&errors));
    }
    let said: String = errors.iter().map(|error| format!("{}\n", error.rendered)).collect();
    let all = lab.exercises.iter().map(|facts| (facts.id.clone(), diagnosis(&said)));
    Ok(Salvage { executable: None, broken: all.collect() })
}

/// What the compiler says about each function; none if an error is about something else.
pub fn blame(
    errors: &[CompileError],
    text: &str,
    functions: &[&str],
) -> Option<BTreeMap<String, String>> {
    let open = open_functions(text, functions);
    let mut blamed: BTreeMap<String, String> = BTreeMap::new();
    for error in errors {
        let guilty = if open.is_empty() { guilty(error, text, functions) } else { open.clone() };
        if guilty.is_empty() {
            return None;
        }
        for name in guilty {
            let said = blamed.entry(name.to_owned()).or_default();
            *said += &format!("{}\n\n", error.rendered.trim_end());
        }
    }
    if blamed.is_empty() { None } else { Some(blamed) }
}

/// The functions in which a bracket or a quote stays open. It confuses the compiler's idea of where
/// things are, so it is looked for here.
fn open_functions<'a>(text: &str, functions: &[&'a str]) -> BTreeSet<&'a str> {
    let lines: Vec<&str> = text.lines().collect();
    let is_open = |name: &&&str| {
        let region = function_lines(text, name);
        region.is_some_and(|region| !is_closed(&lines[region].join("\n")))
    };
    functions.iter().filter(is_open).copied().collect()
}

/// The functions that hold the error, or that the grader names where the error is: a changed
/// signature or a missing function shows there.
fn guilty<'a>(error: &CompileError, text: &str, functions: &[&'a str]) -> BTreeSet<&'a str> {
    let is_guilty = |name: &&&str| {
        error.places.iter().any(|place| {
            if is_learners(&place.file) {
                function_lines(text, name).is_some_and(|region| region.contains(&(place.line - 1)))
            } else {
                mentions(&place.text, name)
            }
        })
    };
    functions.iter().filter(is_guilty).copied().collect()
}

fn is_learners(file: &str) -> bool {
    file.ends_with("exercise.rs") || file.ends_with(FILE)
}

/// Whether `name` occurs in `text` as a whole word.
fn mentions(text: &str, name: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
}

/// `text` with the stub's function of that name, on one line, so that no line number changes.
pub fn replaced(text: &str, stub: &str, name: &str) -> Result<String, String> {
    let missing = || format!("stub.rs has no function {name}");
    let region = function_lines(stub, name).ok_or_else(missing)?;
    let lines: Vec<&str> = stub.lines().collect();
    let tokens = TokenStream::from_str(&lines[region].join("\n")).map_err(|_| missing())?;
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    match function_lines(text, name) {
        Some(region) => {
            lines[region.clone()].fill(String::new());
            lines[region.start] = tokens.to_string();
        }
        None => lines.push(tokens.to_string()),
    }
    Ok(lines.join("\n") + "\n")
}

fn diagnosis(said: &str) -> Diagnosis {
    let output = said.trim_end().replace(FILE, "exercise.rs").replace("tests/../labs", "labs");
    let diagnosis = Diagnosis::new(key::COMPILE_ERROR).got("exercise.rs does not compile");
    Diagnosis { output, ..diagnosis.expected("code that the compiler accepts") }
}
