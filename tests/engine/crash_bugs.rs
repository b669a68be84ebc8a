//! For the engine's tests: a disk on which a save makes a known mistake, whatever the engine asks
//! for. The replay must find each one, or it proves nothing about the engine.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use engine_room::serialize::{Files, NewFile};

use crate::crash_disk::CrashDisk;

/// The mistakes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bug {
    /// The content is never synced.
    NoSync,
    /// The folder is never synced.
    NoFolderSync,
    /// The content is synced after the renaming.
    RenameFirst,
    /// The old file is opened for writing.
    InPlace,
    /// A failed save leaves its new file.
    KeepTemporary,
    /// Old checkpoints are removed before the new one is written.
    DeleteFirst,
    /// Old checkpoints are removed after the renaming and before the folder is synced.
    DeleteEarly,
}

/// The disk with a mistake.
#[derive(Clone)]
pub struct Planted {
    pub disk: CrashDisk,
    pub bug: Bug,
    /// Files whose sync was put off.
    late: Arc<Mutex<Vec<usize>>>,
}

struct PlantedFile {
    inner: Box<dyn NewFile>,
    number: usize,
    disk: Planted,
}

impl Planted {
    pub fn new(disk: &CrashDisk, bug: Bug) -> Planted {
        Planted { disk: disk.clone(), bug, late: Arc::default() }
    }

    /// Removes every checkpoint that the folder has.
    fn delete(&self, folder: &Path, but: Option<&str>) -> io::Result<()> {
        let names = self.disk.list(folder)?;
        let old = |name: &&String| !name.starts_with('.') && Some(name.as_str()) != but;
        names.iter().filter(old).try_for_each(|name| self.disk.remove(&folder.join(name)))
    }
}

impl Files for Planted {
    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>> {
        if self.bug == Bug::DeleteFirst {
            self.delete(path.parent().expect("a folder"), None)?;
        }
        let number = self.disk.next_file();
        let path = if self.bug == Bug::InPlace { target(path) } else { path.to_path_buf() };
        let inner = self.disk.create(&path)?;
        Ok(Box::new(PlantedFile { inner, number, disk: self.clone() }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        if self.bug == Bug::InPlace {
            return Ok(());
        }
        self.disk.rename(from, to)?;
        if self.bug == Bug::DeleteEarly {
            let new = to.file_name().and_then(|name| name.to_str());
            self.delete(to.parent().expect("a folder"), new)?;
        }
        let mut late = self.late.lock().expect("no panic holds it");
        late.drain(..).try_for_each(|file| self.disk.sync_file(file))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        if self.bug == Bug::KeepTemporary { Ok(()) } else { self.disk.remove(path) }
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        if self.bug == Bug::NoFolderSync { Ok(()) } else { self.disk.sync_folder(folder) }
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        self.disk.list(folder)
    }
}

impl NewFile for PlantedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.inner.write(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        match self.disk.bug {
            Bug::NoSync => Ok(()),
            Bug::RenameFirst => {
                self.disk.late.lock().expect("no panic holds it").push(self.number);
                Ok(())
            }
            _ => self.inner.sync(),
        }
    }
}

/// The file that a new one beside it is to replace: `.NAME.RANDOM.saving`.
fn target(path: &Path) -> PathBuf {
    let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
    let parts: Vec<&str> = name.split('.').collect();
    path.with_file_name(parts[1..parts.len() - 2].join("."))
}
