//! The machine of 5.4: the engine's `Files` over a disk in memory. It writes down what it is asked,
//! and its disk refuses what it is told to refuse.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use engine_room::serialize::{Files, NewFile};

use super::file_system::{Disk, Op};

/// Who asks more often than this repeats what fails.
pub const MOST_STEPS: usize = 3_000;

/// Which operations the disk refuses, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failing {
    Nothing,
    Only(usize),
    /// This one and all later ones: the disk is gone.
    From(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// The disk has refused it.
    Refused,
    /// It makes no sense on this disk: an error of this kind.
    Impossible(ErrorKind),
}

/// An operation, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub op: Op,
    pub outcome: Outcome,
}

struct State {
    disk: Disk,
    log: Vec<Step>,
    failing: Failing,
    folder: PathBuf,
}

/// A machine with one folder on a disk of its own, and `/`, `/runs` and `/tmp` on another.
pub struct Machine(Rc<RefCell<State>>);

struct Handle {
    state: Rc<RefCell<State>>,
    file: usize,
}

impl Machine {
    pub fn new(files: &BTreeMap<PathBuf, Vec<u8>>, folder: &Path, failing: Failing) -> Machine {
        let (disk, folder) = (Disk::with(files), folder.to_path_buf());
        Machine(Rc::new(RefCell::new(State { disk, log: Vec::new(), failing, folder })))
    }

    /// All that was asked so far.
    pub fn log(&self) -> Vec<Step> {
        self.0.borrow().log.clone()
    }
}

/// What the disk is like after some steps.
pub fn replayed(files: &BTreeMap<PathBuf, Vec<u8>>, log: &[Step]) -> Disk {
    let mut disk = Disk::with(files);
    log.iter().for_each(|step| advance(&mut disk, step));
    disk
}

/// One step further.
pub fn advance(disk: &mut Disk, step: &Step) {
    match step.outcome {
        Outcome::Done => disk.done(&step.op),
        Outcome::Refused => disk.failed(&step.op),
        Outcome::Impossible(_) => {}
    }
}

/// The kind of error with which the disk refuses an operation.
pub fn refusal(op: &Op) -> ErrorKind {
    match op {
        Op::Create(_) | Op::Write(..) => ErrorKind::StorageFull,
        Op::Rename(..) => ErrorKind::PermissionDenied,
        Op::Remove(_) => ErrorKind::ResourceBusy,
        Op::Sync(_) | Op::SyncFolder(_) => ErrorKind::Other,
    }
}

/// The words of that error: which operation it was is in it.
pub fn refusal_words(op: &Op) -> &'static str {
    match op {
        Op::Create(_) => "the disk refuses to make a file",
        Op::Write(..) => "the disk is full",
        Op::Sync(_) => "the disk has lost a block of the file",
        Op::Rename(..) => "the disk refuses to rename",
        Op::Remove(_) => "the disk refuses to remove",
        Op::SyncFolder(_) => "the disk has lost a block of the folder",
    }
}

impl State {
    fn ask(&mut self, op: Op) -> io::Result<()> {
        let number = self.log.len();
        assert!(number < MOST_STEPS, "{number} operations, and no end");
        let refused = match self.failing {
            Failing::Nothing => false,
            Failing::Only(at) => number == at,
            Failing::From(at) => number >= at,
        };
        let outcome = match self.impossible(&op) {
            _ if refused => Outcome::Refused,
            Some(kind) => Outcome::Impossible(kind),
            None => Outcome::Done,
        };
        let step = Step { op, outcome };
        advance(&mut self.disk, &step);
        let answer = match outcome {
            Outcome::Done => Ok(()),
            Outcome::Refused => Err(io::Error::new(refusal(&step.op), refusal_words(&step.op))),
            Outcome::Impossible(kind) => Err(kind.into()),
        };
        self.log.push(step);
        answer
    }

    /// Why this disk cannot do it, if it cannot.
    fn impossible(&self, op: &Op) -> Option<ErrorKind> {
        let folder_of = |path: &Path| path.parent().map(Path::to_path_buf).unwrap_or_default();
        let is_file = |path: &Path| self.disk.file(path).is_some();
        match op {
            Op::Create(path) if is_file(&folder_of(path)) => Some(ErrorKind::NotADirectory),
            Op::Create(path) if self.is_folder(path) => Some(ErrorKind::IsADirectory),
            Op::Create(path) if !self.is_folder(&folder_of(path)) => Some(ErrorKind::NotFound),
            Op::Rename(from, _) if !is_file(from) => Some(ErrorKind::NotFound),
            Op::Rename(from, to) if folder_of(from) != folder_of(to) => {
                Some(ErrorKind::CrossesDevices)
            }
            Op::Remove(path) if !is_file(path) => Some(ErrorKind::NotFound),
            Op::SyncFolder(folder) if is_file(folder) => Some(ErrorKind::NotADirectory),
            Op::SyncFolder(folder) if !self.is_folder(folder) || folder.as_os_str().is_empty() => {
                Some(ErrorKind::NotFound)
            }
            _ => None,
        }
    }

    fn is_folder(&self, path: &Path) -> bool {
        // A name alone is a file in the folder where the program runs.
        let others = ["", ".", "/", "/runs", "/tmp"].map(Path::new);
        path == self.folder || others.contains(&path) || path == std::env::temp_dir()
    }
}

impl Files for Machine {
    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>> {
        self.0.borrow_mut().ask(Op::Create(path.to_path_buf()))?;
        let file = self.0.borrow().disk.file(path).ok_or(ErrorKind::NotFound)?;
        Ok(Box::new(Handle { state: self.0.clone(), file }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.borrow_mut().ask(Op::Rename(from.to_path_buf(), to.to_path_buf()))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.borrow_mut().ask(Op::Remove(path.to_path_buf()))
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.0.borrow_mut().ask(Op::SyncFolder(folder.to_path_buf()))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let seen = self.0.borrow().disk.seen();
        let inside = seen.keys().filter(|path| path.parent() == Some(folder));
        let name = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into());
        Ok(inside.filter_map(name).collect())
    }
}

impl NewFile for Handle {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.state.borrow_mut().ask(Op::Write(self.file, bytes.to_vec()))
    }

    fn sync(&mut self) -> io::Result<()> {
        self.state.borrow_mut().ask(Op::Sync(self.file))
    }
}
