//! A lab's facts, read from its `lab.toml`: the one source for graders, `course` and the book.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The workspace root: of the package that cargo runs now, or else where the course was compiled.
///
/// A repository that was moved or copied with its target folder must not grade the old place.
pub fn root() -> PathBuf {
    let running = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let running = running.and_then(|package| package.parent().map(Path::to_path_buf));
    let compiled =
        || Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_path_buf();
    running.filter(|root| root.join("tests/grading").is_dir()).unwrap_or_else(compiled)
}

/// One lab: `labs/lab-NN-slug/lab.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lab {
    /// The lab's folder; not in the file, filled by [`Lab::load`].
    #[serde(skip)]
    pub folder: PathBuf,
    /// Two digits, the chapter's number: `03`.
    pub id: String,
    /// Number and name as they stand in every path: `03-autograd`.
    pub slug: String,
    /// The lab's name for people.
    pub title: String,
    /// What a learner can do afterwards, one sentence each.
    pub objectives: Vec<String>,
    /// The exercises, in the order of the chapter.
    #[serde(rename = "exercise")]
    pub exercises: Vec<Facts>,
    /// The questions that `course predict` asks.
    #[serde(rename = "prediction", default)]
    pub predictions: Vec<Prediction>,
}

/// The facts of one exercise.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// Stable for ever, since progress files are keyed by it: `3.2`.
    pub id: String,
    /// The exercise's name for people.
    pub title: String,
    /// The functions of `exercise.rs` that the learner writes.
    pub functions: Vec<String>,
    /// What the learner does.
    pub kind: Kind,
    /// How long it takes.
    pub minutes: Minutes,
    /// What passing it earns.
    pub points: u32,
    /// The anchor of the heading in the chapter to read first.
    pub section: String,
    /// The task, in Markdown.
    pub statement: String,
    /// Three hints: direction, approach, nearly the answer.
    pub hints: Vec<String>,
    /// After how many seconds a check counts as hanging.
    #[serde(default = "ten")]
    pub time_limit: u32,
}

/// What the learner does in an exercise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Write a function.
    Implement,
    /// Write the function that foretells a number.
    Predict,
    /// Repair code that is handed out wrong.
    Debug,
    /// Measure, and report what was measured.
    Measure,
}

/// How long an exercise takes, in minutes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Minutes {
    /// The author's guess.
    pub estimate: u32,
    /// What learners needed, one number each; empty until a class has run.
    pub measured: Vec<u32>,
}

/// A question answered before the run that shows the number.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prediction {
    /// Stable for ever: `3.a`.
    pub id: String,
    /// What is asked.
    pub question: String,
    /// The unit of the answer.
    pub unit: String,
    /// The experiment of the lab's program that prints the value beside the guess.
    pub experiment: String,
}

fn ten() -> u32 {
    10
}

impl Minutes {
    /// The middle of the measured times, or the estimate while there are none.
    pub fn typical(&self) -> u32 {
        let mut sorted = self.measured.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().unwrap_or(self.estimate)
    }
}

impl Facts {
    /// The exercise as lists and verdicts name it: `3.1 Multiply backward`.
    pub fn name(&self) -> String {
        format!("{} {}", self.id, self.title)
    }
}

impl Lab {
    /// Reads and checks `folder/lab.toml`. The error says which file and what to change.
    pub fn load(folder: &Path) -> Result<Lab, String> {
        let file = folder.join("lab.toml");
        let text = std::fs::read_to_string(&file)
            .map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
        let mut lab: Lab = toml::from_str(&text)
            .map_err(|error| format!("{} is not a lab description: {error}", file.display()))?;
        lab.folder = folder.to_path_buf();
        lab.validate().map_err(|problem| format!("{}: {problem}", file.display()))?;
        Ok(lab)
    }

    /// All labs of the course, by number.
    pub fn all(root: &Path) -> Result<Vec<Lab>, String> {
        let labs = root.join("labs");
        let entries = std::fs::read_dir(&labs)
            .map_err(|error| format!("{} cannot be read: {error}", labs.display()))?;
        let mut folders: Vec<PathBuf> =
            entries.flatten().map(|entry| entry.path()).filter(|path| is_lab(path)).collect();
        folders.sort();
        folders.iter().map(|folder| Lab::load(folder)).collect()
    }

    /// The facts of one exercise.
    pub fn exercise(&self, id: &str) -> Option<&Facts> {
        self.exercises.iter().find(|facts| facts.id == id)
    }

    /// The name of the lab's grader, of its program and of its folder: `lab-03-autograd`.
    pub fn target(&self) -> String {
        format!("lab-{}", self.slug)
    }

    /// The number that the ids of its exercises begin with: `3`, and `0` for lab 00.
    pub fn number(&self) -> &str {
        self.id.strip_prefix('0').unwrap_or(&self.id)
    }

    /// What a diagnosis says about where to read: `'Two inputs, one rule' in chapter 03`.
    pub fn reading(&self, section: &str) -> String {
        let chapter = self.folder.join("../../book/src").join(&self.slug).join("index.md");
        let text = std::fs::read_to_string(chapter).unwrap_or_default();
        let headings = text.lines().filter(|line| line.starts_with('#'));
        let heading = headings
            .map(|line| line.trim_start_matches('#').trim())
            .find(|heading| anchor(heading) == section);
        let spoken = section.replace('-', " ");
        format!("'{}' in chapter {}", heading.unwrap_or(&spoken), self.id)
    }

    fn validate(&self) -> Result<(), String> {
        let folder = self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if folder != self.target() {
            return Err(format!("slug {:?} does not fit the folder {folder:?}", self.slug));
        }
        if self.slug.split('-').next() != Some(&self.id) {
            return Err(format!("id {:?} is not the number in slug {:?}", self.id, self.slug));
        }
        if self.exercises.is_empty() {
            return Err("it has no [[exercise]]".to_owned());
        }
        let chapter = format!("{}.", self.number());
        let mut seen = BTreeSet::new();
        let predictions = self.predictions.iter().map(|prediction| &prediction.id);
        for id in self.exercises.iter().map(|facts| &facts.id).chain(predictions) {
            if !id.starts_with(&chapter) || !seen.insert(id) {
                return Err(format!("id {id:?} must begin with {chapter:?} and occur once"));
            }
        }
        self.exercises.iter().try_for_each(Facts::validate)
    }
}

impl Facts {
    fn validate(&self) -> Result<(), String> {
        let missing = if self.functions.is_empty() {
            "at least one function"
        } else if self.hints.len() != 3 || self.hints.iter().any(|hint| hint.trim().is_empty()) {
            "three hints"
        } else if self.statement.trim().is_empty() {
            "a statement"
        } else if self.points == 0 {
            "points"
        } else {
            return Ok(());
        };
        Err(format!("exercise {} needs {missing}", self.id))
    }
}

fn is_lab(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("lab-") && path.join("lab.toml").is_file()
}

/// The anchor of a heading: the one it names itself as `{#anchor}`, else mdBook's.
pub fn anchor(heading: &str) -> String {
    if let Some((_, id)) = heading.strip_suffix('}').and_then(|h| h.rsplit_once("{#")) {
        return id.to_string();
    }
    let kept = heading.to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}
