//! `.pt` files of PyTorch 2.9.1, read as PyTorch reads them: numbers, types, strides, which tensors
//! share their memory, and everything else that lies beside them.

#[path = "engine/archive.rs"]
mod archive;
#[path = "engine/failed.rs"]
mod failed;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine_room::nn::{Linear, Module};
use engine_room::rng::Generator;
use engine_room::serialize::{
    MapLocation, PtFile, PtValue, load_pt, load_pt_at, pickle_opcodes, read_pickle,
};
use engine_room::{DType, Device, Tensor};
use failed::fails;
use serde_json::Value;

const CPU: MapLocation = MapLocation::Device(Device::Cpu);

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/checkpoints").join(name)
}

fn open(name: &str) -> PtFile {
    PtFile::open(&path(name), &CPU).unwrap_or_else(|error| panic!("{error}"))
}

/// A number of the golden file; those that JSON lacks are words.
fn number(value: &Value) -> f64 {
    value.as_str().map_or_else(|| value.as_f64(), |word| word.parse().ok()).expect("a number")
}

fn bits(x: f64) -> u64 {
    if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() }
}

/// Compares a tensor, and keeps it under the number of its storage.
fn same_tensor(at: &str, got: PtValue, want: &Value, storages: &mut HashMap<u64, Vec<Tensor>>) {
    let x = got.tensor().unwrap_or_else(|error| panic!("{at}: {error}"));
    let sizes = |name: &str| -> Vec<usize> {
        want[name].as_array().expect("a list").iter().map(|x| number(x) as usize).collect()
    };
    assert_eq!(x.dtype().to_string(), want["dtype"].as_str().expect("a type"), "{at}");
    assert_eq!(x.shape(), sizes("shape"), "{at}");
    assert_eq!(x.storage_offset() as u64, want["offset"].as_u64().expect("a number"), "{at}");
    let strides = x.strides().iter().zip(sizes("stride")).zip(x.shape());
    let same = x.numel() == 0 || strides.clone().all(|((a, b), size)| *a == b || *size == 1);
    assert!(same, "{at}: strides {:?}", x.strides());
    let data = want["data"].as_array().expect("a list");
    if x.dtype().is_floating_point() {
        let got = x.to(DType::F64).to_vec::<f64>();
        let want: Vec<u64> = data.iter().map(|x| bits(number(x))).collect();
        assert_eq!(got.iter().map(|&x| bits(x)).collect::<Vec<_>>(), want, "{at}");
    } else {
        let want: Vec<i64> = data
            .iter()
            .map(|x| x.as_i64().or(x.as_bool().map(i64::from)).expect("a whole number"))
            .collect();
        assert_eq!(x.to(DType::I64).to_vec::<i64>(), want, "{at}");
    }
    storages.entry(want["storage"].as_u64().expect("a number")).or_default().push(x);
}

fn same(at: &str, got: PtValue, want: &Value, storages: &mut HashMap<u64, Vec<Tensor>>) {
    let Some((kind, inside)) = want.as_object().and_then(|object| object.iter().next()) else {
        return assert!(got.is_none() && want.is_null(), "{at}: {}", got.brief());
    };
    let inside_list = || inside.as_array().expect("a list");
    match kind.as_str() {
        "tensor" => same_tensor(at, got, inside, storages),
        "int" => assert_eq!(got.as_i64(), inside.as_i64(), "{at}"),
        "float" => assert_eq!(got.as_f64().map(bits), Some(bits(number(inside))), "{at}"),
        "bool" => assert_eq!(got.as_bool(), inside.as_bool(), "{at}"),
        "text" => assert_eq!(got.as_str(), inside.as_str(), "{at}"),
        "bytes" => {
            let want: Vec<u8> = inside_list().iter().map(|x| number(x) as u8).collect();
            assert_eq!(got.as_bytes(), Some(want), "{at}");
        }
        "list" => {
            let items = got.items().unwrap_or_else(|| panic!("{at}: {}", got.brief()));
            assert_eq!(items.len(), inside_list().len(), "{at}");
            items.zip(inside_list()).enumerate().for_each(|(i, (got, want))| {
                same(&format!("{at}[{i}]"), got, want, storages);
            });
        }
        "dict" => {
            let entries = got.entries().unwrap_or_else(|| panic!("{at}: {}", got.brief()));
            assert_eq!(entries.len(), inside_list().len(), "{at}");
            for ((key, value), want) in entries.zip(inside_list()) {
                same(&format!("key of {at}"), key, &want[0], storages);
                same(&format!("{at}.{}", key.brief()), value, &want[1], storages);
            }
        }
        other => panic!("{at}: the golden file has {other}"),
    }
}

#[test]
fn every_file_is_read_as_pytorch_reads_it() {
    let text = include_str!("golden/checkpoints/pt.json");
    let files: Vec<Value> = serde_json::from_str(text).expect("the golden file is JSON");
    assert!(files.len() > 12);
    for line in &files {
        let name = line["file"].as_str().expect("a name");
        let (file, mut storages) = (open(name), HashMap::new());
        same(name, file.root(), &line["value"], &mut storages);
        // Views of one another share one storage, and no others do.
        let all = || storages.iter().flat_map(|(key, xs)| xs.iter().map(move |x| (key, x)));
        for ((a, x), (b, y)) in all().flat_map(|one| all().map(move |other| (one, other))) {
            assert_eq!(a == b, Arc::ptr_eq(x.storage(), y.storage()), "{name}: {a} and {b}");
        }
    }
}

#[test]
fn a_flat_state_dict_is_loaded_in_order_and_into_a_module() {
    let state = load_pt(&path("plain.pt"), &MapLocation::Saved).expect("it is one");
    assert_eq!(state.names().collect::<Vec<_>>(), ["weight", "bias"]);
    let linear = Linear::new(3, 2, true, &mut Generator::new(1));
    linear.load_state_dict(&state, true).expect("it fits");
    let x = Tensor::ones(&[1, 3]);
    assert_eq!(linear.forward(&x).to_vec::<f32>(), [3.5, 10.5]);
}

#[test]
fn tied_weights_come_back_tied() {
    let state = load_pt(&path("tied.pt"), &CPU).expect("it is one");
    let [a, b] = ["embed.weight", "head.weight"].map(|name| state.get(name).expect("it is there"));
    assert!(Arc::ptr_eq(a.storage(), b.storage()));
    a.fill_(9);
    assert_eq!(b.to_vec::<f32>(), [9.0; 6]);
    let moved = load_pt(&path("tied.pt"), &MapLocation::Device(Device::Sim(0))).expect("it is one");
    let [a, b] = ["embed.weight", "head.weight"].map(|name| moved.get(name).expect("it is there"));
    assert_eq!(a.device(), Device::Sim(0));
    assert!(Arc::ptr_eq(a.storage(), b.storage()));
}

#[test]
fn a_training_checkpoint_is_read_in_parts() {
    let all = path("training.pt");
    fails(load_pt(&all, &CPU), &["not a flat state dict", "\"model\"", "load_pt_at"]);
    let model = load_pt_at(&all, &["model"], &CPU).expect("it is one");
    assert_eq!(model.get("0.weight").expect("it is there").shape(), [2, 3]);
    let moments = load_pt_at(&all, &["optimizer", "state"], &CPU);
    fails(moments, &["not a flat state dict", "under 0"]);
    fails(load_pt_at(&all, &["weights"], &CPU), &["no \"weights\"", "\"model\", \"optimizer\""]);
    fails(load_pt_at(&all, &["epoch"], &CPU), &["holds 3", "a state dict is a dict"]);
    let file = open("training.pt");
    let get = |key: &str| file.root().get(key).expect("it is there");
    assert_eq!((get("epoch").as_i64(), get("loss").as_f64()), (Some(3), Some(0.25)));
    let group = get("optimizer").get("param_groups").and_then(|groups| groups.at(0));
    let betas = group.and_then(|group| group.get("betas")).and_then(|betas| betas.at(1));
    assert_eq!(betas.and_then(PtValue::as_f64), Some(0.999));
    let first = get("optimizer").get("state").and_then(|state| state.at(0)).expect("it is there");
    assert_eq!(first.state_dict().expect("tensors only").len(), 3);
    fails(get("name").tensor(), &["\"run \\u{e9}\"", "not a tensor"]);
    fails(get("name").state_dict(), &["a state dict is a dict"]);
}

#[test]
fn map_location_says_where_the_tensors_go() {
    let file = path("cuda.pt");
    let gpu = "cuda:0".to_string();
    let to = |map: MapLocation| load_pt(&file, &map);
    let missing = to(MapLocation::Table(vec![("cpu".to_string(), Device::Sim(0))]));
    if Device::cuda(0).is_err() {
        let says = ["tensor \"weight\"", "\"cuda:0\"", "MapLocation::Device(Device::Cpu)"];
        fails(to(MapLocation::Saved), &says);
        fails(missing, &says);
    }
    for (map, device) in [
        (CPU, Device::Cpu),
        (MapLocation::Table(vec![(gpu.clone(), Device::Sim(0))]), Device::Sim(0)),
        (MapLocation::Table(vec![(gpu, Device::Cpu)]), Device::Cpu),
    ] {
        let state = to(map).expect("it may go there");
        let weight = state.get("weight").expect("it is there");
        assert_eq!(weight.device(), device);
        assert_eq!(weight.to_vec::<f32>(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    }
}

/// What the program of a file would do is listed, and nothing of it is done.
#[test]
fn a_pickle_that_runs_a_command_is_listed_and_refused_by_name() {
    let pickle = read_pickle(&path("danger.pt")).expect("it is an archive");
    let listed = pickle_opcodes(&pickle).expect("it is a pickle");
    let global = listed.iter().find(|op| op.argument == "posix system").expect("it is there");
    assert_eq!((global.name, global.allowed), ("GLOBAL", true));
    let line = format!("{:>5}: GLOBAL           posix system", global.position);
    assert_eq!(global.to_string(), line);
    let at = format!("GLOBAL at position {}", global.position);
    fails(load_pt(&path("danger.pt"), &CPU), &[&at, "\"system\"", "\"posix\"", "nothing"]);
    assert!(!Path::new("this-file-must-not-be-here").exists());
    fails(load_pt(&path("instance.pt"), &CPU), &["\"Config\"", "\"__main__\"", "GLOBAL"]);
    assert_eq!(listed.last().map(|op| op.name), Some("STOP"));
    // The same positions and names as in Python's pickletools for a stream of three instructions.
    let small = pickle_opcodes(b"\x80\x04\x8c\x02hi.").expect("it is a pickle");
    let shown: Vec<String> = small.iter().map(ToString::to_string).collect();
    let want = ["    0: PROTO            4", "    2: SHORT_BINUNICODE \"hi\"", "    6: STOP"];
    assert_eq!(shown, want);
    fails(pickle_opcodes(b"\x80\x02}"), &["after 3 bytes", "STOP"]);
}

#[test]
fn what_is_no_state_dict_of_today_is_named() {
    for (name, says) in [
        ("old_format.pt", ["before version 1.6", "torch.save(torch.load("]),
        ("torchscript.pt", ["TorchScript", "torch.jit.load"]),
        ("plain_pickle.pt", ["plain pickle", "torch.save"]),
        ("tar.pt", ["tar archive", "torch.save"]),
        ("sparse.pt", ["_rebuild_sparse_tensor", "GLOBAL"]),
        ("conjugated.pt", ["tensor is conjugated", "resolve_conj"]),
        ("pt.json", ["not a .pt file", "zip"]),
        ("not-there.pt", ["not-there.pt", "No such file"]),
    ] {
        fails(load_pt(&path(name), &CPU), &says);
    }
}

/// A type that the engine lacks stands in the way of that tensor only.
#[test]
fn types_that_the_engine_lacks_are_named() {
    let file = open("other_types.pt");
    let get = |key: &str| file.root().get(key).expect("it is there").tensor();
    assert_eq!(get("f32").expect("it has it").to_vec::<f32>(), [1.0, 1.0]);
    fails(get("i8"), &["int8", "does not have", ".to("]);
    fails(get("u16"), &["uint16"]);
    fails(get("c64"), &["complex64"]);
    fails(file.root().state_dict(), &["tensor \"i8\"", "int8"]);
}

#[test]
fn a_deep_file_is_read_to_its_end() {
    let file = open("deep.pt");
    let mut value = file.root().get("deep").expect("it is there");
    let mut levels = 0;
    while let Some(inner) = value.at(0) {
        value = inner;
        levels += 1;
    }
    assert_eq!((levels, value.brief().as_str()), (150, "a list of 0"));
}

/// A view keeps the memory alive, and a tensor that is read again shares it.
#[test]
fn a_storage_is_read_once_while_it_is_held() {
    let file = open("views.pt");
    let get = |key: &str| file.root().get(key).expect("it is there").tensor().expect("it is one");
    let part = get("part");
    part.fill_(-1);
    assert_eq!(get("grid").to_vec::<f32>()[6], -1.0);
    drop(part);
    assert_eq!(get("grid").to_vec::<f32>()[6], 6.0, "nobody held it, so it was read anew");
}
