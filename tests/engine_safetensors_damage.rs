//! Damaged and hostile files: no panic, and no more memory than a small multiple of the file. And
//! what loading and saving of sound files needs.

#[path = "engine/exercise.rs"]
mod exercise;
#[path = "engine/files.rs"]
mod files;
#[path = "engine/heap.rs"]
mod heap;

use std::fs;

use engine_room::memory::{max_memory_allocated, memory_allocated, reset_peak_memory_stats};
use engine_room::rng::Generator;
use engine_room::serialize::{
    MapLocation, StateDict, load_file, load_sharded, save_file, save_sharded, serialize,
};
use engine_room::{DType, Device, Tensor};
use exercise::{header, index};
use files::{CPU, Folder, golden, says, state, unhex};
use heap::{alone, measured};
use serde_json::{Value, json};

const SEED: u64 = 20_240_517;

/// The file, changed in some places: bits, bytes that mean something, cuts, insertions, repeats.
fn damaged(whole: &[u8], random: &mut Generator) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for _ in 0..1 + random.below(3) {
        let at = random.below(bytes.len().max(1));
        match random.below(6) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
            1 if !bytes.is_empty() => bytes[at] = b"\"\\{}[]:,0-9e.\0\xff"[random.below(15)],
            2 => bytes.truncate(at),
            3 => bytes.insert(at, b"\"{}[],0u"[random.below(8)]),
            4 if !bytes.is_empty() => drop(bytes.remove(at)),
            _ => {
                let end = (at + random.below(40)).min(bytes.len());
                let piece = bytes[at.min(end)..end].to_vec();
                let to = random.below(bytes.len() + 1);
                bytes.splice(to..to, piece);
            }
        }
    }
    bytes
}

#[test]
fn damaged_files_are_refused_or_read() {
    let _alone = alone();
    println!("seed {SEED}");
    let mut random = Generator::new(SEED);
    let files = ["python.safetensors", "python_tied.safetensors", "engine/tied.safetensors"];
    for name in files {
        let whole = fs::read(golden("checkpoints").join(name)).expect("the file is there");
        let (mut refused, rounds) = (0, 4000);
        for _ in 0..rounds {
            refused += usize::from(header(&damaged(&whole, &mut random)).is_err());
        }
        println!("{name}: {refused} of {rounds} refused");
        assert!(refused > rounds / 2 && refused < rounds, "damage of both kinds");
    }
}

#[test]
fn damaged_indices_are_refused_or_read() {
    let _alone = alone();
    println!("seed {SEED}");
    let (folder, mut random) = (Folder::new("damaged-index"), Generator::new(SEED));
    let from = golden("checkpoints/python_sharded");
    for entry in fs::read_dir(from).expect("the folder is there").flatten() {
        let bytes = fs::read(entry.path()).expect("a file");
        folder.put(entry.file_name().to_str().expect("a name"), bytes);
    }
    let whole = fs::read(folder.at("model.safetensors.index.json")).expect("the index is there");
    assert!(index(&whole, folder.path()).is_ok());
    let refused =
        (0..1000).filter(|_| index(&damaged(&whole, &mut random), folder.path()).is_err());
    let refused = refused.count();
    println!("{refused} of 1000 refused");
    assert!(refused > 500 && refused < 1000, "damage of both kinds");
}

/// A file with this header and no numbers.
fn empty_file(header: &str) -> Vec<u8> {
    files::file(header, b"")
}

/// Headers that are made to be costly. Each is within the bound of `header`, whatever it says.
#[test]
fn hostile_headers_cost_little() {
    let _alone = alone();
    let empty = r#"{"dtype":"U8","shape":[0],"data_offsets":[0,0]}"#;
    let many = |entry: &dyn Fn(usize) -> String| -> String {
        (0..20_000).map(entry).collect::<Vec<String>>().join(",")
    };
    let entries = many(&|i| format!("\"{i}\":{empty}"));
    assert_eq!(header(&empty_file(&format!("{{{entries}}}"))).unwrap().len(), 20_000);
    let notes = many(&|i| format!("\"{i}\":\"\""));
    assert!(header(&empty_file(&format!("{{\"__metadata__\":{{{notes}}}}}"))).unwrap().is_empty());
    let long = "n".repeat(1 << 20);
    assert_eq!(header(&empty_file(&format!("{{\"{long}\":{empty}}}"))).unwrap().len(), 1);
    let escaped = "\\u0041".repeat(1 << 17);
    assert_eq!(header(&empty_file(&format!("{{\"{escaped}\":{empty}}}"))).unwrap().len(), 1);
    let refused = [
        format!("{{\"{long}\":1}}"),
        format!("{{\"{long}\":{empty},\"{long}\":{empty}}}"),
        "[".repeat(1 << 20),
        format!("{{\"a\":{{\"x\":{}", "[".repeat(1 << 20)),
        "{\"a\":".repeat(1 << 18),
        format!("{{\"a\":{{\"shape\":[{}1]", "1,".repeat(1 << 19)),
        format!("{{\"a\":{{\"dtype\":\"{long}\"}}}}"),
        format!("{{\"a\":{{\"data_offsets\":[{}0]}}}}", "0,".repeat(1 << 19)),
        format!("{{\"a\":{}", "9".repeat(1 << 20)),
    ];
    for text in refused {
        let message = header(&empty_file(&text)).expect_err("it is damaged").to_string();
        assert!(message.len() < 2000, "{message}");
    }
    for tied in [many(&|i| format!("\"{i}\":\"a\"")), many(&|i| format!("\"{i}\":\"b\""))] {
        let notes = json!({ "engine_room.tied": format!("{{{tied}}}") });
        let _ = header(&empty_file(&format!("{{\"__metadata__\":{notes},\"a\":{empty}}}")));
    }
    let devices = many(&|i| format!("\"{i}\":\"xpu:{i}\""));
    let notes = json!({ "engine_room.devices": format!("{{{devices}}}") });
    let bytes = empty_file(&format!("{{\"__metadata__\":{notes},{entries}}}"));
    let folder = Folder::new("hostile");
    let path = folder.put("devices", &bytes);
    let (loaded, peak) = measured(|| load_file(&path, &MapLocation::Saved));
    says(loaded, &["\"xpu:0\"", "Device::Cpu"]);
    assert!(peak < 40 * bytes.len(), "{peak} bytes for {}", bytes.len());
}

/// The cases of area E whose right answer is a bound on memory: 1 MiB each.
#[test]
fn e03_nothing_is_allocated_for_a_claimed_length() {
    let _alone = alone();
    let cases = files::golden_json("safetensors_cases.json");
    let folder = Folder::new("e03-memory");
    for case in cases.as_array().expect("a list").iter().filter(|case| case["case"] == "E03") {
        let path = folder.put("case", unhex(case["hex"].as_str().expect("digits")));
        let (loaded, peak) = measured(|| load_file(&path, &CPU));
        assert!(loaded.is_err() && peak < 64 << 10, "{}: {peak} bytes", case["what"]);
    }
}

const MIB: usize = 1 << 20;

/// Eight tensors of 1 MiB.
fn large() -> StateDict {
    state((0..8).map(|i| (["a", "b", "c", "d", "e", "f", "g", "h"][i], large_one(i))))
}

fn large_one(i: usize) -> Tensor {
    Tensor::full_on(&[512, 512], i as f64, DType::F32, Device::Cpu)
}

#[test]
fn loading_holds_the_tensors_and_at_most_one_more() {
    let _alone = alone();
    let folder = Folder::new("peak-loading");
    let path = folder.at("large");
    save_file(&path, &large()).unwrap();
    let (loaded, peak) = measured(|| load_file(&path, &CPU));
    println!("to the CPU: {peak} bytes of the heap");
    assert!(loaded.is_ok() && peak < 9 * MIB, "{peak} bytes for tensors of {}", 8 * MIB);
    drop(loaded);
    let sim = MapLocation::Device(Device::Sim(0));
    for sharded in [false, true] {
        let folder = Folder::new("peak-shards");
        save_sharded(folder.path(), &large(), 3 * MIB as u64).unwrap();
        let before = memory_allocated(Device::Cpu);
        reset_peak_memory_stats(Device::Cpu);
        let loaded = match sharded {
            true => load_sharded(folder.path(), &sim),
            false => load_file(&path, &sim),
        };
        let host = max_memory_allocated(Device::Cpu) - before;
        assert_eq!(host, MIB as u64, "one tensor at a time is on its way to the device");
        assert_eq!(loaded.unwrap().get("h").unwrap().device(), Device::Sim(0));
    }
}

#[test]
fn saving_holds_at_most_one_packed_tensor() {
    let _alone = alone();
    let folder = Folder::new("peak-saving");
    let (packed, turned) =
        (large(), state(large().iter().map(|(name, x)| (name, x.transpose(0, 1)))));
    let peak = |saved: &StateDict| {
        measured(|| save_file(&folder.at("large"), saved).expect("it is saved")).1
    };
    let (straight, copied) = (peak(&packed), peak(&turned));
    println!("packed: {straight} bytes of the heap, turned: {copied}");
    assert!(straight < MIB / 4, "what lies packed is written from where it is");
    assert!(copied > MIB / 2 && copied < MIB + MIB / 4, "one copy at a time");
    assert_eq!(serialize(&turned).unwrap(), fs::read(folder.at("large")).unwrap());
}

/// A bound that nothing could reach would prove nothing.
#[test]
fn the_bound_would_notice() {
    let _alone = alone();
    // Twice as much, since a test's thread that ends meanwhile gives back what it had before.
    let (vector, peak) = measured(|| vec![0u8; 2 * MIB]);
    assert!(vector.len() == 2 * MIB && peak >= MIB, "the heap is counted");
    let caught = std::panic::catch_unwind(|| {
        let (_, peak) = measured(|| vec![Value::Null; MIB]);
        assert!(peak <= 24 * 1000 + (32 << 10), "too much for a file of 1000 bytes");
    });
    assert!(caught.is_err());
}
