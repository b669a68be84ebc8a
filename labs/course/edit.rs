//! Edits of a learner's file: a backup first, then whole or not at all.

use std::path::{Path, PathBuf};

use engine_room_labs::capture::show;
use engine_room_labs::machine::timestamp;
use grading::{Lab, root};

/// Reads a file; the error names it.
pub fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("{} cannot be read: {e}", show(path)))
}

/// Writes a file whole or not at all.
pub fn write(path: &Path, text: &str) -> Result<(), String> {
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    std::fs::write(&temporary, text)
        .and_then(|()| std::fs::rename(&temporary, path))
        .map_err(|e| format!("{} cannot be written: {e}", show(path)))
}

/// Puts `text` in place of the lab's `exercise.rs`, after a copy of it went to
/// `.progress/backups`. Returns the copy's path; none if the file holds this text already, or if
/// there is no file to lose.
pub fn replace_exercise(lab: &Lab, text: &str) -> Result<Option<PathBuf>, String> {
    let path = lab.folder.join("exercise.rs");
    if !path.exists() {
        return write(&path, text).map(|()| None);
    }
    let old = std::fs::read(&path).map_err(|e| format!("{} cannot be read: {e}", show(&path)))?;
    if old == text.as_bytes() {
        return Ok(None);
    }
    let backup = free_backup(&lab.target());
    let folder = backup.parent().unwrap_or(&backup);
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&backup, &old))
        .map_err(|e| format!("no backup could be written, so nothing was changed: {e}"))?;
    write(&path, text)?;
    Ok(Some(backup))
}

/// A name under `.progress/backups` that no file has yet.
fn free_backup(target: &str) -> PathBuf {
    let folder = root().join(".progress").join("backups");
    let name = format!("{}-{target}-exercise", timestamp());
    let numbered = (2..).map(|n| format!("{name}-{n}.rs"));
    let mut names = std::iter::once(format!("{name}.rs")).chain(numbered);
    names.find_map(|name| Some(folder.join(name)).filter(|path| !path.exists())).unwrap_or(folder)
}
