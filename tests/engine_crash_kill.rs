//! A process that saves in a loop is killed 200 times: what it leaves loads whole, old or new.
//! Named in .ci/run: it starts 200 processes.
//!
//! The moments come from a generator: so many operations and pieces of 64 bytes after the start. At
//! the moment the child says so, and every other time it waits there for its end; else it goes on
//! until the signal arrives, somewhere behind.

#[path = "engine/scratch.rs"]
mod scratch;

use std::env;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use engine_room::Tensor;
use engine_room::rng::Generator;
use engine_room::serialize::{
    Checkpoint, Checkpoints, Disk, Files, MapLocation, NewFile, StateDict, load_file, save_with,
};
use scratch::Scratch;

const SEED: u64 = 2026;
const KILLS: usize = 200;
/// About ten saves of the child.
const MOMENTS: usize = 800;
const NAME: &str = "x.safetensors";

fn main() {
    let arguments: Vec<String> = env::args().collect();
    if let [_, role, folder, start, moment, waits] = &arguments[..]
        && role == "child"
    {
        let number = |text: &String| text.parse().expect("a number");
        let moment = Arc::new(AtomicUsize::new(number(moment)));
        let files = Counted { moment, waits: waits == "true" };
        return save_for_ever(Path::new(folder), files, number(start) as u64);
    }
    println!("seed {SEED}");
    let (mut generator, scratch) = (Generator::new(SEED), Scratch::new("kill"));
    let (mut saved, mut unnoticed) = (0, 0);
    for kill in 0..KILLS {
        let moment = 1 + generator.below(MOMENTS);
        let reported = saves_until_killed(scratch.path(), saved, moment, kill % 2 == 0);
        saved = whole(scratch.path(), reported)
            .unwrap_or_else(|fault| panic!("kill {kill}, moment {moment}: {fault}"));
        unnoticed += u64::from(saved > reported);
    }
    let left = scratch.names().len();
    println!(
        "{KILLS} kills, {saved} saves, {unnoticed} of them done and not reported; {left} files"
    );
    assert!(saved > 2 * KILLS as u64 && left <= 4, "{:?}", scratch.names());
}

/// The child: saves a number, then the next one, both as one file and among checkpoints.
fn save_for_ever(folder: &Path, files: Counted, start: u64) {
    let checkpoints = Checkpoints::on(Box::new(files.clone()), folder, 1);
    for value in start + 1.. {
        save_with(&files, &folder.join(NAME), &state(value), &[]).expect("room");
        checkpoints.save(&Checkpoint::new(value).tensor("x", &tensor(value))).expect("room");
        println!("{value}");
    }
}

fn tensor(value: u64) -> Tensor {
    Tensor::full(&[300], value as f32)
}

fn state(value: u64) -> StateDict {
    let mut state = StateDict::new();
    for name in ["a", "b", "c"] {
        state.insert(name, tensor(value)).expect("no name twice");
    }
    state
}

/// Kills a child at a moment. The last number of which it has said that it is saved.
fn saves_until_killed(folder: &Path, start: u64, moment: usize, waits: bool) -> u64 {
    let program = env::current_exe().expect("this program");
    let mut child = Command::new(program)
        .arg("child")
        .arg(folder)
        .args([start.to_string(), moment.to_string(), waits.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process");
    let last = reported(&mut child, start);
    child.wait().expect("it was killed");
    last
}

/// What the child says, to the end; it is killed when it says that the moment is there.
fn reported(child: &mut Child, start: u64) -> u64 {
    let said = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut last = start;
    for line in said.lines() {
        match line.expect("text").as_str() {
            "now" => child.kill().expect("it runs"),
            value => last = value.parse().unwrap_or(last),
        }
    }
    last
}

/// The number that is saved: the last one that was reported or the next one, in both forms.
fn whole(folder: &Path, reported: u64) -> Result<u64, String> {
    let path = folder.join(NAME);
    let file = match path.exists() {
        false => 0,
        true => {
            let loaded =
                load_file(&path, &MapLocation::Saved).map_err(|error| error.to_string())?;
            let values = loaded.iter().flat_map(|(_, x)| x.to_vec::<f32>());
            one(values.collect(), 900)?
        }
    };
    let latest = Checkpoints::new(folder, 1).latest(&MapLocation::Saved);
    let checkpoint = match latest.map_err(|error| error.to_string())? {
        None => 0,
        Some(latest) if latest.damaged.is_empty() => {
            let x = latest.run.tensor("x").map_err(|error| error.to_string())?;
            (one(x.to_vec(), 300)? == latest.run.step())
                .then_some(latest.run.step())
                .ok_or("mixed")?
        }
        Some(latest) => return Err(format!("{:?}", latest.damaged)),
    };
    let leftovers = std::fs::read_dir(folder).expect("it is there").count();
    // The file comes first, so it may be one ahead.
    let right = [(reported, reported), (reported + 1, reported), (reported + 1, reported + 1)];
    match right.contains(&(file, checkpoint)) && leftovers <= 5 {
        true => Ok(checkpoint),
        false => Err(format!("reported {reported}, file {file}, checkpoint {checkpoint}")),
    }
}

fn one(values: Vec<f32>, count: usize) -> Result<u64, String> {
    match values.iter().all(|&value| value == values[0]) && values.len() == count {
        true => Ok(values[0] as u64),
        false => Err(format!("{} values, not all equal", values.len())),
    }
}

/// The disk, with a moment at which the parent is told.
#[derive(Clone)]
struct Counted {
    moment: Arc<AtomicUsize>,
    waits: bool,
}

struct CountedFile(Box<dyn NewFile>, Counted);

impl Counted {
    fn count(&self) {
        if self.moment.fetch_sub(1, Ordering::Relaxed) != 1 {
            return;
        }
        println!("now");
        io::stdout().flush().expect("the parent reads");
        if self.waits {
            // For ever, or until the parent is gone.
            let _ = io::stdin().read(&mut [0]);
        }
    }
}

impl Files for Counted {
    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>> {
        self.count();
        Ok(Box::new(CountedFile(Disk.create(path)?, self.clone())))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.count();
        Disk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.count();
        Disk.remove(path)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.count();
        Disk.sync_folder(folder)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        Disk.list(folder)
    }

    fn is_held(&self, path: &Path) -> bool {
        Disk.is_held(path)
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        Disk.resolve(path)
    }
}

impl NewFile for CountedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        for piece in bytes.chunks(64) {
            self.1.count();
            self.0.write(piece)?;
        }
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.1.count();
        self.0.sync()
    }
}
