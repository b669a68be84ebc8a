//! Crashes and failures while a file is saved, replayed on a model of a disk: after each of them
//! the old file or the new one is there, whole. The same replay finds each mistake that is planted.

#[path = "engine/crash_bugs.rs"]
mod crash_bugs;
#[path = "engine/crash_disk.rs"]
mod crash_disk;
#[path = "engine/scratch.rs"]
mod scratch;

use std::path::Path;

use crash_bugs::{Bug, Planted};
use crash_disk::{CrashDisk, Fault, Folder};
use engine_room::serialize::{
    Checkpoint, Checkpoints, Disk, Files, MapLocation, StateDict, deserialize, load_file, replace,
    serialize,
};
use engine_room::{Error, Tensor};
use scratch::Scratch;

const FOLDER: &str = "on-the-model";
const NAME: &str = "x.safetensors";

/// Some tensors that all hold one number.
fn state(value: f32) -> StateDict {
    let mut state = StateDict::new();
    for (name, shape) in [("a", vec![3]), ("b.weight", vec![2, 5]), ("c", vec![])] {
        state.insert(name, Tensor::full(&shape, value)).expect("no name twice");
    }
    state
}

fn save(files: &dyn Files, value: f32) -> Result<(), Error> {
    let bytes = serialize(&state(value))?;
    // In pieces, so that there are moments between them.
    replace(files, &Path::new(FOLDER).join(NAME), &mut |file| {
        bytes.chunks(50).try_for_each(|piece| file.write(piece))
    })
}

/// The number that the file holds, if it loads and holds one.
fn value_in(folder: &Folder) -> Result<f32, String> {
    let bytes = folder.get(NAME).ok_or("there is no file")?;
    let loaded = deserialize(bytes, &MapLocation::Saved).map_err(|error| error.to_string())?;
    let value = loaded.get("c").ok_or("c is missing")?.item();
    for (name, want) in state(value).iter() {
        let got = loaded.get(name).ok_or(format!("{name} is missing"))?;
        if got.shape() != want.shape() || got.to_vec::<f32>() != want.to_vec::<f32>() {
            return Err(format!("{name} is {got:?}"));
        }
    }
    Ok(value)
}

/// Every crash during and after a save of 2 over 1; what it has left that is not right.
fn replayed(disk: &CrashDisk, outcome: &Result<(), Error>) -> Vec<String> {
    let mut faults = Vec::new();
    for count in 0..=disk.done() {
        let saved = outcome.is_ok() && count == disk.done();
        for folder in disk.after_crash(count) {
            match value_in(&folder) {
                Ok(2.0) => {}
                Ok(1.0) if !saved => {}
                other => faults.push(format!("after {count} operations: {other:?}")),
            }
        }
    }
    faults
}

/// A disk on which 1 is saved.
fn with_one() -> CrashDisk {
    let disk = CrashDisk::default();
    save(&disk, 1.0).expect("nothing fails");
    disk.settle();
    disk
}

#[test]
fn a_crash_at_any_moment_leaves_the_old_file_or_the_new_one() {
    let disk = with_one();
    let outcome = save(&disk, 2.0);
    assert_eq!(outcome, Ok(()));
    let crashes: usize = (0..=disk.done()).map(|count| disk.after_crash(count).len()).sum();
    println!("{} operations, {crashes} ways to crash", disk.done());
    assert!(crashes > 500, "{crashes}");
    assert_eq!(replayed(&disk, &outcome), [""; 0]);
    assert_eq!(disk.folder().into_keys().collect::<Vec<_>>(), [NAME]);
}

/// A first save has no old file: there is none, or the new one.
#[test]
fn a_crash_during_the_first_save_leaves_nothing_or_the_file() {
    let disk = CrashDisk::default();
    save(&disk, 2.0).expect("nothing fails");
    for count in 0..=disk.done() {
        for folder in disk.after_crash(count) {
            let none = !folder.contains_key(NAME) && count < disk.done();
            assert!(none || value_in(&folder) == Ok(2.0), "after {count}: {folder:?}");
        }
    }
}

#[test]
fn the_replay_finds_each_planted_mistake() {
    for bug in [Bug::NoSync, Bug::NoFolderSync, Bug::RenameFirst, Bug::InPlace] {
        let disk = with_one();
        let outcome = save(&Planted::new(&disk, bug), 2.0);
        let faults = replayed(&disk, &outcome);
        println!("{bug:?}: {} crashes, such as {:?}", faults.len(), faults.first());
        assert!(outcome.is_ok() && !faults.is_empty(), "{bug:?} was not found");
    }
}

/// Saves 2 over 1 while an operation fails; gives what is not right about what it leaves.
fn failing(disk: &CrashDisk, files: &dyn Files, fault: Fault) -> Vec<String> {
    disk.fail(fault);
    let outcome = save(files, 2.0);
    let mut faults = replayed(disk, &outcome);
    let names: Vec<String> = disk.folder().into_keys().collect();
    // Where nothing works any more, nothing can be removed.
    if names != [NAME] && !fault.lasting {
        faults.push(format!("the folder has {names:?}"));
    }
    let left = value_in(&disk.folder());
    match &outcome {
        Ok(()) => faults.push("it reports success".to_string()),
        Err(error) if error.to_string().contains("new file is in place") => {
            faults.extend((left != Ok(2.0)).then(|| format!("{error}, but {left:?}")));
        }
        Err(error) => faults.extend((left != Ok(1.0)).then(|| format!("{error}, but {left:?}"))),
    }
    disk.settle();
    faults.extend(save(files, 3.0).err().map(|error| error.to_string()));
    let names = disk.folder().into_keys().collect::<Vec<_>>();
    faults.extend((names != [NAME]).then(|| format!("after the next save {names:?}")));
    faults
}

#[test]
fn each_operation_that_fails_leaves_the_old_file_alone_in_its_folder() {
    let count = {
        let disk = with_one();
        save(&disk, 2.0).expect("nothing fails");
        disk.asked()
    };
    for lasting in [false, true] {
        for at in 0..count {
            for bytes in [0, 1, 8, 20, 49, 50] {
                let disk = with_one();
                let faults = failing(&disk, &disk, Fault { at, bytes, lasting });
                assert_eq!(faults, [""; 0], "operation {at}, {bytes} bytes, lasting {lasting}");
            }
        }
    }
    let disk = with_one();
    let fault = Fault { at: 2, bytes: 8, lasting: false };
    let faults = failing(&disk, &Planted::new(&disk, Bug::KeepTemporary), fault);
    assert!(!faults.is_empty(), "a leftover was not found");
}

#[test]
fn e21_a_writer_that_fails_keeps_the_previous_checkpoint() {
    let scratch = Scratch::new("e21");
    let path = scratch.path().join("x.safetensors");
    let one = |value: f32| {
        let mut state = StateDict::new();
        state.insert("x", Tensor::full(&[1], value)).expect("no name twice");
        serialize(&state).expect("an f32")
    };
    replace(&Disk, &path, &mut |file| file.write(&one(1.0))).expect("room");
    for bytes in [0, 1, 8, 20] {
        let failed = replace(&Disk, &path, &mut |file| {
            file.write(&one(2.0)[..bytes])?;
            Err(std::io::ErrorKind::StorageFull.into())
        });
        let said = failed.expect_err("the writer failed").to_string();
        assert!(said.contains("x.safetensors") && said.contains("make room"), "{said}");
        let loaded = load_file(&path, &MapLocation::Saved);
        assert_eq!(loaded.expect("the old one").get("x").map(Tensor::item), Some(1.0));
        assert_eq!(scratch.names(), ["x.safetensors"], "after {bytes} bytes");
    }
    let missing = scratch.path().join("no-such-folder").join("x.safetensors");
    let said = replace(&Disk, &missing, &mut |_| Ok(())).expect_err("no folder").to_string();
    assert!(said.contains("folder is missing"), "{said}");
}

/// The folder of checkpoints on the model, in which the steps so far were saved.
fn checkpoints(files: impl Files + 'static, keep: usize) -> Checkpoints {
    Checkpoints::on(Box::new(files), Path::new(FOLDER), keep)
}

/// Steps that load after a crash, the last one first, with what was damaged.
fn latest(folder: &Folder, scratch: &Scratch) -> Result<u64, String> {
    scratch.fill(folder);
    let found = Checkpoints::new(scratch.path(), 1).latest(&MapLocation::Saved);
    let found = found.map_err(|error| error.to_string())?.ok_or("there is none")?;
    match found.damaged.first() {
        Some((entry, error)) => Err(format!("{entry:?} is damaged: {error}")),
        None => Ok(found.run.step()),
    }
}

/// Every crash while step 3 is saved after steps 1 and 2, of which `keep` are kept.
fn checkpoint_crashes(make: impl Fn(&CrashDisk) -> Box<dyn Files>, keep: usize) -> Vec<String> {
    let (disk, scratch) = (CrashDisk::default(), Scratch::new("checkpoints"));
    let save = |files: Box<dyn Files>, step| {
        let text = format!("{step} steps");
        let saved = Checkpoint::new(step).text("note", &text);
        Checkpoints::on(files, Path::new(FOLDER), keep).save(&saved).expect("nothing fails");
    };
    (1..=2).for_each(|step| save(Box::new(disk.clone()), step));
    disk.settle();
    save(make(&disk), 3);
    let mut faults = Vec::new();
    for count in 0..=disk.done() {
        for folder in disk.after_crash(count) {
            let left = folder.keys().filter(|name| name.starts_with("checkpoint-")).count();
            match latest(&folder, &scratch) {
                Ok(3) if left >= keep => {}
                Ok(2) if left >= keep && count < disk.done() => {}
                other => faults.push(format!("after {count}: {other:?}, {left} left")),
            }
        }
    }
    faults
}

#[test]
fn a_crash_leaves_as_many_checkpoints_as_are_kept() {
    for keep in [1, 2] {
        assert_eq!(checkpoint_crashes(|disk| Box::new(disk.clone()), keep), [""; 0]);
        for bug in [Bug::NoSync, Bug::NoFolderSync, Bug::DeleteFirst, Bug::DeleteEarly] {
            let faults = checkpoint_crashes(|disk| Box::new(Planted::new(disk, bug)), keep);
            println!("keep {keep}, {bug:?}: {} crashes, {:?}", faults.len(), faults.first());
            assert!(!faults.is_empty(), "{bug:?} was not found");
        }
    }
}

/// What a crash leaves beside the checkpoints is gone after the next save.
#[test]
fn the_next_save_clears_what_a_crash_has_left() {
    let disk = CrashDisk::default();
    let save = |step| checkpoints(disk.clone(), 2).save(&Checkpoint::new(step));
    save(1).expect("nothing fails");
    disk.settle();
    disk.fail(Fault { at: 1, bytes: 10, lasting: true });
    save(2).expect_err("the disk is full for good");
    disk.settle();
    assert_eq!(disk.folder().len(), 2, "the leftover could not be removed");
    save(3).expect("there is room again");
    let names: Vec<String> = disk.folder().into_keys().collect();
    assert_eq!(
        names,
        ["checkpoint-000001-step-1.safetensors", "checkpoint-000002-step-3.safetensors"]
    );
}
