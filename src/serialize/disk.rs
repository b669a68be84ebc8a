//! The real disk as [`Files`].

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::serialize::files::{Files, NewFile};

/// The files of this computer.
///
/// **Links.** Saving to a symbolic link replaces the file that it points to, as writing to it
/// would; the link stays. A link to nothing is refused: it says where the file is to be, but the
/// folder may be one that is not mounted now.
///
/// **Permissions.** The new file gets those of the old one just before it takes its name; owner and
/// extended attributes are those of a new file. A read-only file is refused, though a renaming
/// could replace it: somebody meant to keep it.
///
/// **Windows.** A folder cannot be synced there. The file's content is synced, and NTFS writes
/// renamings to its journal in order, but the last one may be lost in a power failure. A file that
/// some program has mapped into memory cannot be replaced while it is mapped.
#[derive(Debug, Clone, Copy)]
pub struct Disk;

impl Files for Disk {
    /// The file is locked until it is dropped, so that [`is_held`](Files::is_held) sees it. On file
    /// systems without locks every file counts as held.
    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>> {
        // Emptied only after the lock is there, or it would be torn from under whoever has it.
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Err(fs::TryLockError::WouldBlock) => return Err(io::ErrorKind::ResourceBusy.into()),
            Err(fs::TryLockError::Error(_)) | Ok(()) => file.set_len(0)?,
        }
        Ok(Box::new(file))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        if let Ok(old) = fs::metadata(to) {
            fs::set_permissions(from, old.permissions())?;
        }
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        if cfg!(windows) {
            return Ok(());
        }
        File::open(folder)?.sync_all()
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().into_string().ok());
        fs::read_dir(folder)?.map(name).filter_map(io::Result::transpose).collect()
    }

    fn is_held(&self, path: &Path) -> bool {
        File::open(path).is_ok_and(|file| file.try_lock().is_err())
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        let Ok(old) = fs::symlink_metadata(path) else { return Ok(path.to_path_buf()) };
        let target = if old.is_symlink() { fs::canonicalize(path) } else { Ok(path.to_path_buf()) };
        let target = target.map_err(|error| {
            let message = format!("it is a link to a file that cannot be reached ({error})");
            io::Error::other(message)
        })?;
        let old = fs::metadata(&target)?;
        if old.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
        }
        if old.permissions().readonly() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
        }
        Ok(target)
    }
}

impl NewFile for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}
