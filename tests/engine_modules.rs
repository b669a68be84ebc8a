//! The names under which modules take memory: those of their parts.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use engine_room::memory::{
    Action, Role, TraceEntry, bytes_by_op, memory_snapshot, record_memory_history,
};
use engine_room::nn::{
    BatchNorm1d, Dropout, Embedding, Gelu, Gpt, GptConfig, LayerNorm, Linear, Mlp, Module,
    MultiHeadAttention, Recomputed, Relu, RmsNorm, Sequential, Silu, Tanh, TransformerBlock,
};
use engine_room::optim::{AdamW, Optimizer, Sgd};
use engine_room::rng::{Generator, manual_seed};
use engine_room::{Device, Tensor, catch, sim};

/// The history of the host belongs to the process: one test at a time has it.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What was taken while f ran.
fn taken(f: impl FnOnce()) -> Vec<TraceEntry> {
    record_memory_history(Device::Cpu, 100_000);
    f();
    let trace = memory_snapshot(Device::Cpu).trace;
    record_memory_history(Device::Cpu, 0);
    trace.into_iter().filter(|entry| entry.action == Action::Alloc).collect()
}

/// The modules of some entries.
fn modules<'a>(entries: impl Iterator<Item = &'a TraceEntry>) -> BTreeSet<String> {
    entries.map(|entry| entry.label.module.to_string()).collect()
}

/// Every module of the tree by its name, the innermost first, and whether it has modules inside.
fn names(module: &(impl Module + 'static)) -> Vec<(String, bool)> {
    let mut names: Vec<String> = Vec::new();
    module.apply(&mut |name, _| names.push(name.to_string()));
    let inner = |outer: &str| {
        let prefix = if outer.is_empty() { String::new() } else { format!("{outer}.") };
        names.iter().any(|name| name != outer && name.starts_with(&prefix))
    };
    names.iter().map(|name| (name.clone(), inner(name))).collect()
}

/// Forward and backward: whatever computes has the name that `apply` gives it, and none is missing.
#[track_caller]
fn named_as_in_the_tree(module: &(impl Module + 'static), x: &Tensor) {
    let y = std::cell::OnceCell::new();
    let forward = taken(|| drop(y.set(module.forward(x))));
    let backward = taken(|| y.get().unwrap().sum().backward());
    let names = names(module);
    let leaves: BTreeSet<String> =
        names.iter().filter(|(_, inner)| !inner).map(|(name, _)| name.clone()).collect();
    let all: BTreeSet<String> = names.into_iter().map(|(name, _)| name).collect();
    let kind = module.type_name();
    let found = modules(forward.iter());
    assert!(leaves.is_subset(&found) && found.is_subset(&all), "{kind}: {found:?} of {all:?}");
    let found = modules(backward.iter().filter(|entry| entry.label.op.backward));
    assert!(leaves.is_subset(&found) && found.is_subset(&all), "{kind} backward: {found:?}");
}

fn gpt(layers: usize, dropout: f64, generator: &mut Generator) -> Gpt {
    let (vocab, context, width, heads, tied) = (11, 6, 8, 2, false);
    let config = GptConfig { vocab, context, width, layers, heads, dropout, tied };
    Gpt::new(&config, generator)
}

#[test]
fn every_module_computes_under_its_name() {
    let _alone = alone();
    manual_seed(3);
    let mut rng = Generator::new(5);
    let x = Tensor::randn(&[4, 8], &mut rng).requires_grad_(true);
    named_as_in_the_tree(&Linear::new(8, 4, true, &mut rng), &x);
    named_as_in_the_tree(&Mlp::new(&[8, 6, 5, 2], &mut rng), &x);
    let all = Sequential::new()
        .append(LayerNorm::new(&[8]))
        .append(RmsNorm::new(&[8]))
        .append(Mlp::new(&[8, 6, 8], &mut rng))
        .append(BatchNorm1d::new(8))
        .append(Sequential::new().append(Relu).append(Gelu).append(Silu).append(Tanh))
        .append(Dropout::new(0.5))
        .append(Recomputed::new(Mlp::new(&[8, 4, 8], &mut rng)));
    named_as_in_the_tree(&all, &x);
    let x = Tensor::randn(&[2, 3, 8], &mut rng).requires_grad_(true);
    named_as_in_the_tree(&MultiHeadAttention::new(8, 2, true, &mut rng), &x);
    named_as_in_the_tree(&TransformerBlock::new(8, 2, true, 0.5, &mut rng), &x);
    let tokens = Tensor::randint(0, 11, &[2, 3], &mut rng);
    named_as_in_the_tree(&Embedding::new(11, 4, &mut rng), &tokens);
}

/// All of a Gpt computes as part of a module that the tree knows; the table of positions alone is
/// read without being called.
#[test]
fn a_gpt_computes_under_the_names_of_its_parts() {
    let _alone = alone();
    manual_seed(3);
    for recomputed in [false, true] {
        let mut rng = Generator::new(5);
        let model = gpt(12, 0.5, &mut rng).recompute_blocks(|i| recomputed && i % 2 == 0);
        let tokens = Tensor::randint(0, 11, &[2, 6], &mut rng);
        let trace = taken(|| model.forward(&tokens).sum().backward());
        let found = modules(trace.iter());
        let names = names(&model);
        for (name, inner) in &names {
            assert!(*inner || found.contains(name) || name == "positions", "{name}: {found:?}");
        }
        assert!(found.iter().all(|name| names.iter().any(|(known, _)| known == name)), "{found:?}");
        assert!(found.contains("blocks.11.self_attn.qkv"), "two digits sort as one number");
    }
}

/// A gradient belongs to the module whose operation made it, and to the operation.
#[test]
fn gradients_are_named_by_their_operation() {
    let _alone = alone();
    let model = Mlp::new(&[4, 3, 2], &mut Generator::new(1));
    let trace = taken(|| model.forward(&Tensor::ones(&[5, 4])).sum().backward());
    let gradients = trace.iter().filter(|entry| entry.label.role == Role::Gradient);
    let found: Vec<_> =
        gradients.map(|it| (it.label.op.to_string(), it.label.module, it.size)).collect();
    let mut want = Vec::new();
    for (module, inputs, outputs) in [("layers.1", 3, 2), ("layers.0", 4, 3)] {
        want.extend([inputs * outputs, outputs].map(|n| ("linear backward".into(), module, 4 * n)));
    }
    let sorted = |mut list: Vec<(String, &'static str, u64)>| {
        list.sort();
        list
    };
    assert_eq!(sorted(found), sorted(want));
    let a = Tensor::ones(&[3]).requires_grad_(true);
    a.add(&a).sum().backward();
    let shared = bytes_by_op(Device::Cpu).into_iter().find(|it| it.role == Role::Gradient);
    assert!(shared.is_some(), "the sum of what both sides of an addition get");
}

#[test]
fn what_an_optimizer_keeps_has_its_name() {
    let _alone = alone();
    let x = Tensor::ones(&[2, 4]);
    let kept = |optimizer: &mut dyn Optimizer, model: &Linear| {
        model.forward(&x).sum().backward();
        optimizer.step();
        let held = bytes_by_op(Device::Cpu).into_iter().filter(|it| it.role == Role::Optimizer);
        held.map(|it| (it.op.to_string(), it.bytes)).collect::<Vec<_>>()
    };
    let model = Linear::new(4, 4, true, &mut Generator::new(1));
    let mut adamw = AdamW::new(model.parameters(), 0.1);
    assert_eq!(kept(&mut adamw, &model), [("AdamW".to_string(), 2 * 80)]);
    let state = adamw.state_dict();
    let mut again = AdamW::new(model.parameters(), 0.1);
    again.load_state_dict(&state).unwrap();
    drop((adamw, state));
    assert_eq!(kept(&mut again, &model), [("AdamW".to_string(), 2 * 80)], "also when loaded");
    drop(again);
    let mut sgd = Sgd::new(model.parameters(), 0.1).momentum(0.9);
    assert_eq!(kept(&mut sgd, &model), [("Sgd".to_string(), 80)]);
}

#[test]
fn a_gpt_that_runs_out_says_which_of_its_parts_hold_the_memory() {
    let gpu = Device::Sim(56);
    sim::set_capacity(56, 16 << 20);
    let mut rng = Generator::new(5);
    let (vocab, context, width, layers, heads) = (64, 64, 64, 12, 4);
    let config = GptConfig { vocab, context, width, layers, heads, dropout: 0.0, tied: true };
    let model = Gpt::new(&config, &mut rng);
    model.to_device(gpu);
    let tokens = Tensor::randint(0, vocab as i64, &[8, context], &mut rng).to(gpu);
    let error = catch(|| model.forward(&tokens)).expect_err("its activations do not fit");
    let text = error.to_string();
    println!("{text}");
    for part in [
        "; the allocator needs a segment of 2.00 MiB (2097152 bytes) for it; tensors hold ",
        "by linear (activation) in blocks.*.linear1",
        "by gelu (activation) in blocks.*, ",
        "by to (parameter), ",
        "try: a smaller batch, or recompute()",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
