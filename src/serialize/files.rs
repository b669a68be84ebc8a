//! Crash-safe saving: whatever happens while a file is saved, its name stands for the old content
//! or for the new one, and never for a part of it.
//!
//! Opening a file for writing empties it, so a program that dies while it writes has destroyed the
//! only good copy. A new file beside it can be written in peace. What makes the exchange safe is
//! the order: the content is on the disk before the name points to it, and the name is on the disk
//! before the save reports success.
//!
//! ```text
//! write beside it     a crash leaves the old file and a leftover, which the next save removes
//! sync the file       or the name could reach the disk before the content does
//! rename              replaces the old file at once: no moment has neither
//! sync the folder     or a power failure could bring back the old file after success was reported
//! ```
//!
//! All of it goes through the trait [`Files`], so that a test can play a disk that fails at any
//! operation, or that loses what was not synced.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// What saving needs from a file system.
pub trait Files {
    /// An empty file under this name; one that is there already is emptied.
    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>>;

    /// Gives a file another name in the same folder; a file that has that name is replaced.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Returns when the names in a folder, as they are now, are on the disk.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;

    /// The names of what is in a folder, in any order. Without it no leftover is found.
    fn list(&self, _folder: &Path) -> io::Result<Vec<String>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Whether somebody is writing this file at the moment.
    fn is_held(&self, _path: &Path) -> bool {
        false
    }

    /// The file that a save to `path` replaces: another one where `path` is a link.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_path_buf())
    }
}

/// A file that is being written.
pub trait NewFile {
    /// Appends all of the bytes; after an error some of them may be there.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Returns when all that was written is on the disk.
    fn sync(&mut self) -> io::Result<()>;
}

/// Puts what `write` writes in the place of the file `path`, or makes that file. See the top of
/// this file for how.
///
/// The new file is written beside the old one, as `.NAME.RANDOM.saving`; the folder needs room for
/// both. It is removed if the save fails. If the process is killed it stays, and the next save to
/// this name removes it.
///
/// # Errors
/// If the folder is missing, the disk is full, or anything else fails. The old file is untouched
/// then, unless the message says that the new one is in its place. What `write` reports is passed
/// on.
pub fn replace(
    files: &dyn Files,
    path: &Path,
    write: &mut dyn FnMut(&mut dyn NewFile) -> io::Result<()>,
) -> Result<(), Error> {
    let failed = |error: io::Error| failure(path, &error);
    let target = files.resolve(path).map_err(failed)?;
    let Some(name) = target.file_name().and_then(|name| name.to_str()) else {
        return Err(Error::file(path, "this is no name of a file; name one inside a folder"));
    };
    remove_leftovers(files, folder_of(&target), &|saved| saved == name);
    let mut temporary = Temporary::beside(files, &target, name).map_err(failed)?;
    temporary.fill(write).and_then(|()| files.rename(&temporary.path, &target)).map_err(failed)?;
    temporary.renamed = true;
    files.sync_folder(folder_of(&target)).map_err(|error| {
        let message = format!(
            "the new file is in place, but its folder could not be synced ({error}), so a power \
             failure may bring back the old one; save again"
        );
        Error::file(path, message)
    })
}

/// The folder that a file is in.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// Removes what saves left behind whose process has died, of files whose name is `due`. It matters
/// only for the room that they take, so what cannot be listed or removed stays.
pub(super) fn remove_leftovers(files: &dyn Files, folder: &Path, due: &dyn Fn(&str) -> bool) {
    for name in files.list(folder).unwrap_or_default() {
        let path = folder.join(&name);
        if saved_name(&name).is_some_and(due) && !files.is_held(&path) {
            let _ = files.remove(&path);
        }
    }
}

/// The new file as long as it has a name of its own. Whoever drops it before it is renamed, also by
/// unwinding, removes it.
struct Temporary<'a> {
    files: &'a dyn Files,
    path: PathBuf,
    /// Held until after the renaming: while it is open nobody takes it for a leftover.
    file: Option<Box<dyn NewFile>>,
    renamed: bool,
}

impl<'a> Temporary<'a> {
    /// Beside `target`, whose name is `name`: a renaming from one disk to another would be a copy.
    fn beside(files: &'a dyn Files, target: &Path, name: &str) -> io::Result<Temporary<'a>> {
        // The hasher's keys come from the system: no other process and no other machine that
        // shares the folder has the same ones.
        let random = RandomState::new().hash_one(name);
        let path = target.with_file_name(format!(".{name}.{random:016x}{ENDING}"));
        let file = Some(files.create(&path)?);
        Ok(Temporary { files, path, file, renamed: false })
    }

    /// Writes the content, and waits until it is on the disk.
    fn fill(
        &mut self,
        write: &mut dyn FnMut(&mut dyn NewFile) -> io::Result<()>,
    ) -> io::Result<()> {
        match &mut self.file {
            Some(file) => write(&mut **file).and_then(|()| file.sync()),
            None => Ok(()),
        }
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        self.file = None;
        if !self.renamed {
            let _ = self.files.remove(&self.path);
        }
    }
}

const ENDING: &str = ".saving";

/// The name of the file that a leftover of this name was to become: `.a.st.0123456789abcdef.saving`
/// gives `a.st`.
fn saved_name(leftover: &str) -> Option<&str> {
    let (name, random) = leftover.strip_prefix('.')?.strip_suffix(ENDING)?.rsplit_once('.')?;
    let is_ours = random.len() == 16 && random.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_ours.then_some(name)
}

/// What is wrong with a save that did not reach the renaming, and what to do.
fn failure(path: &Path, error: &io::Error) -> Error {
    let advice = match error.kind() {
        io::ErrorKind::NotFound => "the folder is missing; make it first",
        io::ErrorKind::PermissionDenied => "allow writing to the folder and the file",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "make room for the new file beside the old one"
        }
        _ => "nothing was saved, and a file that was there before is as it was",
    };
    Error::file(path, format!("{error}; {advice}"))
}
