//! One file of tensors: what comes back from it, tied, turned and at any address; and that Python's
//! safetensors and the engine read each other's files, those of golden/make_safetensors.py.

#[path = "engine/files.rs"]
mod files;

use std::fs;

use engine_room::serialize::{
    MapLocation, StateDict, deserialize, load_file, save_file, save_sharded, serialize,
};
use engine_room::{DType, Tensor};
use files::{CPU, Folder, bytes_of, file, golden, golden_json, hex, is_golden, says, shown, state};
use serde_json::{Value, json};

#[test]
fn e15_tied_names_are_saved_once() {
    let w = Tensor::from_vec(vec![1.0f32, 2.0, 3.0, 4.0], &[2, 2]);
    let bytes = serialize(&state([("a.weight", w.clone()), ("b.weight", w.clone())])).unwrap();
    let single = serialize(&state([("a.weight", w.clone())])).unwrap();
    assert!(bytes.len() - single.len() < 80, "the numbers are there once");
    let loaded = deserialize(&bytes, &CPU).unwrap();
    let (a, b) = (loaded.get("a.weight").unwrap(), loaded.get("b.weight").unwrap());
    assert_eq!(a.data_ptr(), b.data_ptr());
    a.select(0, 0).select(0, 0).fill_(9.0);
    assert_eq!(b.to_vec::<f32>(), [9.0, 2.0, 3.0, 4.0]);
    // The same memory, but not the same elements at the same places: copies.
    let turned = serialize(&state([("a", w.clone()), ("t", w.transpose(0, 1))])).unwrap();
    let loaded = deserialize(&turned, &CPU).unwrap();
    assert_eq!(loaded.get("t").unwrap().to_vec::<f32>(), [1.0, 3.0, 2.0, 4.0]);
    assert_ne!(loaded.get("a").unwrap().data_ptr(), loaded.get("t").unwrap().data_ptr());
    let flat = serialize(&state([("a", w.clone()), ("flat", w.reshape(&[4]))])).unwrap();
    let loaded = deserialize(&flat, &CPU).unwrap();
    assert_eq!(loaded.get("flat").unwrap().shape(), [4]);
}

#[test]
fn e15_partly_shared_memory_is_saved_as_copies() {
    let a = Tensor::arange(6).reshape(&[2, 3]);
    let bytes = serialize(&state([("A", a.clone()), ("B", a.narrow(0, 0, 1))])).unwrap();
    let loaded = deserialize(&bytes, &CPU).unwrap();
    assert_eq!(hex(&bytes_of(loaded.get("B").unwrap())), "000000000000803f00000040");
    assert_eq!(loaded.get("B").unwrap().shape(), [1, 3]);
    assert_eq!(loaded.get("A").unwrap().to_vec::<f32>(), a.to_vec::<f32>());
}

#[test]
fn e15_a_record_of_ties_that_cannot_be_is_refused() {
    let with = |record: &str| {
        let record = json!({ "engine_room.tied": record });
        let a = r#""a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}"#;
        deserialize(&file(&format!("{{\"__metadata__\":{record},{a}}}"), b"x"), &CPU)
    };
    assert_eq!(with(r#"{"b":"a"}"#).unwrap().names().collect::<Vec<_>>(), ["a", "b"]);
    says(with(r#"{"b":"c"}"#), &["engine_room.tied", "\"c\""]);
    says(with(r#"{"a":"a"}"#), &["engine_room.tied", "\"a\""]);
    says(with(r#"{"b":"a","c":"b"}"#), &["engine_room.tied", "\"b\""]);
    says(with(r#"{"b":"a","b":"a"}"#), &["engine_room.tied", "duplicate"]);
    says(with("true"), &["engine_room.tied", "an object"]);
}

/// A view is saved as what it shows, whatever its storage has around it.
#[test]
fn views_are_saved_in_logical_order() {
    let x = Tensor::arange(24).reshape(&[2, 3, 4]);
    let views = [
        x.transpose(0, 2),
        x.permute(&[1, 2, 0]),
        x.slice(2, 1, 4, 2),
        x.select(1, 2),
        x.narrow(0, 1, 1),
        x.select(0, 1).select(0, 1).reshape(&[1, 4]).expand(&[3, 4]),
        x.slice(1, 0, 0, 1),
    ];
    for dtype in DType::ALL {
        for view in &views {
            let typed = view.to(dtype);
            // A conversion packs; a view of a converted tensor does not.
            let converted = x.to(dtype).transpose(0, 2);
            let saved = state([("view", typed.clone()), ("turned", converted.clone())]);
            let loaded = deserialize(&serialize(&saved).unwrap(), &CPU).unwrap();
            assert_eq!(shown(loaded.get("view").unwrap()), shown(&typed.copy()));
            assert_eq!(shown(loaded.get("turned").unwrap()), shown(&converted.copy()));
            assert!(loaded.get("turned").unwrap().is_contiguous());
        }
    }
}

/// The numbers begin anywhere: behind headers of every length, and in memory at every address.
#[test]
fn numbers_that_are_not_aligned_are_read() {
    let python = fs::read(golden("checkpoints/python.safetensors")).unwrap();
    let want = golden_json("checkpoints/python.json");
    let folder = Folder::new("unaligned");
    let length = u64::from_le_bytes(python[..8].try_into().unwrap()) as usize;
    let text = std::str::from_utf8(&python[8..8 + length]).unwrap().trim_end();
    for spaces in 0..9 {
        let bytes = file(&format!("{text}{}", " ".repeat(spaces)), &python[8 + length..]);
        is_golden(&load_file(&folder.put("file", &bytes), &CPU).unwrap(), &want);
        let moved = [&vec![0; spaces][..], &bytes].concat();
        is_golden(&deserialize(&moved[spaces..], &CPU).unwrap(), &want);
    }
    // A type of 1 byte before one of 8: the format allows it.
    let header = r#"{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},
        "b":{"dtype":"F64","shape":[1],"data_offsets":[1,9]}}"#;
    let loaded = deserialize(&file(header, b"\x05\0\0\0\0\0\0\xf8\x3f"), &CPU).unwrap();
    assert_eq!(loaded.get("a").unwrap().to_vec::<u8>(), [5]);
    assert_eq!(loaded.get("b").unwrap().to_vec::<f64>(), [1.5]);
}

#[test]
fn what_python_has_saved() {
    let want = golden_json("checkpoints/python.json");
    let loaded = load_file(&golden("checkpoints/python.safetensors"), &MapLocation::Saved).unwrap();
    is_golden(&loaded, &want);
    // save_model notes what it has dropped in a way that does not say how the two were tied.
    let tied = load_file(&golden("checkpoints/python_tied.safetensors"), &CPU).unwrap();
    assert_eq!(tied.names().collect::<Vec<_>>(), ["a.weight"]);
    assert_eq!(tied.get("a.weight").unwrap().to_vec::<f32>(), [1.0, 2.0, 3.0, 4.0]);
}

/// What the engine saves of Python's tensors, with views and odd names among them.
fn mixed() -> StateDict {
    let mut mixed = load_file(&golden("checkpoints/python.safetensors"), &CPU).unwrap();
    let matrix = mixed.get("matrix").unwrap().clone();
    let five = |i: usize| Tensor::scalar(i as f32);
    for (name, x) in [
        ("turned", matrix.transpose(0, 1)),
        ("column", matrix.select(1, 1)),
        ("a\"b", Tensor::from_vec(vec![1u8], &[1])),
        ("c\\d", five(2)),
        ("e\nf", five(3)),
        ("", five(4)),
        ("\u{e9}\u{4e2d}", five(5)),
    ] {
        mixed.insert(name, x).unwrap();
    }
    mixed
}

/// `make_safetensors.py --check` reads these very files with Python. If the bytes are to change:
/// copy the new ones, which stay in `target/tmp/checkpoints`, to golden/checkpoints/engine, and run
/// it.
#[test]
fn what_python_reads() {
    let folder = Folder::that_stays("checkpoints");
    save_file(&folder.at("mixed.safetensors"), &mixed()).unwrap();
    let w = Tensor::from_vec(vec![1.0f32, 2.0, 3.0, 4.0], &[2, 2]);
    let tied = state([("a.weight", w.clone()), ("b.weight", w)]);
    save_file(&folder.at("tied.safetensors"), &tied).unwrap();
    let python = golden_json("checkpoints/python.json");
    let loaded = load_file(&golden("checkpoints/python.safetensors"), &CPU).unwrap();
    // In Python's order: there the dictionary decides which tensors share a file.
    let order = golden_order(&python, &loaded);
    fs::create_dir(folder.at("sharded")).unwrap();
    save_sharded(&folder.at("sharded"), &order, 40).unwrap();
    compare_folders(&folder, "");
    compare_folders(&folder, "sharded");
}

fn golden_order(python: &Value, loaded: &StateDict) -> StateDict {
    let text = fs::read_to_string(golden("checkpoints/python.json")).unwrap();
    let mut names: Vec<&String> = python.as_object().unwrap().keys().collect();
    names.sort_by_key(|name| text.find(&format!("{name:?}: {{")));
    state(names.into_iter().map(|name| (name.as_str(), loaded.get(name).unwrap().clone())))
}

fn compare_folders(found: &Folder, inner: &str) {
    let (found, want) = (found.at(inner), golden("checkpoints/engine").join(inner));
    let names = |folder: &std::path::Path| -> Vec<_> {
        let entries = fs::read_dir(folder).expect("the folder is there").flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&found), names(&want), "{inner}");
    for name in names(&want).iter().filter(|&name| want.join(name).is_file()) {
        let [found, want] = [&found, &want].map(|folder| fs::read(folder.join(name)).unwrap());
        assert!(found == want, "{name:?} has other bytes");
    }
}

#[test]
fn a_header_is_filled_up_so_that_the_numbers_are_aligned() {
    for length in 0..20 {
        let name = "n".repeat(length);
        let bytes = serialize(&state([(name.as_str(), Tensor::ones(&[3]))])).unwrap();
        let header = u64::from_le_bytes(bytes[..8].try_into().unwrap());
        assert!(header.is_multiple_of(8) && bytes.len() as u64 == 8 + header + 12, "{header}");
    }
    // A half and a byte before a double would leave it at an odd place; the size decides instead.
    let [half, byte] = [DType::F16, DType::U8].map(|dtype| Tensor::ones(&[1]).to(dtype));
    let saved = state([("h", half), ("b", byte), ("d", Tensor::ones(&[1]).to(DType::F64))]);
    let bytes = serialize(&saved).unwrap();
    assert_eq!(hex(&bytes[bytes.len() - 11..]), "000000000000f03f003c01");
    assert_eq!(deserialize(&bytes, &CPU).unwrap().names().collect::<Vec<_>>(), ["h", "b", "d"]);
}
