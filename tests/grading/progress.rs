//! The learner's progress: `.progress/progress.toml` in the repository root.
//!
//! Plain text, keyed by the stable ids of `lab.toml`: it can be read, merged and moved. It holds
//! nothing that is needed to grade.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::model::Lab;
use crate::report::{Report, State};
use crate::state;

const HEAD: &str = "# Your progress in the Engine Room. Safe to read, to copy to another machine \
                    and to delete.\n\n";

/// What is remembered between runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// By exercise id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub exercise: BTreeMap<String, ExerciseProgress>,
    /// By prediction id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prediction: BTreeMap<String, Guess>,
}

/// One exercise.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ExerciseProgress {
    /// The state when it was last graded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// The fingerprint of the functions that were graded. Once they are others, the state is void.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graded: Option<String>,
    /// How many of the three hints have been opened.
    #[serde(default)]
    pub hints: u32,
}

/// The first answer to a prediction; later ones do not replace it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Guess {
    /// As it was typed.
    pub guess: String,
    /// When, as `2026-12-02`.
    pub date: String,
}

impl Progress {
    /// Where the file is.
    pub fn path(root: &Path) -> PathBuf {
        root.join(".progress").join("progress.toml")
    }

    /// Reads the file; no file is no progress. An error says what is wrong with it.
    ///
    /// The state of an exercise that has been changed since it was graded is left out: what does
    /// not compile can be graded by nobody, and must not stand there as passed.
    pub fn load(root: &Path) -> Result<Progress, String> {
        let path = Progress::path(root);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(format!("{} cannot be read: {error}", path.display())),
        };
        let mut progress: Progress = toml::from_str(&text).map_err(|error| {
            format!("{} cannot be understood: {error}\nRepair or delete it.", path.display())
        })?;
        let now = fingerprints(root);
        for (id, seen) in &mut progress.exercise {
            if seen.graded.is_some() && seen.graded.as_ref() != now.get(id) {
                (seen.state, seen.graded) = (None, None);
            }
        }
        Ok(progress)
    }

    /// Writes the file whole or not at all.
    pub fn save(&self, root: &Path) -> Result<(), String> {
        let path = Progress::path(root);
        let text = toml::to_string(self).map_err(|error| error.to_string())?;
        let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
        std::fs::create_dir_all(root.join(".progress"))
            .and_then(|()| std::fs::write(&temporary, format!("{HEAD}{text}")))
            .and_then(|()| std::fs::rename(&temporary, &path))
            .map_err(|error| format!("{} cannot be written: {error}", path.display()))
    }

    /// Remembers the states of a report; true if that changed anything.
    pub fn record(&mut self, report: &Report) -> bool {
        let before = self.clone();
        for verdict in report.verdicts() {
            let untouched = verdict.state == State::NotStarted;
            if untouched && !self.exercise.contains_key(&verdict.id) {
                continue;
            }
            self.exercise.entry(verdict.id.clone()).or_default().state = Some(verdict.state);
        }
        *self != before
    }

    /// Keeps the first guess; returns the one that is kept.
    pub fn first_guess(&mut self, id: &str, guess: &str) -> &Guess {
        let first = || Guess { guess: guess.to_owned(), date: today() };
        self.prediction.entry(id.to_owned()).or_insert_with(first)
    }
}

/// Remembers a report's states. What cannot be remembered is said, and is no reason to fail.
pub(crate) fn remember(root: &Path, report: &Report) {
    let written = Progress::load(root).and_then(|mut progress| {
        let mut is_news = progress.record(report);
        let now = fingerprints(root);
        for verdict in report.verdicts() {
            if let Some(seen) = progress.exercise.get_mut(&verdict.id) {
                is_news |= seen.graded.as_ref() != now.get(&verdict.id);
                seen.graded = now.get(&verdict.id).cloned();
            }
        }
        if is_news { progress.save(root) } else { Ok(()) }
    });
    if let Err(problem) = written {
        eprintln!("The progress was not recorded: {problem}");
    }
}

/// What stands in the learners' files now, by exercise id; nothing where there are no labs.
fn fingerprints(root: &Path) -> BTreeMap<String, String> {
    let mut prints = BTreeMap::new();
    for lab in Lab::all(root).unwrap_or_default() {
        let Ok(source) = std::fs::read_to_string(lab.folder.join("exercise.rs")) else { continue };
        let of = lab.exercises.iter().map(|f| (f.id.clone(), state::fingerprint(f, &source)));
        prints.extend(of);
    }
    prints
}

/// Today's date in UTC, as `2026-12-02`.
pub fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    date_of(since.as_secs() / 86_400)
}

/// The date so many days after 1970-01-01 (Howard Hinnant's `civil_from_days`).
fn date_of(days: u64) -> String {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}
