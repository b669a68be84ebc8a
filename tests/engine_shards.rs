//! A checkpoint in several files: the index decides, everything that is missing is listed at once,
//! and a save over another one leaves no mixture.

#[path = "engine/files.rs"]
mod files;

use std::fs;
use std::io;
use std::path::Path;

use engine_room::serialize::{
    Disk, Files, MapLocation, NewFile, StateDict, deserialize, load_sharded, save_file,
    save_sharded, save_sharded_with,
};
use engine_room::{DType, Device, Error, Tensor};
use files::{CPU, Folder, golden, golden_json, is_golden, list, says, shown, state};
use serde_json::{Value, json};

const INDEX: &str = "model.safetensors.index.json";

/// A folder with these files and an index.
fn checkpoint(test: &str, files: &[(&str, &[(&str, f32)])], index: &Value) -> Folder {
    let folder = Folder::new(test);
    for (file, tensors) in files {
        let tensors = state(tensors.iter().map(|(name, value)| (*name, list(&[*value]))));
        save_file(&folder.at(file), &tensors).expect("it is saved");
    }
    folder.put(INDEX, index.to_string());
    folder
}

fn loaded(folder: &Folder) -> Result<StateDict, Error> {
    load_sharded(folder.path(), &CPU)
}

#[track_caller]
fn holds(state: Result<StateDict, Error>, want: &[(&str, f32)]) {
    let state = state.expect("it loads");
    let found: Vec<(&str, Vec<f32>)> =
        state.iter().map(|(name, x)| (name, x.to_vec::<f32>())).collect();
    let want: Vec<(&str, Vec<f32>)> = want.iter().map(|(name, x)| (*name, vec![*x])).collect();
    assert_eq!(found, want);
}

const TWO: [(&str, &[(&str, f32)]); 2] = [("m-1-of-2", &[("a", 1.0)]), ("m-2-of-2", &[("b", 2.0)])];

fn two() -> Value {
    json!({"metadata": {"total_size": 8}, "weight_map": {"a": "m-1-of-2", "b": "m-2-of-2"}})
}

#[test]
fn e19_the_index_decides() {
    let folder = checkpoint("e19", &TWO, &two());
    holds(loaded(&folder), &[("a", 1.0), ("b", 2.0)]);
    holds(load_sharded(&folder.at(INDEX), &CPU), &[("a", 1.0), ("b", 2.0)]);
    // A file of an older save, which the index does not name.
    save_file(&folder.at("m-3-of-3"), &state([("b", list(&[99.0]))])).unwrap();
    save_file(&folder.at("model.safetensors"), &state([("b", list(&[99.0]))])).unwrap();
    holds(loaded(&folder), &[("a", 1.0), ("b", 2.0)]);
    // The same name in two files, and a name that the index does not have.
    let more = state([("a", list(&[7.0])), ("b", list(&[2.0])), ("c", list(&[8.0]))]);
    save_file(&folder.at("m-2-of-2"), &more).unwrap();
    holds(loaded(&folder), &[("a", 1.0), ("b", 2.0)]);
}

#[test]
fn e19_all_missing_files_are_named() {
    let folder = checkpoint("e19-missing", &TWO, &two());
    fs::remove_file(folder.at("m-2-of-2")).unwrap();
    let message = says(loaded(&folder), &[INDEX, "missing", "\"m-2-of-2\"", "\"b\""]);
    assert!(!message.contains("m-1-of-2"), "{message}");
    fs::remove_file(folder.at("m-1-of-2")).unwrap();
    says(loaded(&folder), &["\"m-1-of-2\"", "\"a\"", "\"m-2-of-2\"", "\"b\""]);
    fs::create_dir(folder.at("m-1-of-2")).unwrap();
    fs::write(folder.at("m-2-of-2"), "").unwrap();
    says(loaded(&folder), &["m-1-of-2", "no file"]);
}

#[test]
fn e19_all_missing_tensors_are_named() {
    let index =
        json!({"weight_map": {"a": "m-1-of-2", "b": "m-2-of-2", "c": "m-1-of-2", "d": "m-2-of-2"}});
    let folder = checkpoint("e19-lacks", &TWO, &index);
    says(loaded(&folder), &["\"m-1-of-2\" lacks", "\"c\"", "\"m-2-of-2\" lacks", "\"d\""]);
    // One that is in a file, but not in the one that the index names.
    let index = json!({"weight_map": {"a": "m-2-of-2", "b": "m-2-of-2"}});
    let folder = checkpoint("e19-elsewhere", &TWO, &index);
    says(loaded(&folder), &["\"m-2-of-2\" lacks", "\"a\""]);
    // A damaged file is named, and nothing is loaded.
    let folder = checkpoint("e19-cut", &TWO, &two());
    let bytes = fs::read(folder.at("m-2-of-2")).unwrap();
    folder.put("m-2-of-2", &bytes[..bytes.len() - 1]);
    says(loaded(&folder), &["m-2-of-2", "cut"]);
}

#[test]
fn e19_names_that_lead_elsewhere_are_refused() {
    let outside = Folder::new("e19-outside");
    save_file(&outside.at("secret"), &state([("a", list(&[5.0]))])).unwrap();
    let absolute = outside.at("secret").display().to_string();
    let up = format!("../{}/secret", outside.path().file_name().unwrap().to_str().unwrap());
    let inner = "inner/m-1-of-2".to_string();
    for name in
        [absolute, up, inner, "..".into(), ".".into(), String::new(), "a\\b".into(), "C:m".into()]
    {
        let index = json!({"weight_map": {"a": name, "b": "m-2-of-2"}});
        let folder = checkpoint("e19-paths", &TWO, &index);
        says(loaded(&folder), &[INDEX, "lie beside", "\"a\""]);
    }
}

#[test]
fn e19_an_index_that_is_none() {
    let folder = checkpoint("e19-index", &TWO, &two());
    let twice = r#"{"weight_map": {"a": "m-1-of-2", "b": "m-2-of-2", "a": "m-2-of-2"}}"#;
    let maps = r#"{"weight_map": {"a": "m-1-of-2"}, "weight_map": {}}"#;
    for (text, part) in [
        (twice, "duplicate"),
        (maps, "duplicate"),
        ("{}", "weight_map"),
        ("[]", "an object"),
        ("", "JSON"),
        (r#"{"weight_map": []}"#, "an object"),
        (r#"{"weight_map": {"a": 1}}"#, "\"a\""),
        (r#"{"weight_map": {"a": null}}"#, "\"a\""),
        (r#"{"weight_map": {"a": "m-1-of-2"}"#, "JSON"),
        (r#"{"weight_map": {"a": "m-1-of-2"}} x"#, "JSON"),
    ] {
        folder.put(INDEX, text);
        says(loaded(&folder), &[INDEX, part]);
    }
    // What others add, or write otherwise, does not matter.
    folder.put(
        INDEX,
        r#"{"metadata": {"total_size": 1.5e9, "more": [1, {"x": null}]}, "weight_map":
            {"b": "m-2-of-2"}, "format": "pt"}"#,
    );
    holds(loaded(&folder), &[("b", 2.0)]);
    folder.put(INDEX, r#"{"metadata": null, "weight_map": {}}"#);
    holds(loaded(&folder), &[]);
    fs::remove_file(folder.at(INDEX)).unwrap();
    says(loaded(&folder), &[INDEX, "model.safetensors"]);
    says(load_sharded(&folder.at("nowhere"), &CPU), &["nowhere", "cannot be read"]);
}

#[test]
fn what_python_has_saved() {
    let loaded = load_sharded(&golden("checkpoints/python_sharded"), &MapLocation::Saved).unwrap();
    is_golden(&loaded, &golden_json("checkpoints/python.json"));
}

/// Twelve tensors, of which two are larger than any file, and two are one.
fn many(add: f32) -> StateDict {
    let sizes = [3usize, 1, 30, 4, 4, 1, 0, 2, 25, 7];
    let mut all = StateDict::new();
    for (i, size) in sizes.into_iter().enumerate() {
        let x = Tensor::arange(size).add_scalar(add + i as f32);
        all.insert(&format!("layer.{i}"), x).unwrap();
    }
    all.insert("tied", all.get("layer.1").unwrap().clone()).unwrap();
    all.insert("turned", Tensor::arange(6).add_scalar(add).reshape(&[2, 3]).transpose(0, 1))
        .unwrap();
    all
}

/// Names in any order with what they show.
fn all(state: &StateDict) -> Vec<String> {
    let mut all: Vec<String> =
        state.iter().map(|(name, x)| format!("{name} {}", shown(x))).collect();
    all.sort();
    all
}

#[test]
fn what_is_saved_comes_back_from_any_number_of_files() {
    let saved = many(0.0);
    for limit in [0, 1, 16, 20, 32, 64, 100, 119, 120, 10_000, u64::MAX] {
        let folder = Folder::new("round-trip");
        save_sharded(folder.path(), &saved, limit).unwrap();
        let found = loaded(&folder).unwrap();
        assert_eq!(all(&found), all(&saved), "limit {limit}");
        assert_eq!(found.get("tied").unwrap().data_ptr(), found.get("layer.1").unwrap().data_ptr());
        let names = folder.names();
        if names == ["model.safetensors"] {
            continue;
        }
        let count = names.len() - 1;
        for (i, name) in names[..count].iter().enumerate() {
            assert_eq!(*name, format!("model-{:05}-of-{count:05}.safetensors", i + 1));
            let bytes = fs::read(folder.at(name)).unwrap();
            let shard = deserialize(&bytes, &CPU).unwrap();
            let mut sizes: Vec<u64> = shard.iter().map(|(_, x)| x.nbytes()).collect();
            sizes.truncate(sizes.len() - usize::from(shard.get("tied").is_some()));
            let sum: u64 = sizes.iter().sum();
            assert!(sum <= limit || sizes.len() == 1, "{name}: {sizes:?} with a limit of {limit}");
        }
        let index: Value = serde_json::from_slice(&fs::read(folder.at(INDEX)).unwrap()).unwrap();
        assert_eq!(index["metadata"]["total_size"], (3 + 1 + 30 + 4 + 4 + 1 + 2 + 25 + 7 + 6) * 4);
    }
    let folder = Folder::new("empty");
    save_sharded(folder.path(), &StateDict::new(), 10).unwrap();
    assert!(loaded(&folder).unwrap().is_empty());
}

/// A save over one with another number of files, or with as many, leaves only its own files.
#[test]
fn files_of_an_earlier_save_are_removed() {
    let folder = Folder::new("again");
    folder.put("notes.txt", "mine");
    folder.put("model-00001-of-00002.bin", "not ours");
    for (round, limit) in [16, 64, 64, 64, u64::MAX, u64::MAX, 16, 120].into_iter().enumerate() {
        let saved = many(round as f32);
        save_sharded(folder.path(), &saved, limit).unwrap();
        assert_eq!(all(&loaded(&folder).unwrap()), all(&saved), "round {round}");
        let names = folder.names();
        let ours: Vec<&String> =
            names.iter().filter(|name| name.ends_with(".safetensors")).collect();
        let indexed = match fs::read(folder.at(INDEX)) {
            Ok(text) => {
                let index: Value = serde_json::from_slice(&text).unwrap();
                let map = index["weight_map"].as_object().unwrap();
                let mut files: Vec<String> =
                    map.values().map(|file| file.as_str().unwrap().to_string()).collect();
                files.sort();
                files.dedup();
                files
            }
            Err(_) => vec!["model.safetensors".to_string()],
        };
        assert!(ours.into_iter().eq(&indexed), "round {round}: {names:?}");
        assert!(
            ["notes.txt", "model-00001-of-00002.bin"]
                .iter()
                .all(|&it| names.contains(&it.to_string()))
        );
    }
}

/// The disk, until an operation fails: that one and every later one, as when a process is killed.
struct Dying {
    left: std::cell::Cell<usize>,
}

impl Dying {
    fn step(&self) -> io::Result<()> {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        if left == 0 { Err(io::Error::other("the process is gone")) } else { Ok(()) }
    }
}

impl Files for Dying {
    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>> {
        self.step()?;
        Disk.create(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        Disk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        Disk.remove(path)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.step()?;
        Disk.sync_folder(folder)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        Disk.list(folder)
    }
}

/// After every operation of a save over another one, the old or the new checkpoint loads whole; and
/// the next save leaves only its own files.
#[test]
fn e21_a_save_that_ends_anywhere_leaves_the_old_or_the_new_one() {
    let limits =
        [(64, 64), (64, 16), (16, 64), (64, u64::MAX), (u64::MAX, 64), (u64::MAX, u64::MAX)];
    for (before, after) in limits {
        let (old, new) = (many(0.0), many(100.0));
        let (mut seen_old, mut seen_new, mut operations) = (false, false, 0);
        loop {
            let folder = Folder::new("dying");
            save_sharded(folder.path(), &old, before).unwrap();
            let files = Dying { left: std::cell::Cell::new(operations) };
            let done = save_sharded_with(&files, folder.path(), &new, after).is_ok();
            let found = all(&loaded(&folder).expect("one of the two is whole"));
            assert!(found == all(&old) || found == all(&new), "after {operations} operations");
            seen_old |= found == all(&old);
            seen_new |= found == all(&new);
            save_sharded(folder.path(), &old, after).unwrap();
            assert_eq!(all(&loaded(&folder).unwrap()), all(&old));
            let clean = Folder::new("clean");
            save_sharded(clean.path(), &old, after).unwrap();
            assert_eq!(folder.names().len(), clean.names().len(), "{:?}", folder.names());
            if done {
                break;
            }
            operations += 1;
        }
        assert!(seen_old && seen_new && operations >= 3, "{operations} operations");
    }
}

#[test]
fn a_save_that_fails_leaves_nothing_behind() {
    let folder = Folder::new("failing");
    save_sharded(folder.path(), &many(0.0), 64).unwrap();
    let before = folder.names();
    let mut bad = many(1.0);
    bad.insert("__metadata__", Tensor::zeros(&[3])).unwrap();
    says(save_sharded(folder.path(), &bad, 64), &["__metadata__"]);
    assert_eq!(folder.names(), before);
    assert_eq!(all(&loaded(&folder).unwrap()), all(&many(0.0)));
    says(save_sharded(&folder.at("nowhere"), &many(0.0), 64), &["nowhere"]);
    says(save_sharded(&folder.at("nowhere"), &many(0.0), u64::MAX), &["nowhere"]);
    assert_eq!(folder.names(), before);
}

#[test]
fn devices_are_kept_in_every_file() {
    let folder = Folder::new("devices");
    let on = |x: Tensor, n| x.to(Device::Sim(n));
    let saved = state([
        ("a", on(list(&[1.0, 2.0]), 0)),
        ("b", list(&[3.0, 4.0]).to(DType::F16)),
        ("c", on(list(&[5.0, 6.0]), 1)),
    ]);
    save_sharded(folder.path(), &saved, 8).unwrap();
    let found = load_sharded(folder.path(), &MapLocation::Saved).unwrap();
    let devices: Vec<Device> = found.iter().map(|(_, x)| x.device()).collect();
    assert_eq!(devices, [Device::Sim(0), Device::Cpu, Device::Sim(1)]);
    assert_eq!(all(&found), all(&saved));
    let found = loaded(&folder).unwrap();
    assert!(found.iter().all(|(_, x)| x.device() == Device::Cpu));
    assert_eq!(all(&found), all(&saved));
}
