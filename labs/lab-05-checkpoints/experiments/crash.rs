//! Four ways to replace a file, each stopped after every one of its operations.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use engine_room::serialize::{Files, NewFile, replace};
use engine_room_labs::{Cell, LabArgs, Output, Table};

use crate::exercise;
use crate::file_system::{Disk, Op};

const FOLDER: &str = "run";
const FILE: &str = "run/model.safetensors";
const BESIDE: &str = "run/model.safetensors.new";
const OLD: &[u8] = &[1; 256];
/// Longer than the old content, and written in two halves: a process can die between them.
const NEW: &[u8] = &[2; 512];

/// A way to put new content under a name.
type Way = fn(&dyn Files, &Path, &[u8]) -> io::Result<()>;

/// Prints a row a way.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.say(
        "A file holds the old content and is to get the new one. Each way to save is stopped\n\
         after each of its steps. What can be read then, if the process is killed, if the\n\
         machine stops, and if it stops after the program was told that the file is saved:\n",
    );
    let mut ways: Vec<(&str, Way)> = vec![
        ("over the old file", over),
        ("beside, rename", renamed),
        ("beside, sync, rename", synced),
        ("the same, sync folder", engine),
    ];
    if args.mine {
        ways.push(("yours", exercise::save));
    }
    let mut table = Table::new()
        .column("way", "way to save", "")
        .column("operations", "steps", "")
        .column("killed", "process killed", "")
        .column("stopped", "machine stops", "")
        .column("reported", "after 'saved'", "");
    for (name, way) in ways {
        let ops = operations(way).map_err(|error| format!("{name}: {error}"))?;
        let stops = |from: usize| (from..=ops.len()).map(|count| &ops[..count]);
        table.row([
            name.into(),
            Cell::Count(ops.len() as u64),
            words(stops(0).flat_map(killed)),
            words(stops(0).flat_map(stopped)),
            words(stops(ops.len()).flat_map(stopped)),
        ]);
    }
    output.table("rows", &table);
    Ok(())
}

fn over(files: &dyn Files, path: &Path, bytes: &[u8]) -> io::Result<()> {
    halves(&mut *files.create(path)?, bytes)
}

fn renamed(files: &dyn Files, path: &Path, bytes: &[u8]) -> io::Result<()> {
    halves(&mut *files.create(Path::new(BESIDE))?, bytes)?;
    files.rename(Path::new(BESIDE), path)
}

fn synced(files: &dyn Files, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = files.create(Path::new(BESIDE))?;
    halves(&mut *file, bytes)?;
    file.sync()?;
    files.rename(Path::new(BESIDE), path)
}

fn engine(files: &dyn Files, path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(files, path, &mut |file| halves(file, bytes)).map_err(io::Error::other)
}

fn halves(file: &mut dyn NewFile, bytes: &[u8]) -> io::Result<()> {
    let (first, second) = bytes.split_at(bytes.len() / 2);
    file.write(first)?;
    file.write(second)
}

/// The disk before anybody saves.
fn disk() -> Disk {
    Disk::with(&BTreeMap::from([(PathBuf::from(FILE), OLD.to_vec())]))
}

/// What a read finds if the process dies after these operations: the system does the rest.
fn killed(ops: &[Op]) -> Vec<Option<Vec<u8>>> {
    let mut disk = disk();
    ops.iter().for_each(|op| disk.done(op));
    vec![disk.seen().remove(Path::new(FILE))]
}

/// Everything that a read can find if the machine stops after these operations.
fn stopped(ops: &[Op]) -> Vec<Option<Vec<u8>>> {
    let mut disk = disk();
    ops.iter().for_each(|op| disk.done(op));
    disk.after_crash(Path::new(FILE))
}

/// The contents in words, each once.
fn words(found: impl Iterator<Item = Option<Vec<u8>>>) -> Cell {
    // Numbered, so that the good ones come first.
    let word = |content: Option<Vec<u8>>| match content.as_deref() {
        Some(OLD) => (0, "old"),
        Some(NEW) => (1, "new"),
        Some(_) => (2, "DAMAGED"),
        None => (3, "NO FILE"),
    };
    let words: BTreeSet<(u8, &str)> = found.map(word).collect();
    words.into_iter().map(|(_, word)| word).collect::<Vec<&str>>().join(" or ").into()
}

/// What a way asks of the disk, in order.
fn operations(way: Way) -> io::Result<Vec<Op>> {
    let log = Log { disk: Rc::new(RefCell::new(disk())), ops: Rc::default() };
    way(&log, Path::new(FILE), NEW)?;
    Ok(log.ops.take())
}

/// A disk that writes down what it is asked.
#[derive(Clone)]
struct Log {
    disk: Rc<RefCell<Disk>>,
    ops: Rc<RefCell<Vec<Op>>>,
}

impl Log {
    fn op(&self, op: Op) {
        self.disk.borrow_mut().done(&op);
        self.ops.borrow_mut().push(op);
    }
}

impl Files for Log {
    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>> {
        self.op(Op::Create(path.to_path_buf()));
        let number = self.disk.borrow().file(path).expect("it was just made");
        Ok(Box::new(Open { log: self.clone(), number }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.op(Op::Rename(from.to_path_buf(), to.to_path_buf()));
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.op(Op::Remove(path.to_path_buf()));
        Ok(())
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        assert_eq!(folder, Path::new(FOLDER), "there is one folder");
        self.op(Op::SyncFolder(folder.to_path_buf()));
        Ok(())
    }
}

struct Open {
    log: Log,
    number: usize,
}

impl NewFile for Open {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.log.op(Op::Write(self.number, bytes.to_vec()));
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.log.op(Op::Sync(self.number));
        Ok(())
    }
}
