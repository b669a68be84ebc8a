//! Output of lab programs that the book shows: run, kept beside the chapter, and checked.
//!
//! A chapter's `output/NAME.toml` says what is run. *Exact* output (counters, shapes) must come out
//! again byte for byte on every system. *Measured* output carries its machine and date; what is
//! checked is that the committed numbers fulfil the relations that the text states, and that a
//! fresh run has the same rows and units.

use std::path::{Path, PathBuf};
use std::process::Command;

use grading::progress::today;
use serde::Deserialize;
use serde_json::Value;

use self::compare::{difference, first_other_shape, holds, set};
use crate::machine::Machine;

mod compare;

/// What a `NAME.toml` says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// A program of the labs package and its arguments.
    pub command: Vec<String>,
    /// Whether it must come out the same everywhere.
    pub kind: Kind,
    /// Keep the JSON document, too.
    #[serde(default)]
    pub json: bool,
    /// Keep the figure, too.
    #[serde(default)]
    pub plot: bool,
    /// The figure in words, for those who cannot see it.
    pub alt: Option<String>,
    /// What stands under the output or the figure.
    pub caption: Option<String>,
    /// What some line of the text must hold: literal text, in which `.*` stands for anything.
    #[serde(default)]
    pub rows: Vec<String>,
    /// What the text of the chapter claims about the numbers.
    #[serde(default)]
    pub relations: Vec<Relation>,
    /// The machine of a measured output; only a capture writes it.
    pub machine: Option<String>,
    /// The day of a measured output; only a capture writes it.
    pub date: Option<String>,
}

/// Whether output is the same everywhere.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Integers, shapes, counters: compared byte for byte.
    Exact,
    /// Times and the like: their relation is checked.
    Measured,
}

/// `left >= at_least * right`, both found in the JSON document by pointer: `/rows/0/seconds`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Relation {
    /// Pointer to the larger value.
    pub left: String,
    /// Pointer to the smaller value.
    pub right: String,
    /// How many times.
    pub at_least: f64,
}

/// One captured output: a description and the files beside it.
#[derive(Clone, Debug)]
pub struct Capture {
    /// The path of `NAME.toml`.
    pub file: PathBuf,
    /// What it says.
    pub description: Description,
}

/// What a run left behind.
struct Run {
    text: String,
    json: Option<String>,
    svg: Option<String>,
}

/// All captured outputs of the book, by chapter and name.
///
/// # Errors
/// If a description cannot be read, or a file in an `output` folder has no description.
pub fn all(root: &Path) -> Result<Vec<Capture>, String> {
    let mut files = Vec::new();
    for chapter in entries(&root.join("book/src")) {
        files.extend(entries(&chapter.join("output")));
    }
    let (described, rest): (Vec<PathBuf>, Vec<PathBuf>) =
        files.into_iter().partition(|f| f.extension().is_some_and(|e| e == "toml"));
    let written =
        |f: &&PathBuf| f.extension().is_some_and(|e| e == "txt" || e == "json" || e == "svg");
    let mut written = rest.iter().filter(written);
    if let Some(stray) = written.find(|f| !described.contains(&f.with_extension("toml"))) {
        return Err(format!("{} has no description: write its .toml or delete it", show(stray)));
    }
    described.into_iter().map(Capture::load).collect()
}

/// The entries of a folder, sorted; none if there is no such folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let found = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = found.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

impl Capture {
    /// Reads a description.
    ///
    /// # Errors
    /// What is wrong with it, with its path.
    pub fn load(file: PathBuf) -> Result<Capture, String> {
        let text = read(&file)?;
        let description: Description = toml::from_str(&text)
            .map_err(|e| format!("{} is not a description of output:\n{e}", show(&file)))?;
        let capture = Capture { file, description };
        let missing = capture.missing();
        if missing.is_empty() { Ok(capture) } else { Err(capture.problem(missing)) }
    }

    /// `saved`, from `saved.toml`.
    pub fn name(&self) -> String {
        self.file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The output's files: text, and JSON and figure if they are kept.
    pub fn files(&self) -> Vec<PathBuf> {
        let d = &self.description;
        let all = [("txt", true), ("json", d.json), ("svg", d.plot)];
        all.iter().filter(|(_, kept)| *kept).map(|(e, _)| self.file.with_extension(e)).collect()
    }

    /// Runs the program and writes the files; for measured output, machine and date as well.
    ///
    /// # Errors
    /// If the program fails, or what it printed cannot be shown in the book.
    pub fn write(&self) -> Result<(), String> {
        let run = self.run()?;
        self.check_rows(&run.text)?;
        self.check_relations(run.json.as_deref())?;
        save(&self.file.with_extension("txt"), &run.text)?;
        for (extension, text) in [("json", &run.json), ("svg", &run.svg)] {
            text.as_ref().map_or(Ok(()), |t| save(&self.file.with_extension(extension), t))?;
        }
        if self.description.kind == Kind::Measured {
            let stamped = set(&read(&self.file)?, "date", &today());
            save(&self.file, &set(&stamped, "machine", &Machine::this().to_string()))?;
        }
        Ok(())
    }

    /// Checks the committed files, against a fresh run too.
    ///
    /// # Errors
    /// The first thing that is not as it should be, and what to do.
    pub fn verify(&self) -> Result<(), String> {
        self.verify_committed()?;
        let run = self.run()?;
        match self.description.kind {
            Kind::Exact => self.compare(&run),
            Kind::Measured => self.compare_shape(&run),
        }
    }

    /// Checks the committed files alone: rows, relations, machine and date.
    ///
    /// # Errors
    /// As [`Capture::verify`].
    pub fn verify_committed(&self) -> Result<(), String> {
        let text = self.committed("txt")?;
        self.check_rows(&text)?;
        let json = if self.description.json { Some(self.committed("json")?) } else { None };
        self.check_relations(json.as_deref())?;
        let d = &self.description;
        if d.kind == Kind::Measured && (d.machine.is_none() || d.date.is_none()) {
            return Err(self.problem("it is measured and names no machine or date"));
        }
        Ok(())
    }

    fn missing(&self) -> &'static str {
        let d = &self.description;
        if d.command.is_empty() {
            "its command is empty"
        } else if d.plot && d.alt.as_deref().unwrap_or_default().is_empty() {
            "it has a figure and no `alt` text"
        } else if !d.json && (d.kind == Kind::Measured || !d.relations.is_empty()) {
            "it is measured or has relations, and they are read from the JSON: add `json = true`"
        } else {
            ""
        }
    }

    fn run(&self) -> Result<Run, String> {
        let d = &self.description;
        let scratch = Scratch::new(&self.name())?;
        let (json, svg) = (scratch.0.join("out.json"), scratch.0.join("out.svg"));
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(["run", "--quiet", "-p", "engine-room-labs", "--bin", &d.command[0], "--"]);
        command.args(&d.command[1..]).current_dir(grading::root());
        if d.json {
            command.arg("--json-file").arg(&json);
        }
        if d.plot {
            command.arg("--plot").arg(&svg);
        }
        let done = command.output().map_err(|e| format!("cargo cannot be started: {e}"))?;
        if !done.status.success() {
            let errors = String::from_utf8_lossy(&done.stderr);
            return Err(self.problem(&format!("the program failed ({}):\n{errors}", done.status)));
        }
        let text = String::from_utf8_lossy(&done.stdout).replace("\r\n", "\n");
        if !text.is_ascii() || text.contains(&*grading::root().to_string_lossy()) {
            return Err(
                self.problem("what it printed is not ASCII, or holds a path of this machine")
            );
        }
        let json = if d.json { Some(read(&json)?) } else { None };
        Ok(Run { text, json, svg: if d.plot { Some(read(&svg)?) } else { None } })
    }

    fn check_rows(&self, text: &str) -> Result<(), String> {
        let missing = |row: &&String| !text.lines().any(|line| holds(line, row));
        match self.description.rows.iter().find(missing) {
            Some(row) => Err(self.problem(&format!("no line of the text holds '{row}'"))),
            None => Ok(()),
        }
    }

    fn check_relations(&self, json: Option<&str>) -> Result<(), String> {
        let Some(json) = json else { return Ok(()) };
        let document = self.parse(json)?;
        for Relation { left, right, at_least } in &self.description.relations {
            let number = |pointer: &str| {
                let found = document.pointer(pointer).and_then(Value::as_f64);
                found.ok_or_else(|| self.problem(&format!("there is no number at '{pointer}'")))
            };
            let (l, r) = (number(left)?, number(right)?);
            if l < at_least * r {
                return Err(self.problem(&format!(
                    "the chapter says that {left} is at least {at_least} x {right}; {l} is not at \
                     least {at_least} x {r}"
                )));
            }
        }
        Ok(())
    }

    fn compare(&self, run: &Run) -> Result<(), String> {
        let fresh =
            [("txt", Some(&run.text)), ("json", run.json.as_ref()), ("svg", run.svg.as_ref())];
        for (extension, text) in fresh {
            let Some(text) = text else { continue };
            let committed = self.committed(extension)?;
            if committed != *text {
                return Err(self.problem(&difference(extension, &committed, text)));
            }
        }
        Ok(())
    }

    fn compare_shape(&self, run: &Run) -> Result<(), String> {
        self.check_rows(&run.text)?;
        let (old, new) = (self.committed("json")?, run.json.as_deref().unwrap_or_default());
        let (old, new) = (self.parse(&old)?, self.parse(new)?);
        first_other_shape("", &old, &new).map_or(Ok(()), |p| Err(self.problem(&p)))
    }

    fn parse(&self, json: &str) -> Result<Value, String> {
        serde_json::from_str(json).map_err(|e| self.problem(&format!("it is not JSON: {e}")))
    }

    fn committed(&self, extension: &str) -> Result<String, String> {
        read(&self.file.with_extension(extension)).map_err(|e| self.problem(&e))
    }

    fn problem(&self, what: &str) -> String {
        let name = self.name();
        format!("{}: {what}\n  `course dev capture {name}` runs it again", show(&self.file))
    }
}

/// A folder for a run's files, removed afterwards.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Result<Scratch, String> {
        let folder = format!("engine-room-capture-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        Ok(Scratch(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A folder left behind in the system's temporary folder harms nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn read(path: &Path) -> Result<String, String> {
    let text = std::fs::read_to_string(path);
    text.map_err(|e| format!("{} cannot be read: {e}", show(path)))
}

fn save(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|e| format!("{} cannot be written: {e}", show(path)))
}

/// A path as seen from the repository's root, with forward slashes.
pub fn show(path: &Path) -> String {
    let path = path.strip_prefix(grading::root()).unwrap_or(path);
    path.display().to_string().replace('\\', "/")
}
