//! For the engine's tests: a disk that crashes and fails.
//!
//! It is one folder in memory. It remembers each operation, so a test can ask what a power failure
//! after the first n of them could leave. The rules are POSIX's, which promise little:
//!
//! - What was written and not synced may be there, or not, or in part: any number of its first
//!   bytes, or any of its blocks with the old ones, or zeros, between them.
//! - A name that was made, moved or removed since the folder was synced may be as it was before,
//!   each independently of the others.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use engine_room::serialize::{Files, NewFile};

/// What is in the folder: contents by name.
pub type Folder = BTreeMap<String, Vec<u8>>;

/// One operation that changed something.
#[derive(Debug, Clone)]
enum Op {
    Create(String),
    Write(usize, Vec<u8>),
    Sync(usize),
    Rename(String, String),
    Remove(String),
    SyncFolder,
}

/// A file: what programs see, and what is safe.
#[derive(Debug, Clone, Default)]
struct Content {
    seen: Vec<u8>,
    synced: Vec<u8>,
}

/// A change of the folder that was not synced. Files are known by number: a name may change.
#[derive(Debug, Clone)]
enum Change {
    Made(String, usize),
    Moved(String, String, usize),
    Removed(String),
}

/// A folder and its files.
#[derive(Debug, Clone, Default)]
struct State {
    files: Vec<Content>,
    seen: BTreeMap<String, usize>,
    synced: BTreeMap<String, usize>,
    changes: Vec<Change>,
}

/// An operation that fails, counted from 0 over all operations.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    pub at: usize,
    /// How many bytes still arrive if it is a write.
    pub bytes: usize,
    /// Whether everything after it fails too.
    pub lasting: bool,
}

#[derive(Debug, Default)]
struct Inner {
    start: State,
    now: State,
    log: Vec<Op>,
    /// Operations that were asked for, also those that failed.
    asked: usize,
    fault: Option<Fault>,
}

/// The disk. A clone is another handle on the same one.
#[derive(Debug, Clone, Default)]
pub struct CrashDisk(Arc<Mutex<Inner>>);

impl CrashDisk {
    /// What programs see.
    pub fn folder(&self) -> Folder {
        let now = &self.inner().now;
        now.seen.iter().map(|(name, &at)| (name.clone(), now.files[at].seen.clone())).collect()
    }

    /// Syncs everything and begins to remember and to count anew; nothing fails until told to.
    pub fn settle(&self) {
        let mut inner = self.inner();
        inner.now.files.iter_mut().for_each(|file| file.synced = file.seen.clone());
        inner.now.apply(&Op::SyncFolder);
        *inner = Inner { start: inner.now.clone(), now: inner.now.clone(), ..Inner::default() };
    }

    /// Makes one operation fail.
    pub fn fail(&self, fault: Fault) {
        self.inner().fault = Some(fault);
    }

    /// How many operations were asked for since it was settled.
    pub fn asked(&self) -> usize {
        self.inner().asked
    }

    /// How many operations changed something: the moments at which it can crash.
    pub fn done(&self) -> usize {
        self.inner().log.len()
    }

    /// All that a crash after the first `count` operations could leave.
    pub fn after_crash(&self, count: usize) -> BTreeSet<Folder> {
        let inner = self.inner();
        let mut state = inner.start.clone();
        inner.log[..count].iter().for_each(|op| state.apply(op));
        state.survivors()
    }

    /// Syncs a file by its number; for disks with planted bugs.
    pub fn sync_file(&self, file: usize) -> io::Result<()> {
        self.run(Op::Sync(file))
    }

    /// The number that the next file that is created gets, if it is a new one.
    pub fn next_file(&self) -> usize {
        self.inner().now.files.len()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().expect("no test panics while it holds the disk")
    }

    /// Does the operation, unless it is the one that fails.
    fn run(&self, op: Op) -> io::Result<()> {
        let mut inner = self.inner();
        let at = inner.asked;
        inner.asked += 1;
        let fault = inner.fault.filter(|fault| at == fault.at || (fault.lasting && at > fault.at));
        let op = match (op, fault) {
            (op, None) => op,
            (Op::Write(file, bytes), Some(fault)) if at == fault.at => {
                Op::Write(file, bytes[..fault.bytes.min(bytes.len())].to_vec())
            }
            _ => return Err(io::ErrorKind::StorageFull.into()),
        };
        inner.now.apply(&op);
        inner.log.push(op);
        fault.map_or(Ok(()), |_| Err(io::ErrorKind::StorageFull.into()))
    }
}

impl Files for CrashDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>> {
        let name = name(path);
        self.run(Op::Create(name.clone()))?;
        let file = self.inner().now.seen[&name];
        Ok(Box::new(Open { disk: self.clone(), file }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.present(from)?;
        self.run(Op::Rename(name(from), name(to)))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.present(path)?;
        self.run(Op::Remove(name(path)))
    }

    fn sync_folder(&self, _folder: &Path) -> io::Result<()> {
        self.run(Op::SyncFolder)
    }

    fn list(&self, _folder: &Path) -> io::Result<Vec<String>> {
        Ok(self.inner().now.seen.keys().cloned().collect())
    }
}

impl CrashDisk {
    fn present(&self, path: &Path) -> io::Result<()> {
        let there = self.inner().now.seen.contains_key(&name(path));
        if there { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    }
}

struct Open {
    disk: CrashDisk,
    file: usize,
}

impl NewFile for Open {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.disk.run(Op::Write(self.file, bytes.to_vec()))
    }

    fn sync(&mut self) -> io::Result<()> {
        self.disk.sync_file(self.file)
    }
}

impl State {
    fn apply(&mut self, op: &Op) {
        match op {
            Op::Create(name) => match self.seen.get(name) {
                Some(&file) => self.files[file].seen.clear(),
                None => {
                    self.files.push(Content::default());
                    self.change(Change::Made(name.clone(), self.files.len() - 1));
                }
            },
            Op::Write(file, bytes) => self.files[*file].seen.extend(bytes),
            Op::Sync(file) => self.files[*file].synced = self.files[*file].seen.clone(),
            Op::Rename(from, to) => {
                let file = self.seen[from];
                self.change(Change::Moved(from.clone(), to.clone(), file));
            }
            Op::Remove(name) => self.change(Change::Removed(name.clone())),
            Op::SyncFolder => {
                self.synced = self.seen.clone();
                self.changes.clear();
            }
        }
    }

    fn change(&mut self, change: Change) {
        change.apply(&mut self.seen);
        self.changes.push(change);
    }

    /// Every subset of the changes of names, with every content that the files could have.
    fn survivors(&self) -> BTreeSet<Folder> {
        let mut all = BTreeSet::new();
        for kept in 0..1_usize << self.changes.len() {
            let mut names = self.synced.clone();
            for (at, change) in self.changes.iter().enumerate() {
                if kept >> at & 1 == 1 {
                    change.apply(&mut names);
                }
            }
            // One file at a time is torn, with the others at either end: each could be torn alone.
            all.extend(self.contents(&names, None));
            all.extend(names.keys().flat_map(|torn| self.contents(&names, Some(torn))));
        }
        all
    }

    /// The folders that have these names.
    fn contents(&self, names: &BTreeMap<String, usize>, torn: Option<&String>) -> Vec<Folder> {
        let mut folders = vec![Folder::new()];
        for (name, &file) in names {
            let content = &self.files[file];
            let contents = match torn == Some(name) {
                true => content.survivors(),
                false => BTreeSet::from([content.synced.clone(), content.seen.clone()]),
            };
            let with = |folder: &Folder| {
                let (folder, name) = (folder.clone(), name.clone());
                contents.iter().map(move |content| {
                    let mut folder = folder.clone();
                    folder.insert(name.clone(), content.clone());
                    folder
                })
            };
            folders = folders.iter().flat_map(with).collect();
        }
        folders
    }
}

impl Change {
    fn apply(&self, names: &mut BTreeMap<String, usize>) {
        match self {
            Change::Made(name, file) => {
                names.insert(name.clone(), *file);
            }
            Change::Moved(from, to, file) => {
                names.remove(from);
                names.insert(to.clone(), *file);
            }
            Change::Removed(name) => {
                names.remove(name);
            }
        }
    }
}

/// How many blocks a file has: few, so that every subset of them can be tried.
const BLOCKS: usize = 5;

impl Content {
    fn survivors(&self) -> BTreeSet<Vec<u8>> {
        let (new, old) = (&self.seen, &self.synced);
        let mut all = BTreeSet::from([old.clone(), new.clone()]);
        if new == old {
            return all;
        }
        all.extend((0..new.len()).map(|count| new[..count].to_vec()));
        let size = new.len().div_ceil(BLOCKS).max(1);
        for kept in 0..1_usize << new.len().div_ceil(size) {
            let byte = |at: usize| match kept >> (at / size) & 1 {
                1 => new[at],
                _ => old.get(at).copied().unwrap_or(0),
            };
            all.insert((0..new.len()).map(byte).collect());
        }
        all
    }
}

fn name(path: &Path) -> String {
    path.file_name().and_then(|name| name.to_str()).expect("a file in the folder").to_string()
}
