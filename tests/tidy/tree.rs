//! What the rules look at (the files of the repository) and what they say (violations).

use crate::lexer::{self, Line};
use std::path::Path;
use std::process::Command;

/// A text file of the repository; `path` is relative to its root, with `/` on every system.
pub struct File {
    pub path: String,
    pub text: String,
    /// The lines of a Rust file, taken apart; empty for any other file.
    pub lines: Vec<Line>,
}

impl File {
    fn new(path: &str, text: String) -> File {
        let lines = if path.ends_with(".rs") { lexer::lines(&text) } else { Vec::new() };
        File { path: path.to_string(), text, lines }
    }

    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// A Rust file of the engine.
    pub fn is_engine(&self) -> bool {
        self.is_rust() && self.path.starts_with("src/")
    }

    /// Numbered lines up to the unit tests, which stand last in a file.
    pub fn shipped(&self) -> impl Iterator<Item = (usize, &Line)> {
        let tests = |line: &Line| line.code.trim_start().starts_with("#[cfg(test)]");
        (1..).zip(&self.lines).take_while(move |(_, line)| !tests(line))
    }
}

/// The repository's files.
pub struct Tree {
    pub files: Vec<File>,
}

impl Tree {
    /// Every text file that git knows under `root`; without git, every file on disk but `target`
    /// and hidden folders. The learner's files are left out: tidy judges the course, not them.
    pub fn load(root: &Path) -> Tree {
        let mut paths = tracked(root).unwrap_or_else(|| {
            let mut found = Vec::new();
            walk(root, "", &mut found);
            found
        });
        paths.sort();
        let read = |path: &String| {
            let text = String::from_utf8(std::fs::read(root.join(path)).ok()?).ok()?;
            (!is_learners(path) && !text.contains('\0')).then(|| File::new(path, text))
        };
        Tree { files: paths.iter().filter_map(read).collect() }
    }

    /// A tree that a test makes up.
    pub fn of(files: &[(&str, &str)]) -> Tree {
        let learner = |(path, _): &&(&str, &str)| !is_learners(path);
        let file = |(path, text): &(&str, &str)| File::new(path, text.to_string());
        Tree { files: files.iter().filter(learner).map(file).collect() }
    }

    pub fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.is_rust())
    }

    pub fn engine(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.is_engine())
    }

    pub fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The text of a file, or nothing if it is not there.
    pub fn text(&self, path: &str) -> &str {
        self.file(path).map_or("", |file| &file.text)
    }
}

/// What a learner may edit: the exercises, and copies of them.
fn is_learners(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    path.starts_with("labs/") && (name.starts_with("exercise.") || name.starts_with(".salvaged"))
}

fn tracked(root: &Path) -> Option<Vec<String>> {
    let listing = Command::new("git").arg("-C").arg(root).args(["ls-files", "-z"]).output().ok()?;
    let paths = String::from_utf8(listing.stdout).ok()?;
    let paths: Vec<String> =
        paths.split('\0').filter(|path| !path.is_empty()).map(String::from).collect();
    (listing.status.success() && paths.iter().any(|path| path == "Cargo.toml")).then_some(paths)
}

fn walk(root: &Path, folder: &str, found: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(root.join(folder)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let hidden = name.starts_with('.') && name != ".ci" && name != ".github";
        if is_folder && name != "target" && !hidden {
            walk(root, &path, found);
        } else if !is_folder {
            found.push(path);
        }
    }
}

/// A rule: what is asked, why, and how to comply.
pub struct Rule {
    pub name: &'static str,
    pub why: &'static str,
    pub fix: &'static str,
}

impl Rule {
    pub fn broken(&'static self, path: &str, line: usize, what: impl Into<String>) -> Violation {
        Violation { path: path.to_string(), line, what: what.into(), rule: self }
    }
}

/// A place that breaks a rule.
pub struct Violation {
    pub path: String,
    pub line: usize,
    pub what: String,
    pub rule: &'static Rule,
}

/// Every place, and after the places of a rule the rule itself.
pub fn report(found: &[Violation]) -> String {
    let mut text = String::new();
    for group in found.chunk_by(|a, b| std::ptr::eq(a.rule, b.rule)) {
        for Violation { path, line, what, .. } in group {
            text += &format!("{path}:{line}: {what}\n");
        }
        let Rule { name, why, fix } = group[0].rule;
        text += &format!("  rule: {name}\n  why:  {why}\n  do:   {fix}\n\n");
    }
    text
}

/// A rule's function.
pub type Check = fn(&Tree) -> Vec<Violation>;

/// The rule must find fault with this file, at this line.
#[track_caller]
pub fn catches(check: Check, path: &str, text: &str, line: usize) {
    let found = check(&Tree::of(&[(path, text)]));
    let lines: Vec<usize> = found.iter().map(|violation| violation.line).collect();
    assert_eq!(lines, [line], "the planted violation in {path} was not found where it is");
}

/// The rule must have nothing to say about this file.
#[track_caller]
pub fn accepts(check: Check, path: &str, text: &str) {
    let found = check(&Tree::of(&[(path, text)]));
    assert!(found.is_empty(), "{path} is right, and yet:\n{}", report(&found));
}

#[test]
fn what_a_learner_edits_is_not_in_the_tree() {
    let tree = Tree::of(&[
        ("labs/lab-03-autograd/exercise.rs", ""),
        ("labs/lab-03-autograd/exercise.rs.bak", ""),
        ("labs/lab-03-autograd/.salvaged.rs", ""),
        ("labs/lab-03-autograd/stub.rs", ""),
    ]);
    assert_eq!(tree.files.len(), 1);
}

#[test]
fn without_git_the_folder_is_walked() {
    let mut found = Vec::new();
    walk(Path::new(env!("CARGO_MANIFEST_DIR")), "", &mut found);
    assert!(found.iter().any(|path| path == "tests/tidy/tree.rs"));
    assert!(!found.iter().any(|path| path.starts_with("target/") || path.starts_with(".git/")));
}
