//! The files of sharded state: what they take in memory, what damage they survive as an error, and
//! that a save that stops anywhere is no checkpoint.

#[path = "engine/exercise_sharded.rs"]
mod exercise_sharded;
#[path = "engine/failed.rs"]
mod failed;
#[path = "engine/heap.rs"]
mod heap;
#[path = "engine/scratch.rs"]
mod scratch;
#[path = "engine/sharded.rs"]
mod sharded;

use std::cell::Cell;
use std::fs;
use std::io;
use std::path::Path;

use engine_room::memory::{max_memory_allocated, memory_allocated, reset_peak_memory_stats};
use engine_room::nn::Parameter;
use engine_room::optim::{AdamW, Optimizer};
use engine_room::rng::Generator;
use engine_room::serialize::{
    Disk, Files, NewFile, Sharding, Share, StateDict, load_share, save_index, save_share, save_with,
};
use engine_room::{DType, Device, Error, Tensor};
use exercise_sharded::{INDEX, damaged, fill, load};
use failed::fails;
use heap::{alone, measured};
use scratch::Scratch;
use sharded::{all_ranks, plain, save_all};

/// Parameters of these shapes after one step of AdamW.
fn stepped(shapes: &[(&str, &[usize])]) -> Share {
    let mut generator = Generator::new(30);
    let mut param = |shape| Parameter::new(Tensor::randn(shape, &mut generator));
    let params: Vec<(String, Parameter)> =
        shapes.iter().map(|&(name, shape)| (name.to_string(), param(shape))).collect();
    let mut whole = Share::whole(&params).expect("names differ");
    let mut adamw = AdamW::new(whole.parameters(), 0.1);
    for param in whole.parameters() {
        param.get().square().sum().backward();
    }
    adamw.step();
    adamw.zero_grad(true);
    whole.keep_state_of(&adamw);
    whole
}

fn small() -> Share {
    stepped(&[("embed.weight", &[5, 2]), ("head.weight", &[3, 2]), ("head.bias", &[3])])
}

fn flat() -> Sharding {
    Sharding::Flat { units: Vec::new() }
}

/// 3 tensors of 4 bytes for each element of the share, and nothing beside them on the CPU. On
/// another device, the share there and one tensor here.
#[test]
fn loading_holds_one_share_and_one_tensor() {
    let _alone = alone();
    let layers = ["a", "b", "c", "d", "e", "f"].map(|name| (name, &[500usize, 100][..]));
    let (tensor, folder) = (500 * 100 * 4, Scratch::new("sharded-memory"));
    let units = || Sharding::Flat { units: Vec::new() };
    save_all(folder.path(), &all_ranks(&stepped(&layers), &units(), 3));
    for (sharding, parts) in [(Sharding::PerParameter, 6), (units(), 1)] {
        for world_size in [1, 2, 5, 8] {
            let share = 6 * 3 * tensor / world_size as u64;
            let largest = 6 * tensor / parts / world_size as u64;
            let rank = world_size - 1;
            let what = format!("{sharding:?}, rank {rank} of {world_size}");
            let rows_round_up = 6 * 3 * 100 * 4;
            let before = memory_allocated(Device::Cpu);
            reset_peak_memory_stats(Device::Cpu);
            let on = |device| load_share(folder.path(), &sharding, rank, world_size, device);
            let (loaded, heap) = measured(|| on(Device::Cpu).expect("it is whole"));
            let counted = max_memory_allocated(Device::Cpu) - before;
            assert!(counted <= share + rows_round_up, "{what}: {counted} of {share} bytes");
            // The headers, the index, names and plans.
            let most = share + rows_round_up + 200_000;
            assert!(heap as u64 <= most, "{what}: {heap} bytes of the heap, {most} allowed");
            drop(loaded);
            let gpu = Device::Sim(0);
            let before = memory_allocated(gpu);
            reset_peak_memory_stats(gpu);
            reset_peak_memory_stats(Device::Cpu);
            let host = memory_allocated(Device::Cpu);
            let loaded = on(gpu).expect("it is whole");
            let (there, here) = (max_memory_allocated(gpu), max_memory_allocated(Device::Cpu));
            let blocks = 18 * 512 + rows_round_up;
            assert!(there - before <= share + blocks, "{what}: {} on the device", there - before);
            assert!(here - host <= largest + rows_round_up, "{what}: {} here", here - host);
            drop(loaded);
        }
    }
}

/// Changes a file's text, which must have the first part.
fn edit(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).expect("it is text");
    assert!(text.contains(from), "{text} lacks {from}");
    fs::write(path, text.replace(from, to)).expect("room");
}

#[test]
fn missing_and_strange_files_are_named() {
    let _alone = alone();
    let folder = Scratch::new("sharded-missing");
    let shares = all_ranks(&small(), &flat(), 4);
    let at = |name: &str| folder.path().join(name);
    let rank = |rank: usize| at(&format!("rank-{rank}-of-4.safetensors"));
    fails(load(folder.path()), &[INDEX, "without an index is a save that did not finish"]);
    save_share(&Disk, folder.path(), &shares[0]).expect("room");
    let early = save_index(&Disk, folder.path(), shares[0].plan());
    fails(early, &["3 of 4 ranks", "rank-1-of-4", "rank-2-of-4", "rank-3-of-4"]);
    save_all(folder.path(), &shares);
    let again = [
        save_share(&Disk, folder.path(), &shares[1]),
        save_index(&Disk, folder.path(), shares[1].plan()),
    ];
    again.into_iter().for_each(|again| fails(again, &[INDEX, "has a checkpoint", "new folder"]));
    let good = fs::read(rank(2)).expect("it is there");
    fs::remove_file(rank(2)).expect("it is there");
    fs::remove_file(rank(3)).expect("it is there");
    fails(load(folder.path()), &["2 of 4 ranks", "rank-2-of-4", "rank-3-of-4", "copy them"]);
    save_beside(&shares[3], &rank(3));
    fs::copy(rank(1), rank(2)).expect("room");
    fails(load(folder.path()), &["rank-2-of-4", "rank \"1\", where \"2\" is due"]);
    fs::write(rank(2), &good[..good.len() - 1]).expect("room");
    fails(load(folder.path()), &["rank-2-of-4", "cut or damaged"]);
    save_beside(&all_ranks(&small(), &flat(), 5)[2], &rank(2));
    fails(load(folder.path()), &["world_size \"5\", where \"4\" is due"]);
    let later = all_ranks(&stepped(&[("embed.weight", &[5, 2])]), &flat(), 4);
    save_beside(&later[2], &rank(2));
    let shapes = ["\"param/\" is f32 [3] and should be f32 [5]", "\"exp_avg/\" is f32 [3]"];
    fails(load(folder.path()), &shapes);
    let rows = all_ranks(&small(), &Sharding::PerParameter, 4);
    save_beside(&rows[2], &rank(2));
    fails(load(folder.path()), &["steps \"1 1 1\", where \"1\" is due"]);
    fs::write(rank(2), good).expect("room");
    assert_eq!(plain(&load(folder.path()).expect("it is whole again")), plain(&small()));
}

/// Puts the file of a share into a place that is not its own.
fn save_beside(share: &Share, place: &Path) {
    let elsewhere = Scratch::new("sharded-beside");
    save_share(&Disk, elsewhere.path(), share).expect("room");
    let name = &elsewhere.names()[0];
    fs::copy(elsewhere.path().join(name), place).expect("room");
}

/// One tensor too many, one too few, and one of another type, in a file that says it is rank 0's.
#[test]
fn a_rank_file_has_just_what_follows_from_the_index() {
    let _alone = alone();
    let folder = Scratch::new("sharded-just");
    save_all(folder.path(), &all_ranks(&small(), &flat(), 2));
    let mut state = StateDict::new();
    let wrong = Tensor::ones(&[10]).to(DType::F64);
    for (name, x) in [("param/", wrong), ("more", Tensor::ones(&[1]))] {
        state.insert(name, x).expect("names differ");
    }
    let notes = [("rank", "0"), ("world_size", "2"), ("steps", "1")];
    let notes = notes.map(|(key, text)| (format!("engine_room.{key}"), text.to_string()));
    let notes = notes.each_ref().map(|(key, text)| (key.as_str(), text.clone()));
    let path = folder.path().join("rank-0-of-2.safetensors");
    save_with(&Disk, &path, &state, &notes).expect("room");
    let all = [
        "\"exp_avg/\" is missing",
        "\"exp_avg_sq/\" is missing",
        "\"more\" is not in the index",
        "\"param/\" is f64 [10] and should be f32 [10]",
    ];
    fails(load(folder.path()), &all);
}

#[test]
fn an_index_is_not_believed() {
    let _alone = alone();
    let whole = small();
    let edits: [(&str, &str, &[&str]); 13] = [
        ("\"world_size\": 2", "\"world_size\": 3", &["3 ranks", "lists 2 files"]),
        ("\"world_size\": 2", "\"world_size\": 18446744073709551615", &["lists 2 files"]),
        ("\"world_size\": 2", "\"world_size\": -2", &["whole number"]),
        ("\"rank-1-of-2", "\"../rank-1-of-2", &["does not lie beside"]),
        ("\"rank-1-of-2", "\"rank-0-of-2", &["rank \"0\", where \"1\" is due"]),
        ("[5, 2]", "[6, 2]", &["[10]", "should be", "[11]"]),
        ("[5, 2]", "[4294967296, 4294967296]", &["more elements than memory can hold"]),
        ("[5, 2]", "[1, 1, 1, 1, 1, 1, 1, 1, 5, 2]", &["10 dimensions"]),
        ("\"head.bias\"", "\"embed.weight\"", &["\"embed.weight\" stands there twice"]),
        ("\"step\": 1", "\"step\": 2", &["steps \"1\", where \"2\" is due"]),
        ("\"flat\"", "\"round\"", &["\"round\"", "per_parameter"]),
        ("\"flat\"", "\"per_parameter\"", &["steps \"1\", where \"1 1 1\" is due"]),
        ("engine_room.sharded 1", "engine_room.sharded 2", &["engine_room.sharded 2", "reads"]),
    ];
    for (from, to, says) in edits {
        let folder = Scratch::new("sharded-index");
        save_all(folder.path(), &all_ranks(&whole, &flat(), 2));
        let index = folder.path().join(INDEX);
        edit(&index, from, to);
        fails(load(folder.path()), says);
    }
}

/// Bytes of the index and of a rank's header are changed, cut and doubled. It loads as before or is
/// an error; nothing panics, and little memory is taken whatever the numbers say.
#[test]
fn damage_is_an_error_and_takes_little_memory() {
    let _alone = alone();
    let mut generator = Generator::new(31);
    let (whole, folder) = (small(), Scratch::new("sharded-damage"));
    save_all(folder.path(), &all_ranks(&whole, &flat(), 2));
    let files = [INDEX, "rank-1-of-2.safetensors"].map(|name| folder.path().join(name));
    let good = files.each_ref().map(|path| fs::read(path).expect("it is there"));
    let (mut refused, rounds) = (0, 1000);
    for round in 0..rounds {
        let which = round % 2;
        let bytes = changed(&good[which], &mut generator);
        fs::write(&files[which], bytes).expect("room");
        println!("seed 31, round {round}");
        refused += usize::from(damaged(folder.path()).is_err());
        fs::write(&files[which], &good[which]).expect("room");
    }
    // What is changed in the numbers, or where nobody looks, is not seen.
    assert!((rounds / 2..rounds).contains(&refused), "{refused} of {rounds}");
    assert_eq!(plain(&load(folder.path()).expect("it is whole again")), plain(&whole));
}

/// As many entries as fit: the shortest parameters, tensors, units and files.
#[test]
fn a_dense_index_takes_little_memory() {
    let _alone = alone();
    let folder = Scratch::new("sharded-dense");
    fill(folder.path());
    let index = folder.path().join(INDEX);
    let good = fs::read_to_string(&index).expect("it is text");
    let many = |entry: &dyn Fn(usize) -> String| (0..4000).map(entry).collect::<String>();
    let param =
        |n| format!("{{\"name\":\"{n:x}\",\"shape\":[],\"tensors\":{{\"param\":\"F32\"}}}},");
    let rank = |n| format!("\"{n:x}\",");
    for (at, more) in [
        ("\"params\": [", many(&param)),
        ("\"files\": [", many(&rank)),
        ("\"units\": [", many(&rank)),
        ("\"tensors\": {", many(&|n| format!("\"{n:x}\":\"F16\","))),
        ("\"shape\": [", many(&|_| "1,".to_string())),
        ("\"world_size\": ", "9".repeat(4000)),
    ] {
        fs::write(&index, good.replacen(at, &format!("{at}{more}"), 1)).expect("room");
        assert!(damaged(folder.path()).is_err(), "{at}");
    }
    // This one is right until the files are looked at.
    let per_parameter = good.replace("\"flat\"", "\"per_parameter\"").replace("[\"m\"]", "[]");
    let dense =
        per_parameter.replacen("\"params\": [", &format!("\"params\": [{}", many(&param)), 1);
    fs::write(&index, dense).expect("room");
    assert!(damaged(folder.path()).is_err());
}

/// Checkpoints outlive the program that made them: the index has the bytes that it once had.
#[test]
fn the_index_is_written_as_ever() {
    let folder = Scratch::new("sharded-golden");
    fill(folder.path());
    let got = fs::read_to_string(folder.path().join(INDEX)).expect("it is text");
    assert_eq!(got, include_str!("golden/checkpoints/sharded/sharded.index.json"));
}

/// One to three changes: another byte, a digit, a part twice, or the end gone.
fn changed(good: &[u8], generator: &mut Generator) -> Vec<u8> {
    let mut bytes = good.to_vec();
    for _ in 0..1 + generator.below(3) {
        let at = generator.below(bytes.len());
        match generator.below(5) {
            0 => bytes[at] = generator.below(256) as u8,
            1 => bytes[at] = b"0123456789[]{},:\"-e"[generator.below(19)],
            2 => bytes[at] ^= 1 << generator.below(8),
            3 => {
                let end = (at + 1 + generator.below(60)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            _ => bytes.truncate(at.max(1)),
        }
    }
    bytes
}

/// The real disk up to an operation, and nothing works from there on: the process was killed.
struct Killed {
    left: Cell<usize>,
}

impl Killed {
    fn asked(&self) -> io::Result<()> {
        match self.left.get() {
            0 => Err(io::Error::other("killed")),
            left => {
                self.left.set(left - 1);
                Ok(())
            }
        }
    }
}

impl Files for Killed {
    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>> {
        self.asked().and_then(|()| Disk.create(path))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.asked().and_then(|()| Disk.rename(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.asked().and_then(|()| Disk.remove(path))
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.asked().and_then(|()| Disk.sync_folder(folder))
    }
}

/// Whatever was done when it stopped, the folder is no checkpoint until the index has its name, and
/// a second attempt succeeds.
#[test]
fn a_save_that_stops_is_no_checkpoint() {
    let _alone = alone();
    let whole = small();
    let shares = all_ranks(&whole, &Sharding::PerParameter, 2);
    let mut whole_after = Vec::new();
    for operations in 0.. {
        let folder = Scratch::new("sharded-killed");
        let files = Killed { left: Cell::new(operations) };
        let save = || -> Result<(), Error> {
            shares.iter().try_for_each(|share| save_share(&files, folder.path(), share))?;
            save_index(&files, folder.path(), shares[0].plan())
        };
        let saved = save();
        let loaded = load(folder.path());
        match &loaded {
            Ok(loaded) => assert_eq!(plain(loaded), plain(&whole), "{operations}"),
            Err(error) => assert!(error.to_string().contains("did not finish"), "{error}"),
        }
        whole_after.push(loaded.is_ok());
        if saved.is_ok() {
            break;
        }
        if loaded.is_err() {
            save_all(folder.path(), &shares);
            assert_eq!(plain(&load(folder.path()).expect("saved again")), plain(&whole));
        }
    }
    // Three files of three operations each: create, rename, sync. The index has its name after 8.
    let wanted: Vec<bool> = (0..10).map(|operations| operations >= 8).collect();
    assert_eq!(whole_after, wanted);
}
