//! Builds graders with cargo, and reads what the compiler says about them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

/// What a build gave, by target (`lab-03-autograd`).
#[derive(Default)]
pub(crate) struct Built {
    pub(crate) executables: BTreeMap<String, PathBuf>,
    pub(crate) errors: BTreeMap<String, Vec<CompileError>>,
    /// What cargo itself said.
    pub(crate) log: String,
}

/// One error of the compiler.
#[derive(Debug, Clone)]
pub struct CompileError {
    /// The whole message, as the compiler shows it.
    pub rendered: String,
    /// The places it is about.
    pub places: Vec<Place>,
}

/// A place in a source file.
#[derive(Debug, Clone)]
pub struct Place {
    /// The file, as the compiler names it.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What stands there.
    pub text: String,
}

#[derive(Deserialize)]
struct Message {
    target: Option<Target>,
    executable: Option<PathBuf>,
    message: Option<Rendered>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Rendered {
    level: String,
    message: String,
    rendered: Option<String>,
    spans: Vec<Span>,
}

#[derive(Deserialize)]
struct Span {
    file_name: String,
    line_start: usize,
    is_primary: bool,
    text: Vec<Excerpt>,
}

/// A line of source, and the columns of it that a span covers, counted in characters from 1.
#[derive(Deserialize)]
struct Excerpt {
    text: String,
    highlight_start: usize,
    highlight_end: usize,
}

/// Builds the graders as `cargo test --test …` does, each as far as it compiles.
pub(crate) fn graders(root: &Path, targets: &[String]) -> Result<Built, String> {
    let mut command = cargo(root, "build");
    command.arg("--keep-going");
    for target in targets {
        command.args(["--test", target]);
    }
    run(command)
}

/// Builds one grader on the salvaged copy of the learner's file.
pub(crate) fn salvaged(root: &Path, target: &str) -> Result<Built, String> {
    let mut command = cargo(root, "rustc");
    command.args(["--test", target, "--", "--cfg", "salvage"]);
    run(command)
}

/// Cargo, with the folder and the profile of the program that runs now, so that nothing is built
/// that `cargo test` has not built already.
fn cargo(root: &Path, subcommand: &str) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    // What cargo said to this process about its package must not leak into the next one's builds.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_", "CARGO_PRIMARY_"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
        {
            command.env_remove(&*name);
        }
    }
    command.current_dir(root).args([subcommand, "-p", "engine-room-tests"]);
    command.arg("--message-format=json").stdin(Stdio::null());
    if let Some((folder, profile)) = target_folder() {
        command.arg("--target-dir").arg(folder).args(["--profile", &profile]);
    }
    command
}

/// The target folder and the profile that this program was built in, from where it lies:
/// `target/debug/deps/labs-…` or `target/debug/course`.
fn target_folder() -> Option<(PathBuf, String)> {
    let program = std::env::current_exe().ok()?;
    let folder = program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file())?;
    let inside = program.strip_prefix(folder).ok()?;
    let name = inside.components().next()?.as_os_str().to_str()?;
    let profile = if name == "debug" { "dev" } else { name };
    Some((folder.to_path_buf(), profile.to_owned()))
}

fn run(mut command: Command) -> Result<Built, String> {
    let output = command.output().map_err(|error| format!("cargo cannot be started: {error}"))?;
    let mut built =
        Built { log: String::from_utf8_lossy(&output.stderr).into_owned(), ..Built::default() };
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        if let Ok(message) = serde_json::from_str::<Message>(line) {
            built.take(message);
        }
    }
    Ok(built)
}

impl Built {
    fn take(&mut self, message: Message) {
        let Some(target) = message.target else { return };
        if let Some(executable) = message.executable {
            self.executables.insert(target.name, executable);
        } else if let Some(error) = message.message.and_then(Rendered::into_error) {
            self.errors.entry(target.name).or_default().push(error);
        }
    }
}

impl Rendered {
    /// None for warnings and for the compiler's closing words.
    fn into_error(self) -> Option<CompileError> {
        let closing = self.spans.is_empty() && self.message.starts_with("aborting due to");
        if self.level != "error" || closing {
            return None;
        }
        let primary = self.spans.into_iter().filter(|span| span.is_primary);
        let places = primary.map(Span::into_place).collect();
        Some(CompileError { rendered: self.rendered.unwrap_or(self.message), places })
    }
}

impl Span {
    fn into_place(self) -> Place {
        let covered = self.text.first().map(|excerpt| {
            let (start, end) = (excerpt.highlight_start - 1, excerpt.highlight_end - 1);
            excerpt.text.chars().take(end).skip(start).collect()
        });
        Place { file: self.file_name, line: self.line_start, text: covered.unwrap_or_default() }
    }
}

/// What is said when there is no grader and the learner's file is not to blame.
pub(crate) fn not_the_learners(errors: &[CompileError]) -> String {
    let errors: Vec<&str> = errors.iter().map(|error| error.rendered.as_str()).collect();
    let words = "The course itself does not build. This is not about your exercises.";
    format!("{words}\n{}", errors.join("\n"))
}
