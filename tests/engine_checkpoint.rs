//! Training checkpoints: what is in them, what is refused and changes nothing, and how saving
//! behaves on a real disk.

#[path = "engine/failed.rs"]
mod failed;
#[path = "engine/scratch.rs"]
mod scratch;

use std::fs;
use std::path::{Path, PathBuf};

use engine_room::amp::GradScaler;
use engine_room::data::{Sampler, SamplerState};
use engine_room::nn::{Linear, Module};
use engine_room::optim::{AdamW, LambdaLr, LrScheduler, Optimizer, OptimizerState, Sgd};
use engine_room::rng::{self, Generator, GeneratorState, manual_seed};
use engine_room::serialize::{
    Checkpoint, Checkpoints, Disk, Files, MapLocation, SavedRun, load_file, replace, save_file,
};
use engine_room::{Error, Tensor};
use failed::fails;
use scratch::Scratch;

fn load(path: &Path) -> SavedRun {
    Checkpoint::load(path, &MapLocation::Saved).expect("a checkpoint")
}

fn linear(inputs: usize, seed: u64) -> Linear {
    Linear::new(inputs, 3, true, &mut Generator::new(seed))
}

/// An optimizer that has taken one step.
fn stepped(model: &Linear) -> AdamW {
    let mut adamw = AdamW::new(model.parameters(), 0.1);
    model.forward(&Tensor::ones(&[2, model.weight.get().shape()[1]])).sum().backward();
    adamw.step();
    adamw
}

/// All numbers of a model and an optimizer.
fn numbers(model: &dyn Module, optimizer: &dyn Optimizer) -> Vec<f64> {
    let (model, kept) = (model.state_dict(), optimizer.state_dict().to_tensors().expect("named"));
    let all = model.iter().chain(kept.iter());
    all.flat_map(|(_, x)| x.to(engine_room::DType::F64).to_vec::<f64>()).collect()
}

/// Numbers at the ends of their ranges, and text, come back as they were.
#[test]
fn small_parts_come_back_exactly() {
    let scratch = Scratch::new("records");
    let path = scratch.path().join("a.safetensors");
    let far = GeneratorState { seed: u64::MAX, drawn: u64::MAX - 7 };
    let of = |len, seed, epoch, taken| SamplerState { len, seed, epoch, taken };
    for state in [of(10, Some(u64::MAX), 3, 7), of(0, None, u64::MAX, 0), of(5, Some(0), 0, 5)] {
        let scaler = GradScaler::new().init_scale(f32::MAX).growth_interval(u32::MAX);
        Checkpoint::new(u64::MAX)
            .scaler(&scaler)
            .sampler(state)
            .generator("a.b", &Generator::from_state(far))
            .generator("a", &Generator::new(3))
            .tensor("losses", &Tensor::arange(3))
            .text("note", "8 heads, \u{3b7} = 0.1")
            .save(&path)
            .expect("room");
        let saved = load(&path);
        let (mut sampler, mut a, mut a_b) =
            (Sampler::random(state.len, 1), Generator::new(0), Generator::new(0));
        let mut loaded = GradScaler::new();
        let step = saved
            .restore()
            .sampler(&mut sampler)
            .scaler(&mut loaded)
            .generator("a", &mut a)
            .generator("a.b", &mut a_b)
            .default_generator()
            .finish();
        assert_eq!((step, saved.step()), (Ok(u64::MAX), u64::MAX));
        assert_eq!(
            (sampler.state(), a.state(), a_b.state()),
            (state, Generator::new(3).state(), far)
        );
        assert_eq!(loaded.state_dict(), scaler.state_dict());
        assert_eq!(saved.text("note").as_deref(), Ok("8 heads, \u{3b7} = 0.1"));
        assert_eq!(saved.tensor("losses").map(|x| x.to_vec::<f32>()), Ok(vec![0.0, 1.0, 2.0]));
        fails(saved.text("losses"), &["losses", "f32 [3]", "no text"]);
        fails(saved.tensor("loss"), &["\"loss\""]);
    }
}

/// The file is one that every safetensors library reads, with the model's names.
#[test]
fn the_file_has_the_weights_under_their_names() {
    let scratch = Scratch::new("names");
    let path = scratch.path().join("a.safetensors");
    let model = linear(2, 1);
    Checkpoint::new(7).model(&model).optimizer(&stepped(&model)).save(&path).expect("room");
    let file = load_file(&path, &MapLocation::Saved).expect("a file");
    let mut names: Vec<&str> = file.names().collect();
    names.sort_unstable();
    let want = [
        "generator.default.drawn",
        "generator.default.seed",
        "model.bias",
        "model.weight",
        "optimizer.lr",
        "optimizer.state.0.exp_avg",
        "optimizer.state.0.exp_avg_sq",
        "optimizer.state.1.exp_avg",
        "optimizer.state.1.exp_avg_sq",
        "optimizer.step",
        "optimizer.weight_decay",
        "step",
    ];
    assert_eq!(names, want);
    assert_eq!(file.get("optimizer.lr").map(|x| x.to_vec::<f64>()), Some(vec![0.1]));
    let weights = load(&path).model_state().expect("a model");
    assert_eq!(weights.get("weight").map(|x| x.to_vec::<f32>()), Some(model.weight.get().to_vec()));
    save_file(&path, &weights).expect("room");
    fails(Checkpoint::load(&path, &MapLocation::Saved), &["a.safetensors", "`step`", "load_file"]);
}

/// Whatever does not fit, no part is restored.
#[test]
fn a_part_that_does_not_fit_changes_nothing() {
    let scratch = Scratch::new("refused");
    let path = scratch.path().join("a.safetensors");
    let model = linear(2, 1);
    let mut optimizer = stepped(&model);
    let scheduler = LrScheduler::new(LambdaLr(|_| 1.0), &mut optimizer);
    Checkpoint::new(1)
        .model(&model)
        .optimizer(&optimizer)
        .scheduler(&scheduler)
        .sampler(Sampler::sequential(10).state())
        .save(&path)
        .expect("room");
    let saved = load(&path);
    let tries: [(usize, usize, bool, &[&str]); 4] = [
        (3, 10, false, &["weight", "[3, 2]", "[3, 3]"]),
        (2, 11, false, &["10 examples", "11"]),
        (2, 10, true, &["Sgd", "exp_avg", "momentum_buffer"]),
        (3, 11, true, &["weight"]),
    ];
    for (inputs, examples, sgd, says) in tries {
        let model = linear(inputs, 5);
        let mut optimizer: Box<dyn Optimizer> = match sgd {
            true => Box::new(Sgd::new(model.parameters(), 0.3).momentum(0.5)),
            false => Box::new(AdamW::new(model.parameters(), 0.3)),
        };
        let mut scheduler = LrScheduler::new(LambdaLr(|_| 1.0), &mut *optimizer);
        let mut sampler = Sampler::random(examples, 4);
        manual_seed(31);
        let before = (numbers(&model, &*optimizer), scheduler.state_dict(), sampler.state());
        let outcome = saved
            .restore()
            .model(&model)
            .optimizer(&mut *optimizer)
            .scheduler(&mut scheduler)
            .sampler(&mut sampler)
            .default_generator()
            .finish();
        let said = outcome.expect_err("it does not fit").to_string();
        assert!(says.iter().all(|part| said.contains(part)), "{said}");
        let after = (numbers(&model, &*optimizer), scheduler.state_dict(), sampler.state());
        assert_eq!(after, before);
        assert_eq!(rng::get_state(), GeneratorState { seed: 31, drawn: 0 });
    }
}

#[test]
fn parts_that_are_missing_or_left_over_are_all_named() {
    let scratch = Scratch::new("parts");
    let path = scratch.path().join("a.safetensors");
    let model = linear(2, 1);
    let generator = Generator::new(1);
    Checkpoint::new(1).model(&model).generator("data", &generator).save(&path).expect("room");
    let saved = load(&path);
    let saved_weights = model.weight.get().copy();
    let (mut optimizer, mut scaler) = (stepped(&model), GradScaler::new());
    let before = numbers(&model, &optimizer);
    let both = saved.restore().optimizer(&mut optimizer).scaler(&mut scaler).finish();
    let parts = ["lacks optimizer, scaler", "has generator.data, generator.default, model"];
    fails(both, &[parts[0], parts[1], "partly()"]);
    fails(saved.restore().partly().optimizer(&mut optimizer).finish(), &["lacks optimizer"]);
    assert_eq!(numbers(&model, &optimizer), before);
    let other = linear(2, 2);
    assert_eq!(saved.restore().partly().model(&other).finish(), Ok(1));
    assert_eq!(other.weight.get().to_vec::<f32>(), saved_weights.to_vec::<f32>());
    fails(
        Checkpoint::new(1).tensor("a", &Tensor::ones(&[1])).text("a", "b").save(&path),
        &["extra.a", "rename"],
    );
    assert_eq!(load(&path).step(), 1, "the file is as it was");
}

#[test]
fn an_optimizer_is_tensors_with_names() {
    let model = linear(2, 1);
    let optimizer = stepped(&model);
    let mut tensors = optimizer.state_dict().to_tensors().expect("named");
    let again = OptimizerState::from_tensors(&tensors).expect("its own tensors");
    assert_eq!(again.groups, optimizer.state_dict().groups);
    let names = |state: &OptimizerState| -> Vec<(u64, Vec<String>)> {
        let names =
            |tensors: &[(String, Tensor)]| tensors.iter().map(|(name, _)| name.clone()).collect();
        state.params.iter().map(|param| (param.step, names(&param.tensors))).collect()
    };
    assert_eq!(names(&again), names(&optimizer.state_dict()));
    for stray in ["state.2.exp_avg", "state.x.exp_avg", "exp_avg"] {
        let mut with = tensors.clone();
        with.insert(stray, Tensor::ones(&[1])).expect("a new name");
        fails(OptimizerState::from_tensors(&with), &[stray, "belongs to no parameter"]);
    }
    tensors = Default::default();
    fails(OptimizerState::from_tensors(&tensors), &["`lr`", "missing"]);
    tensors.insert("lr", Tensor::ones(&[1])).expect("a new name");
    fails(OptimizerState::from_tensors(&tensors), &["`lr`", "f32 [1]", "f64"]);
}

fn entries(checkpoints: &Checkpoints) -> Vec<(u64, u64)> {
    let entries = checkpoints.list().expect("a folder");
    entries.iter().map(|entry| (entry.number, entry.step)).collect()
}

#[test]
fn the_last_checkpoints_are_kept_and_a_damaged_one_is_passed_over() {
    let scratch = Scratch::new("keep");
    let checkpoints = Checkpoints::new(scratch.path(), 2);
    assert!(checkpoints.latest(&MapLocation::Saved).expect("a folder").is_none());
    for step in [10, 20, 30] {
        checkpoints.save(&Checkpoint::new(step)).expect("room");
    }
    assert_eq!(entries(&checkpoints), [(2, 20), (3, 30)]);
    // A run that goes back: the last one saved is the last one, though its step is lower.
    let last = checkpoints.save(&Checkpoint::new(25)).expect("room");
    assert_eq!(entries(&checkpoints), [(3, 30), (4, 25)]);
    let bytes = fs::read(&last.path).expect("a file");
    for damaged in [&bytes[..0], &bytes[..7], &bytes[..bytes.len() - 1], b"{\"not\": \"it\"}    "] {
        fs::write(&last.path, damaged).expect("room");
        let latest = checkpoints.latest(&MapLocation::Saved).expect("one is good").expect("some");
        assert_eq!((latest.run.step(), latest.entry.number), (30, 3));
        let [(entry, error)] = &latest.damaged[..] else { panic!("{:?}", latest.damaged) };
        assert_eq!(entry, &last);
        assert!(error.to_string().contains("checkpoint-000004-step-25"), "{error}");
    }
    fs::write(scratch.path().join("checkpoint-000003-step-30.safetensors"), "").expect("room");
    fails(checkpoints.latest(&MapLocation::Saved).map(|_| ()), &["none of its 2 checkpoints"]);
    checkpoints.save(&Checkpoint::new(40)).expect("room");
    let latest = checkpoints.latest(&MapLocation::Saved).expect("one is good").expect("some");
    assert_eq!((latest.run.step(), latest.damaged.len()), (40, 0));
    let missing = Checkpoints::new(&scratch.path().join("none"), 1);
    fails(missing.list(), &["none", "make it first"]);
    fails(missing.save(&Checkpoint::new(1)), &["none", "make it first"]);
}

fn save(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    replace(&Disk, path, &mut |file| file.write(bytes))
}

/// What a killed process has left is removed by the next save of that file, and what another one is
/// writing at the moment is not.
#[test]
fn leftovers_go_and_files_in_use_stay() {
    let scratch = Scratch::new("leftovers");
    let path = scratch.path().join("a.st");
    let names = [".a.st.0123456789abcdef.saving", ".b.st.0123456789abcdef.saving", ".a.st.saving"];
    for name in names {
        fs::write(scratch.path().join(name), "part").expect("room");
    }
    let held = scratch.path().join(".a.st.fedcba9876543210.saving");
    let holder = Disk.create(&held).expect("room");
    save(&path, b"all").expect("room");
    let held_name = ".a.st.fedcba9876543210.saving";
    assert_eq!(
        scratch.names(),
        [held_name, ".a.st.saving", ".b.st.0123456789abcdef.saving", "a.st"]
    );
    assert!(Disk.create(&held).is_err(), "somebody else has it");
    drop(holder);
    save(&path, b"all").expect("room");
    assert!(!scratch.names().contains(&held_name.to_string()));
    let panicked = std::panic::catch_unwind(|| {
        replace(&Disk, &path, &mut |_| -> std::io::Result<()> { panic!("in the middle") })
    });
    assert!(panicked.is_err());
    assert_eq!(scratch.names().len(), 3, "{:?}", scratch.names());
    assert_eq!(fs::read(&path).expect("the old one"), b"all");
}

#[test]
fn names_that_cannot_be_saved_to_are_refused() {
    let scratch = Scratch::new("names-refused");
    fails(save(scratch.path(), b"x"), &["folder"]);
    fails(save(Path::new(".."), b"x"), &["folder"]);
    let kept = scratch.path().join("kept");
    fs::write(&kept, "old").expect("room");
    let mut permissions = fs::metadata(&kept).expect("it is there").permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&kept, permissions.clone()).expect("it is ours");
    fails(save(&kept, b"new"), &["kept", "read-only"]);
    assert_eq!(fs::read(&kept).expect("it is there"), b"old");
    assert_eq!(scratch.names(), ["kept"]);
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let scratch = Scratch::new("links");
    let in_it = |name: &str| -> PathBuf { scratch.path().join(name) };
    fs::create_dir(in_it("other")).expect("room");
    fs::write(in_it("other/file"), "old").expect("room");
    fs::set_permissions(in_it("other/file"), fs::Permissions::from_mode(0o640)).expect("ours");
    symlink("other/file", in_it("link")).expect("room");
    save(&in_it("link"), b"new").expect("room");
    assert_eq!(fs::read(in_it("other/file")).expect("it is there"), b"new");
    assert!(fs::symlink_metadata(in_it("link")).expect("it is there").is_symlink());
    let mode = fs::metadata(in_it("other/file")).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    symlink("nowhere/file", in_it("dangling")).expect("room");
    fails(save(&in_it("dangling"), b"new"), &["dangling", "link"]);
    assert_eq!(scratch.names(), ["dangling", "link", "other"]);
}
