//! A folder of training checkpoints, of which the last ones are kept.
//!
//! An old one is removed only after the new one is on the disk, so a crash at any moment leaves at
//! least as many good ones as were to be kept, or as many as there were.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::serialize::files::remove_leftovers;
use crate::serialize::{Checkpoint, Disk, Files, MapLocation, SavedRun};

/// The checkpoints in one folder, which one run writes at a time.
///
/// They are numbered as they were saved, and the last one is the one with the highest number. Its
/// step need not be the highest: a run may have gone back to an earlier checkpoint and on from
/// there.
pub struct Checkpoints {
    files: Box<dyn Files>,
    folder: PathBuf,
    keep: usize,
}

/// A file of [`Checkpoints`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Counts the saves.
    pub number: u64,
    /// How many steps the run had taken.
    pub step: u64,
    /// The file.
    pub path: PathBuf,
}

/// The last checkpoint that can be read.
#[derive(Debug)]
pub struct Latest {
    /// What is in it.
    pub run: SavedRun,
    /// Which one it is.
    pub entry: Entry,
    /// Those after it, which cannot be read, and why; the last one first. Tell somebody: a disk
    /// that damages one file damages more.
    pub damaged: Vec<(Entry, Error)>,
}

impl Checkpoints {
    /// The checkpoints in a folder that is there, of which the last `keep` stay.
    ///
    /// # Panics
    /// If none are to be kept.
    #[track_caller]
    pub fn new(folder: &Path, keep: usize) -> Checkpoints {
        Checkpoints::on(Box::new(Disk), folder, keep)
    }

    /// The same on another file system.
    ///
    /// # Panics
    /// As [`new`](Checkpoints::new).
    #[track_caller]
    pub fn on(files: Box<dyn Files>, folder: &Path, keep: usize) -> Checkpoints {
        if keep == 0 {
            let message = "the last checkpoint is always kept; ask for 1 or more".to_string();
            crate::error::misuse("Checkpoints::new", &[&"keep = 0"], message);
        }
        Checkpoints { files, folder: folder.to_path_buf(), keep }
    }

    /// Saves one more, then removes those that are too old, and what a save has left behind that
    /// was killed. An old one that cannot be removed stays until the next save.
    ///
    /// # Errors
    /// If it cannot be saved: see [`replace`](crate::serialize::replace). All others are there
    /// then.
    pub fn save(&self, checkpoint: &Checkpoint) -> Result<Entry, Error> {
        remove_leftovers(&*self.files, &self.folder, &|name| numbers(name).is_some());
        let mut entries = self.list()?;
        let number = entries.last().map_or(0, |last| last.number) + 1;
        let step = checkpoint.step;
        let path = self.folder.join(format!("checkpoint-{number:06}-step-{step}.safetensors"));
        checkpoint.save_on(&*self.files, &path)?;
        let new = Entry { number, step, path };
        entries.push(new.clone());
        for old in &entries[..entries.len().saturating_sub(self.keep)] {
            let _ = self.files.remove(&old.path);
        }
        Ok(new)
    }

    /// All that are there, the first one first, damaged ones too.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn list(&self) -> Result<Vec<Entry>, Error> {
        let names = self.files.list(&self.folder).map_err(|error| {
            let advice = "checkpoints go into a folder that is there: make it first";
            Error::file(&self.folder, format!("{error}; {advice}"))
        })?;
        let entry = |name: String| {
            let (number, step) = numbers(&name)?;
            Some(Entry { number, step, path: self.folder.join(name) })
        };
        let mut entries: Vec<Entry> = names.into_iter().filter_map(entry).collect();
        entries.sort_by_key(|entry| (entry.number, entry.step));
        Ok(entries)
    }

    /// The last one that can be read; `None` if there was never one, so a run begins at the
    /// beginning.
    ///
    /// # Errors
    /// If there are some and none of them can be read, or the folder cannot be read.
    pub fn latest(&self, map_location: &MapLocation) -> Result<Option<Latest>, Error> {
        let mut damaged = Vec::new();
        for entry in self.list()?.into_iter().rev() {
            match SavedRun::load(&entry.path, map_location) {
                Ok(run) => return Ok(Some(Latest { run, entry, damaged })),
                Err(error) => damaged.push((entry, error)),
            }
        }
        let Some((_, last)) = damaged.first() else { return Ok(None) };
        let count = damaged.len();
        let message = format!("none of its {count} checkpoints can be read; the last one: {last}");
        Err(Error::file(&self.folder, message))
    }
}

/// Number and step in the name of a checkpoint.
fn numbers(name: &str) -> Option<(u64, u64)> {
    let rest = name.strip_prefix("checkpoint-")?.strip_suffix(".safetensors")?;
    let (number, step) = rest.split_once("-step-")?;
    Some((number.parse().ok()?, step.parse().ok()?))
}
