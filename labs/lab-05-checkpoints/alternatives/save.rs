//! Other right ways to save: 5.4.

use std::io;
use std::path::{Path, PathBuf};

use engine_room::serialize::{Files, replace};

use super::{Other, other};

pub fn alternatives() -> Vec<Other> {
    vec![
        other("5.4", "the engine's own", |table| table.save = engine),
        other("5.4", "in pieces, a match for each", |table| table.save = in_pieces),
        other("5.4", "a guard that removes", |table| table.save = guarded),
        other("5.4", "and_then", |table| table.save = chained),
        other("5.4", "leftovers first, byte by byte", |table| table.save = byte_by_byte),
        other("5.4", "a second try with a new file", |table| table.save = twice),
    ]
}

fn engine(files: &dyn Files, path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(files, path, &mut |file| file.write(bytes))
        .map_err(|error| io::Error::other(error.to_string()))
}

fn in_pieces(files: &dyn Files, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = PathBuf::from(format!("{}.tmp", path.display()));
    let mut file = files.create(&beside)?;
    for piece in bytes.chunks(50) {
        match file.write(piece) {
            Ok(()) => {}
            Err(error) => {
                drop(file);
                files.remove(&beside).ok();
                return Err(error);
            }
        }
    }
    if let Err(error) = file.sync() {
        files.remove(&beside).ok();
        return Err(error);
    }
    drop(file);
    if let Err(error) = files.rename(&beside, path) {
        files.remove(&beside).ok();
        return Err(error);
    }
    match path.parent() {
        Some(folder) => files.sync_folder(folder),
        None => Err(io::Error::other("no folder")),
    }
}

/// Removes its file when it goes out of scope, unless it is told not to.
struct Guard<'a> {
    files: &'a dyn Files,
    path: PathBuf,
    armed: bool,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if self.armed {
            let _ = self.files.remove(&self.path);
        }
    }
}

fn guarded(files: &dyn Files, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = format!(".{}.new", path.file_name().unwrap_or_default().to_string_lossy());
    let mut guard = Guard { files, path: path.with_file_name(name), armed: true };
    let mut file = files.create(&guard.path)?;
    let (first, second) = bytes.split_at(bytes.len() / 2);
    file.write(first)?;
    file.sync()?;
    file.write(second)?;
    file.sync()?;
    files.sync_folder(path.parent().unwrap_or(Path::new(".")))?;
    files.rename(&guard.path, path)?;
    guard.armed = false;
    files.sync_folder(path.parent().unwrap_or(Path::new(".")))
}

fn chained(files: &dyn Files, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = path.with_file_name("checkpoint-in-progress");
    files
        .create(&temporary)
        .and_then(|mut file| file.write(bytes).and_then(|()| file.sync()))
        .and_then(|()| files.rename(&temporary, path))
        .inspect_err(|_| drop(files.remove(&temporary)))
        .and_then(|()| files.sync_folder(path.parent().expect("a file lies in a folder")))
}

fn byte_by_byte(files: &dyn Files, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let temporary = folder.join("half");
    let _ = files.remove(&temporary);
    let written = (|| {
        let mut file = files.create(&temporary)?;
        bytes.iter().try_for_each(|byte| file.write(&[*byte]))?;
        file.sync()
    })();
    let renamed = match written {
        Ok(()) => files.rename(&temporary, path),
        Err(error) => Err(error),
    };
    if renamed.is_err() {
        let _ = files.remove(&temporary);
    }
    renamed?;
    files.sync_folder(folder)
}

fn twice(files: &dyn Files, path: &Path, bytes: &[u8]) -> io::Result<()> {
    if in_pieces(files, path, bytes).is_ok() {
        return Ok(());
    }
    guarded(files, path, bytes)
}
