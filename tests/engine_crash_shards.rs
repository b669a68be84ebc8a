//! Crashes and failures while a checkpoint of several files is saved, replayed on a model of a
//! disk: the old checkpoint or the new one loads, and never files of both.

#[path = "engine/crash_bugs.rs"]
mod crash_bugs;
#[path = "engine/crash_disk.rs"]
mod crash_disk;
#[path = "engine/scratch.rs"]
mod scratch;

use std::collections::HashMap;
use std::io;
use std::path::Path;

use crash_bugs::{Bug, Planted};
use crash_disk::{CrashDisk, Fault, Folder};
use engine_room::serialize::{
    Files, MapLocation, NewFile, StateDict, load_sharded, save_sharded, save_sharded_with,
};
use engine_room::{Error, Tensor};
use scratch::Scratch;

/// Limits in bytes for three files, two, and one.
const LIMITS: [u64; 3] = [8, 16, 1000];

fn state(value: f32) -> StateDict {
    let mut state = StateDict::new();
    for name in ["a", "b", "c"] {
        state.insert(name, Tensor::full(&[2], value)).expect("no name twice");
    }
    state
}

/// A disk and a real folder with the same checkpoint: the engine reads what is there from the disk
/// itself, and writes to the model.
struct Scene {
    disk: CrashDisk,
    real: Scratch,
}

impl Scene {
    /// With 1 saved in files of this size.
    fn new(limit: u64) -> Scene {
        let scene = Scene { disk: CrashDisk::default(), real: Scratch::new("shards") };
        scene.save(&scene.disk, 1.0, limit).expect("nothing fails");
        scene.settle();
        scene
    }

    fn save(&self, files: &dyn Files, value: f32, limit: u64) -> Result<(), Error> {
        let files = Mirrored { files, scene: self };
        save_sharded_with(&files, self.real.path(), &state(value), limit)
    }

    /// Both as the programs saw the model last.
    fn settle(&self) {
        self.disk.settle();
        self.real.fill(&self.disk.folder());
    }
}

/// A file system over the model whose names the real folder follows.
struct Mirrored<'a> {
    files: &'a dyn Files,
    scene: &'a Scene,
}

impl Files for Mirrored<'_> {
    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>> {
        self.files.create(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.files.rename(from, to)?;
        self.scene.real.fill(&self.scene.disk.folder());
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.files.remove(path)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.files.sync_folder(folder)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        self.files.list(folder)
    }
}

/// Loads folders; each one once, since many crashes leave the same.
struct Loader {
    scratch: Scratch,
    known: HashMap<Folder, Result<f32, String>>,
}

impl Loader {
    fn new() -> Loader {
        Loader { scratch: Scratch::new("shards-loaded"), known: HashMap::new() }
    }

    /// The number in all tensors.
    fn value(&mut self, folder: &Folder) -> Result<f32, String> {
        let visible = folder.iter().filter(|(name, _)| !name.starts_with('.'));
        let visible: Folder = visible.map(|(name, bytes)| (name.clone(), bytes.clone())).collect();
        if let Some(known) = self.known.get(&visible) {
            return known.clone();
        }
        self.scratch.fill(&visible);
        let loaded = load_sharded(self.scratch.path(), &MapLocation::Saved);
        let value = loaded.map_err(|error| error.to_string()).and_then(|loaded| {
            let all: Vec<f32> = loaded.iter().flat_map(|(_, x)| x.to_vec::<f32>()).collect();
            let whole = all.len() == 6 && all.iter().all(|&value| value == all[0]);
            whole.then(|| all[0]).ok_or(format!("{all:?}"))
        });
        self.known.insert(visible, value.clone());
        value
    }

    /// Every crash during and after a save of 2 over 1; what it has left that is not right.
    fn replayed(&mut self, disk: &CrashDisk, outcome: &Result<(), Error>) -> Vec<String> {
        let mut faults = Vec::new();
        for count in 0..=disk.done() {
            let saved = outcome.is_ok() && count == disk.done();
            for folder in disk.after_crash(count) {
                match self.value(&folder) {
                    Ok(2.0) => {}
                    Ok(1.0) if !saved => {}
                    other => faults.push(format!("after {count} operations: {other:?}")),
                }
            }
        }
        faults
    }
}

#[test]
fn a_crash_leaves_one_checkpoint_whole() {
    let mut loader = Loader::new();
    for old in LIMITS {
        for new in LIMITS {
            let scene = Scene::new(old);
            let outcome = scene.save(&scene.disk, 2.0, new);
            assert_eq!(outcome, Ok(()));
            let faults = loader.replayed(&scene.disk, &outcome);
            assert_eq!(faults, [""; 0], "files of {old} bytes, then of {new}");
        }
    }
    println!("{} folders were loaded", loader.known.len());
}

#[test]
fn the_replay_finds_each_planted_mistake() {
    let mut loader = Loader::new();
    for bug in [Bug::NoSync, Bug::NoFolderSync, Bug::RenameFirst, Bug::DeleteFirst] {
        let scene = Scene::new(LIMITS[1]);
        let outcome = scene.save(&Planted::new(&scene.disk, bug), 2.0, LIMITS[1]);
        let faults = loader.replayed(&scene.disk, &outcome);
        println!("{bug:?}: {} crashes, such as {:?}", faults.len(), faults.first());
        assert!(!faults.is_empty(), "{bug:?} was not found");
    }
}

#[test]
fn each_operation_that_fails_leaves_one_checkpoint_whole() {
    let mut loader = Loader::new();
    let fresh = |limit| {
        let scratch = Scratch::new("shards-fresh");
        save_sharded(scratch.path(), &state(3.0), limit).expect("room");
        scratch.names().len()
    };
    for (old, new) in [(LIMITS[0], LIMITS[0]), (LIMITS[0], LIMITS[2]), (LIMITS[2], LIMITS[1])] {
        let scene = Scene::new(old);
        scene.save(&scene.disk, 2.0, new).expect("nothing fails");
        for at in 0..scene.disk.asked() {
            let scene = Scene::new(old);
            scene.disk.fail(Fault { at, bytes: 8, lasting: false });
            let outcome = scene.save(&scene.disk, 2.0, new);
            assert!(outcome.is_err(), "operation {at} failed");
            let faults = loader.replayed(&scene.disk, &outcome);
            assert_eq!(faults, [""; 0], "{old} then {new}, operation {at}: {outcome:?}");
            let names: Vec<String> = scene.disk.folder().into_keys().collect();
            assert!(!names.iter().any(|name| name.ends_with(".saving")), "{at}: {names:?}");
            scene.settle();
            scene.save(&scene.disk, 3.0, new).expect("nothing fails any more");
            assert_eq!(loader.value(&scene.disk.folder()), Ok(3.0));
            assert_eq!(scene.disk.folder().len(), fresh(new), "operation {at}: {names:?}");
        }
    }
}
