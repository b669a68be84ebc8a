//! The disk of 5.4, in memory: what programs see of it, what a crash leaves of it, and a log of all
//! that was asked of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A block reaches the disk whole or not at all. Small, so that short contents have several.
const BLOCK: usize = 64;

/// Something that a program asks of the disk. Files are numbers: their names may change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    Create(PathBuf),
    Write(usize, Vec<u8>),
    Sync(usize),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
    SyncFolder(PathBuf),
}

/// A change of a file that need not be on the disk yet.
#[derive(Debug, Clone)]
enum Change {
    Emptied,
    Appended(Vec<u8>),
}

#[derive(Debug, Clone, Default)]
struct File {
    /// What was on the disk after the last sync.
    synced: Vec<u8>,
    /// What came since then, in order.
    unsynced: Vec<Change>,
    /// A sync has failed. The system has forgotten which blocks it owes to the disk, so that later
    /// ones succeed and write nothing. Linux behaves like this.
    gave_up: bool,
}

/// Names that come to stand for a file, or for none, all at once.
#[derive(Debug, Clone)]
struct Renaming {
    names: Vec<(PathBuf, Option<usize>)>,
    /// A sync of the folder has failed since, and later ones do not bring it to the disk: see
    /// [`File::gave_up`].
    gave_up: bool,
}

/// All names and files.
#[derive(Debug, Clone, Default)]
pub struct Disk {
    /// The names as programs see them.
    names: BTreeMap<PathBuf, usize>,
    /// The names that were on the disk after the last syncs of their folders.
    synced: BTreeMap<PathBuf, usize>,
    /// The changes of names since then, in order. Each is on the disk as a whole or not at all.
    unsynced: Vec<Renaming>,
    files: Vec<File>,
}

impl Disk {
    /// A disk with these files, all of them synced.
    pub fn with(files: &BTreeMap<PathBuf, Vec<u8>>) -> Disk {
        let mut disk = Disk::default();
        for (path, bytes) in files {
            disk.names.insert(path.clone(), disk.files.len());
            disk.files.push(File { synced: bytes.clone(), ..File::default() });
        }
        disk.synced = disk.names.clone();
        disk
    }

    /// The number of the file that has this name now.
    pub fn file(&self, path: &Path) -> Option<usize> {
        self.names.get(path).copied()
    }

    /// The name that a file has now.
    pub fn name(&self, file: usize) -> Option<&Path> {
        let found = self.names.iter().find(|(_, number)| **number == file);
        found.map(|(path, _)| path.as_path())
    }

    /// What programs see: every name with its content.
    pub fn seen(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let content = |&file: &usize| self.files[file].after(self.files[file].unsynced.len());
        self.names.iter().map(|(path, file)| (path.clone(), content(file))).collect()
    }

    /// Everything that a file of this name may be after a crash: none, or a content.
    pub fn after_crash(&self, path: &Path) -> Vec<Option<Vec<u8>>> {
        let mut found = Vec::new();
        for kept in 0..=self.unsynced.len() {
            match self.names_after(kept).get(path) {
                Some(&file) => found.extend(self.files[file].after_crash().map(Some)),
                None => found.push(None),
            }
        }
        found.sort();
        found.dedup();
        found
    }

    /// Disks as a crash may leave them: the last names and the synced ones, each time with the
    /// least and the most of every content.
    pub fn crashed(&self) -> Vec<BTreeMap<PathBuf, Vec<u8>>> {
        let mut found = Vec::new();
        for kept in [0, self.unsynced.len()] {
            let names = self.names_after(kept);
            for least in [true, false] {
                let content = |&file: &usize| {
                    let file = &self.files[file];
                    file.after(if least { 0 } else { file.unsynced.len() })
                };
                let files = names.iter().map(|(path, file)| (path.clone(), content(file)));
                found.push(files.collect());
            }
        }
        found
    }

    /// The names on the disk if so many of the changes since the last sync have reached it.
    fn names_after(&self, kept: usize) -> BTreeMap<PathBuf, usize> {
        let mut names = self.synced.clone();
        self.unsynced[..kept].iter().for_each(|renaming| renaming.apply(&mut names));
        names
    }

    /// Does what is asked. It is possible: whoever calls this has looked.
    pub fn done(&mut self, op: &Op) {
        match op {
            Op::Create(path) => {
                let file = self.file(path).unwrap_or(self.files.len());
                if file < self.files.len() {
                    self.files[file].unsynced.push(Change::Emptied);
                    self.files[file].gave_up = false;
                } else {
                    self.files.push(File::default());
                    self.rename(vec![(path.clone(), Some(file))]);
                }
            }
            Op::Write(file, bytes) => {
                self.files[*file].unsynced.push(Change::Appended(bytes.clone()));
            }
            Op::Sync(file) => self.files[*file].sync(),
            Op::Rename(from, to) => {
                let file = self.file(from);
                self.rename(vec![(from.clone(), None), (to.clone(), file)]);
            }
            Op::Remove(path) => self.rename(vec![(path.clone(), None)]),
            Op::SyncFolder(folder) => self.sync_folder(folder),
        }
    }

    /// Fails to do what is asked: half of what is written is there all the same.
    pub fn failed(&mut self, op: &Op) {
        match op {
            Op::Write(file, bytes) => {
                let half = bytes[..bytes.len() / 2].to_vec();
                self.files[*file].unsynced.push(Change::Appended(half));
            }
            Op::Sync(file) => self.files[*file].gave_up = true,
            Op::SyncFolder(folder) => {
                let inside = self.unsynced.iter_mut().filter(|renaming| renaming.is_in(folder));
                inside.for_each(|renaming| renaming.gave_up = true);
            }
            _ => {}
        }
    }

    fn rename(&mut self, names: Vec<(PathBuf, Option<usize>)>) {
        let renaming = Renaming { names, gave_up: false };
        renaming.apply(&mut self.names);
        self.unsynced.push(renaming);
    }

    fn sync_folder(&mut self, folder: &Path) {
        let due = |renaming: &mut Renaming| renaming.is_in(folder) && !renaming.gave_up;
        for renaming in self.unsynced.extract_if(.., due).collect::<Vec<_>>() {
            renaming.apply(&mut self.synced);
            // What was given up and concerned the same name no longer matters.
            self.unsynced.retain(|other| !other.gave_up || !other.shares_a_name(&renaming));
        }
    }
}

impl Renaming {
    fn apply(&self, names: &mut BTreeMap<PathBuf, usize>) {
        for (path, file) in &self.names {
            match file {
                Some(file) => names.insert(path.clone(), *file),
                None => names.remove(path),
            };
        }
    }

    /// Nothing is ever renamed from one folder into another.
    fn is_in(&self, folder: &Path) -> bool {
        self.names.iter().all(|(path, _)| path.parent() == Some(folder))
    }

    fn shares_a_name(&self, other: &Renaming) -> bool {
        self.names.iter().any(|(path, _)| other.names.iter().any(|(name, _)| name == path))
    }
}

impl File {
    /// The content if so many of the changes since the last sync have reached the disk.
    fn after(&self, kept: usize) -> Vec<u8> {
        let mut bytes = self.synced.clone();
        for change in &self.unsynced[..kept] {
            match change {
                Change::Emptied => bytes.clear(),
                Change::Appended(more) => bytes.extend(more),
            }
        }
        bytes
    }

    /// Every content that a crash may leave: of the changes since the last sync a part is missing,
    /// or the length has reached the disk and the blocks have not.
    fn after_crash(&self) -> impl Iterator<Item = Vec<u8>> {
        let mut found = vec![self.synced.clone()];
        for (kept, change) in self.unsynced.iter().enumerate() {
            let before = self.after(kept);
            let whole = self.after(kept + 1);
            if let Change::Appended(_) = change {
                let torn = (before.len()..whole.len()).filter(|length| length % BLOCK == 0);
                found.extend(torn.map(|length| whole[..length].to_vec()));
                found.push([before.clone(), vec![0; whole.len() - before.len()]].concat());
            }
            found.push(whole);
        }
        found.into_iter()
    }

    fn sync(&mut self) {
        if !self.gave_up {
            self.synced = self.after(self.unsynced.len());
            self.unsynced.clear();
        }
    }
}
