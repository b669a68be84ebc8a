//! Loading a state into a module: what fits is copied, all that does not fit is listed, and nothing
//! is changed by an error. And where the tensors of a file go.

#[path = "engine/files.rs"]
mod files;

use engine_room::nn::{BatchNorm1d, Buffer, Linear, Module, Parameter, Parts};
use engine_room::rng::Generator;
use engine_room::serialize::{
    IncompatibleKeys, MapLocation, StateDict, deserialize, load_file, save_file, serialize,
};
use engine_room::{DType, Device, Error, Tensor, sim};
use files::{CPU, Folder, golden, list, says, shown, state};

/// Parameters and buffers under any names.
struct Named {
    parameters: Vec<(&'static str, Parameter)>,
    buffers: Vec<(&'static str, Buffer)>,
}

impl Named {
    fn of(parameters: Vec<(&'static str, Parameter)>) -> Named {
        Named { parameters, buffers: Vec::new() }
    }
}

impl Module for Named {
    fn parts(&self) -> Parts<'_> {
        let mut parts = Parts::new();
        for (name, parameter) in &self.parameters {
            parts = parts.parameter(name, parameter);
        }
        for (name, buffer) in &self.buffers {
            parts = parts.buffer(name, buffer);
        }
        parts
    }

    fn forward(&self, x: &Tensor) -> Tensor {
        x.clone()
    }
}

fn zeros(shape: &[usize]) -> Parameter {
    Parameter::new(Tensor::zeros(shape))
}

/// Two names, of one parameter or of two.
fn pair(tied: bool) -> Named {
    let a = zeros(&[2, 2]);
    let b = if tied { a.clone() } else { zeros(&[2, 2]) };
    Named::of(vec![("a.weight", a), ("b.weight", b)])
}

fn square() -> Tensor {
    Tensor::from_vec(vec![1.0f32, 2.0, 3.0, 4.0], &[2, 2])
}

fn values(module: &dyn Module) -> Vec<Vec<f32>> {
    module.state_dict().iter().map(|(_, x)| x.to(DType::F32).to_vec()).collect()
}

const NONE: IncompatibleKeys = IncompatibleKeys { missing: Vec::new(), unexpected: Vec::new() };

#[test]
fn e15_tied_weights() {
    let tied = pair(true);
    tied.parameters[0].1.get().detach().copy_(&square());
    let bytes = serialize(&tied.state_dict()).unwrap();
    let saved = deserialize(&bytes, &CPU).unwrap();
    let again = pair(true);
    assert_eq!(again.load_state_dict(&saved, true), Ok(NONE));
    assert_eq!(values(&again), [[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]]);
    let [a, b] = [0, 1].map(|i| again.parameters[i].1.get());
    assert_eq!(a.data_ptr(), b.data_ptr());
    a.detach().select(0, 0).select(0, 0).fill_(9.0);
    assert_eq!(b.to_vec::<f32>()[0], 9.0);
    let untied = pair(false);
    assert_eq!(untied.load_state_dict(&saved, true), Ok(NONE));
    assert_eq!(values(&untied), [[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]]);
    let [a, b] = [0, 1].map(|i| untied.parameters[i].1.get());
    a.detach().fill_(0.0);
    assert_eq!(b.to_vec::<f32>(), [1.0, 2.0, 3.0, 4.0]);
}

/// What safetensors.torch.save_model writes of a tied model: one of the names.
#[test]
fn e15_one_name_of_a_tied_weight_is_enough() {
    let saved = load_file(&golden("checkpoints/python_tied.safetensors"), &CPU).unwrap();
    let tied = pair(true);
    assert_eq!(tied.load_state_dict(&saved, true), Ok(NONE));
    assert_eq!(values(&tied), [[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]]);
    let untied = pair(false);
    says(untied.load_state_dict(&saved, true), &["missing", "\"b.weight\""]);
    assert_eq!(values(&untied), [[0.0; 4], [0.0; 4]]);
    let keys = untied.load_state_dict(&saved, false).unwrap();
    assert_eq!(keys.missing, ["b.weight"]);
    assert_eq!(values(&untied), [[1.0, 2.0, 3.0, 4.0], [0.0; 4]]);
}

#[test]
fn e17_a_shape_that_would_broadcast() {
    let model = || Named::of(vec![("weight", zeros(&[1])), ("bias", zeros(&[2]))]);
    let with = |weight: Tensor, bias: Tensor| state([("weight", weight), ("bias", bias)]);
    for strict in [true, false] {
        for (weight, bias, parts) in [
            (list(&[1.0]), list(&[1.0]), ["\"bias\"", "checkpoint [1]", "model [2]"]),
            (Tensor::scalar(1.0), list(&[1.0, 2.0]), ["\"weight\"", "checkpoint []", "model [1]"]),
            (list(&[1.0]), Tensor::ones(&[2, 1]), ["\"bias\"", "checkpoint [2, 1]", "model [2]"]),
            (list(&[1.0]), Tensor::ones(&[1, 2]), ["\"bias\"", "checkpoint [1, 2]", "model [2]"]),
            (list(&[1.0]), Tensor::scalar(1.0), ["\"bias\"", "checkpoint []", "model [2]"]),
            (list(&[1.0]), Tensor::ones(&[3]), ["\"bias\"", "checkpoint [3]", "model [2]"]),
            (Tensor::ones(&[0]), list(&[1.0, 2.0]), ["\"weight\"", "checkpoint [0]", "model [1]"]),
        ] {
            let model = model();
            says(model.load_state_dict(&with(weight, bias), strict), &parts);
            assert_eq!(values(&model), [vec![0.0], vec![0.0, 0.0]], "nothing was changed");
        }
        let model = model();
        let fits = with(list(&[1.0]), list(&[2.0, 3.0]));
        assert_eq!(model.load_state_dict(&fits, strict), Ok(NONE));
        assert_eq!(values(&model), [vec![1.0], vec![2.0, 3.0]]);
    }
}

/// PyTorch's one exception; 2.9.1 fills a parameter of no dimensions from `[1]`. From `[2]` it
/// takes the first of both without a word, which is refused here.
#[test]
fn e17_one_number_goes_into_a_scalar() {
    let model = Named::of(vec![("scale", zeros(&[]))]);
    assert_eq!(model.load_state_dict(&state([("scale", list(&[7.0]))]), true), Ok(NONE));
    assert_eq!(values(&model), [[7.0]]);
    says(model.load_state_dict(&state([("scale", list(&[1.0, 2.0]))]), false), &["checkpoint [2]"]);
    says(model.load_state_dict(&state([("scale", Tensor::ones(&[1, 1]))]), false), &["[1, 1]"]);
    assert_eq!(values(&model), [[7.0]]);
}

#[test]
fn one_error_lists_everything() {
    let model = Named::of(vec![
        ("a", zeros(&[1])),
        ("b", zeros(&[2])),
        ("c", zeros(&[3])),
        ("d", zeros(&[4])),
        ("e", zeros(&[5])),
    ]);
    let saved = state([
        ("a", list(&[5.0])),
        ("x", list(&[1.0])),
        ("c", Tensor::ones(&[3, 1])),
        ("y\n\u{e9}", list(&[1.0])),
        ("e", Tensor::ones(&[4])),
    ]);
    let all = [
        "Named",
        "nothing was loaded",
        "missing from the checkpoint (2): \"b\", \"d\"",
        "unexpected in the checkpoint (2): \"x\", \"y\\n\\u{e9}\"",
        "of another shape (2)",
        "\"c\": checkpoint [3, 1], model [3]",
        "\"e\": checkpoint [4], model [5]",
    ];
    let result = model.load_state_dict(&saved, true);
    assert!(matches!(result, Err(Error::Mismatch { .. })));
    says(result, &all);
    let message = says(model.load_state_dict(&saved, false), &[all[0], all[4], all[5], all[6]]);
    assert!(!message.contains("missing") && !message.contains("unexpected"), "{message}");
    assert!(values(&model).iter().flatten().all(|&x| x == 0.0), "nothing was changed");
    // Without those of another shape, what fits is loaded where it need not be strict.
    let saved = state([("a", list(&[5.0])), ("x", list(&[1.0])), ("c", Tensor::ones(&[3]))]);
    says(model.load_state_dict(&saved, true), &["\"b\", \"d\", \"e\"", "\"x\"", "strict = false"]);
    assert!(values(&model).iter().flatten().all(|&x| x == 0.0), "nothing was changed");
    let keys = model.load_state_dict(&saved, false).unwrap();
    assert_eq!(
        (keys.missing, keys.unexpected),
        (vec!["b".into(), "d".into(), "e".into()], vec!["x".into()])
    );
    assert_eq!(values(&model)[0], [5.0]);
    assert_eq!(values(&model)[2], [1.0; 3]);
}

/// Each keeps its type, as with PyTorch's copy_: a fraction is cut towards zero, a number becomes
/// true, and a half is rounded.
#[test]
fn numbers_are_converted_to_the_modules_type() {
    let number = 2.0f64.powi(-30);
    let odd = || Tensor::from_vec(vec![1.0 + number, -2.75, 0.0], &[3]);
    let one = Parameter::new(Tensor::zeros(&[3]));
    let half = Parameter::new(Tensor::zeros(&[3]).to(DType::BF16));
    let model = Named {
        parameters: vec![("single", one), ("half", half)],
        buffers: vec![
            ("count", Buffer::new(Tensor::zeros(&[3]).to(DType::I64))),
            ("mask", Buffer::new(Tensor::zeros(&[3]).to(DType::Bool))),
        ],
    };
    let names = ["single", "half", "count", "mask"];
    let saved = state(names.map(|name| (name, odd())));
    assert_eq!(model.load_state_dict(&saved, true), Ok(NONE));
    let found: Vec<String> = model.state_dict().iter().map(|(_, x)| shown(x)).collect();
    assert_eq!(
        found,
        [
            "f32 [3] 0000803f000030c000000000",
            "bf16 [3] 803f30c00000",
            "i64 [3] 0100000000000000feffffffffffffff0000000000000000",
            "bool [3] 010100",
        ]
    );
}

#[test]
fn buffers_are_loaded_and_those_that_are_not_saved_are_not_asked_for() {
    let (from, to) = (BatchNorm1d::new(2), BatchNorm1d::new(2));
    from.forward(&Tensor::from_vec(vec![1.0f32, 2.0, 3.0, 6.0], &[2, 2]));
    let saved = deserialize(&serialize(&from.state_dict()).unwrap(), &CPU).unwrap();
    assert_eq!(to.load_state_dict(&saved, true), Ok(NONE));
    let all = |module: &BatchNorm1d| -> Vec<String> {
        module.state_dict().iter().map(|(name, x)| format!("{name} {}", shown(x))).collect()
    };
    assert_eq!(all(&to), all(&from));
    assert_eq!(all(&to)[4], "num_batches_tracked i64 [] 0100000000000000");
    let kept = Named {
        parameters: vec![("w", zeros(&[1]))],
        buffers: vec![("cache", Buffer::non_persistent(Tensor::ones(&[2])))],
    };
    assert_eq!(kept.load_state_dict(&state([("w", list(&[1.0]))]), true), Ok(NONE));
}

/// In place: whoever holds the tensor sees it, nothing is recorded, and a gradient stays.
#[test]
fn loading_changes_the_tensors_and_no_graph() {
    let layer = Linear::new(2, 2, true, &mut Generator::new(1));
    let held = layer.weight.get();
    layer.forward(&Tensor::ones(&[1, 2])).sum().backward();
    let grad = held.grad().expect("a gradient").to_vec::<f32>();
    let saved = state([("weight", square().transpose(0, 1)), ("bias", list(&[5.0, 6.0]))]);
    assert_eq!(layer.load_state_dict(&saved, true), Ok(NONE));
    assert_eq!(held.to_vec::<f32>(), [1.0, 3.0, 2.0, 4.0]);
    assert!(held.requires_grad() && held.node().is_some_and(|_| held.grad().is_some()));
    assert_eq!(held.grad().expect("it stays").to_vec::<f32>(), grad);
    assert_eq!(layer.load_state_dict(&layer.state_dict(), true), Ok(NONE));
    assert_eq!(held.to_vec::<f32>(), [1.0, 3.0, 2.0, 4.0], "its own state changes nothing");
}

/// One tensor on each of three devices.
fn spread() -> StateDict {
    let on = |device: Device| list(&[1.5, -2.0]).to(device);
    state([
        ("host", on(Device::Cpu)),
        ("first", on(Device::Sim(0))),
        ("second", on(Device::Sim(1))),
    ])
}

fn devices(state: &StateDict) -> Vec<String> {
    state.iter().map(|(_, x)| x.device().to_string()).collect()
}

#[test]
fn map_location_says_where_tensors_go() {
    let folder = Folder::new("map-location");
    let path = folder.at("spread");
    save_file(&path, &spread()).unwrap();
    let table = |rows: &[(&str, Device)]| {
        MapLocation::Table(rows.iter().map(|(name, device)| (name.to_string(), *device)).collect())
    };
    for (to, want) in [
        (MapLocation::Saved, ["cpu", "sim:0", "sim:1"]),
        (CPU, ["cpu", "cpu", "cpu"]),
        (MapLocation::Device(Device::Sim(2)), ["sim:2", "sim:2", "sim:2"]),
        (table(&[("sim:1", Device::Sim(0))]), ["cpu", "sim:0", "sim:0"]),
        (table(&[("sim", Device::Cpu)]), ["cpu", "cpu", "sim:1"]),
        (table(&[("cpu", Device::Sim(3)), ("sim:0", Device::Cpu)]), ["sim:3", "cpu", "sim:1"]),
        (table(&[]), ["cpu", "sim:0", "sim:1"]),
    ] {
        let loaded = load_file(&path, &to).unwrap();
        assert_eq!(devices(&loaded), want, "{to:?}");
        let right = |(_, x): (&str, &Tensor)| x.to_vec::<f32>() == [1.5, -2.0];
        assert!(loaded.iter().all(right), "{to:?}");
    }
}

/// A file that was saved where there are other devices.
#[test]
fn a_device_that_is_not_here_is_named_with_its_tensors() {
    let folder = Folder::new("not-here");
    let text = String::from_utf8_lossy(&serialize(&spread()).unwrap()).into_owned();
    let moved = |to: &str| {
        let bytes = serialize(&spread()).unwrap();
        let at = text.find("sim:1").expect("the record has it");
        // The name is as long, so the header's length stays.
        folder.put("moved", [&bytes[..at], to.as_bytes(), &bytes[at + 5..]].concat())
    };
    for name in ["xpu:1", "meta ", "sim64"] {
        let path = moved(name);
        says(load_file(&path, &MapLocation::Saved), &["\"second\"", name, "map_location", "Cpu"]);
        assert_eq!(devices(&load_file(&path, &CPU).unwrap()), ["cpu"; 3]);
        let table = MapLocation::Table(vec![(name.to_string(), Device::Sim(1))]);
        assert_eq!(devices(&load_file(&path, &table).unwrap()), ["cpu", "sim:0", "sim:1"]);
    }
    let far = MapLocation::Device(Device::Sim(sim::MAX_DEVICES));
    says(
        load_file(&moved("sim:1"), &far),
        &["\"host\", \"first\", \"second\"", "sim:64", "not here"],
    );
    let gpu = MapLocation::Device(Device::Cuda(99));
    says(load_file(&moved("sim:1"), &gpu), &["\"host\"", "not here"]);
}

#[test]
fn a_module_on_a_device_is_loaded_there() {
    let layer = Linear::new(2, 2, true, &mut Generator::new(1));
    layer.to_device(Device::Sim(0));
    let saved = state([("weight", square()), ("bias", list(&[5.0, 6.0]).to(Device::Sim(1)))]);
    assert_eq!(layer.load_state_dict(&saved, true), Ok(NONE));
    assert_eq!(devices(&layer.state_dict()), ["sim:0", "sim:0"]);
    assert_eq!(values(&layer), [vec![1.0, 2.0, 3.0, 4.0], vec![5.0, 6.0]]);
}
