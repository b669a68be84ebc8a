//! State that is split over ranks, against its definition and against what PyTorch's own code cuts.

#[path = "engine/failed.rs"]
mod failed;
#[path = "engine/optim.rs"]
mod optim;
#[path = "engine/scratch.rs"]
mod scratch;
#[path = "engine/sharded.rs"]
mod sharded;

use std::slice;

use engine_room::nn::{Module, Parameter, Parts};
use engine_room::optim::{AdamW, Optimizer, Sgd};
use engine_room::rng::Generator;
use engine_room::serialize::{Sharding, Share, gather, load_share, reshard};
use engine_room::{DType, Device, Tensor};
use failed::fails;
use optim::give;
use scratch::Scratch;
use serde_json::Value;
use sharded::{Named, all_ranks, bits, by_definition, plain, random_model, save_all, shardings};

/// One unit for the whole model.
fn one_flat() -> Sharding {
    Sharding::Flat { units: Vec::new() }
}

/// A model of parameters, the last of which may be the first one once more.
struct Listed(Named);

impl Module for Listed {
    fn parts(&self) -> Parts<'_> {
        self.0.iter().fold(Parts::new(), |parts, (name, it)| parts.parameter(name, it))
    }

    fn forward(&self, x: &Tensor) -> Tensor {
        x.clone()
    }
}

fn sizes(shape: &Value) -> Vec<usize> {
    let sizes = shape.as_array().expect("a list").iter();
    sizes.map(|size| size.as_u64().expect("a size") as usize).collect()
}

/// The model of a golden case: its elements are numbered from 1 on.
fn numbered(case: &Value) -> Listed {
    let mut count = 0;
    let shapes = case["shapes"].as_array().expect("a list").iter().map(sizes).enumerate();
    let mut params: Named = shapes
        .map(|(at, shape)| {
            let numel: usize = shape.iter().product();
            let values = (count + 1..=count + numel).map(|x| x as f32).collect();
            count += numel;
            (format!("p{at}"), Parameter::new(Tensor::from_vec(values, &shape)))
        })
        .collect();
    if case["tied"] == true {
        params.push(("again".to_string(), params[0].1.clone()));
    }
    Listed(params)
}

/// Numbers that follow one another, as the golden file writes them.
fn run(first: &Value, numel: usize, padded: usize) -> Vec<f32> {
    let first = first.as_u64().unwrap_or(0) as usize;
    let numbers = (first..first + numel).map(|x| x as f32);
    numbers.chain(std::iter::repeat_n(0.0, padded)).collect()
}

#[test]
fn shards_are_those_that_pytorch_cuts() {
    let cases: Vec<Value> =
        serde_json::from_str(include_str!("golden/sharded.json")).expect("it is JSON");
    assert!(cases.len() > 100, "{}", cases.len());
    for case in &cases {
        let whole = Share::whole(&numbered(case).named_parameters()).expect("names differ");
        let world_size = case["world_size"].as_u64().expect("a number") as usize;
        let what = format!("{} on {world_size}", case["shapes"]);
        let (flat, rows) = [one_flat(), Sharding::PerParameter]
            .map(|it| all_ranks(&whole, &it, world_size))
            .into();
        for (rank, want) in case["ranks"].as_array().expect("a list").iter().enumerate() {
            let count = |at: usize| want["flat"][at].as_u64().expect("a number") as usize;
            let got = flat[rank].parameters();
            assert_eq!(got.len(), 1, "{what}");
            let values = run(&want["flat"][0], count(1), count(2));
            assert_eq!(got[0].get().detach().to_vec::<f32>(), values, "{what}, flat, rank {rank}");
            let wanted = want["rows"].as_array().expect("a list");
            assert_eq!(rows[rank].parameters().len(), wanted.len(), "{what}");
            for (got, want) in rows[rank].parameters().iter().zip(wanted) {
                let (got, shape) = (got.get().detach(), sizes(&want[0]));
                assert_eq!(got.shape(), shape, "{what}, rank {rank}");
                let values = run(&want[1], shape.iter().product(), 0);
                assert_eq!(got.to_vec::<f32>(), values, "{what}, rank {rank}");
            }
        }
    }
}

/// Every split of a random model is that of the definition; the whole comes back from each, and so
/// does any other split.
#[test]
fn any_split_becomes_any_other() {
    let mut generator = Generator::new(20);
    for round in 0..12 {
        let dtype = [DType::F32, DType::BF16, DType::F64, DType::F16][round % 4];
        let model = random_model(&mut generator, dtype);
        let whole = Share::whole(&model).expect("names differ");
        for sharding in shardings(&model) {
            for world_size in 1..=8 {
                let what = format!("seed 20, round {round}, {sharding:?} on {world_size}");
                let shares = all_ranks(&whole, &sharding, world_size);
                for (rank, share) in shares.iter().enumerate() {
                    let want = by_definition(&model, &sharding, rank, world_size);
                    assert_eq!(plain(share), want, "{what}, rank {rank}");
                }
                let again = gather(&shares).expect("all ranks are there");
                assert_eq!(plain(&again), plain(&whole), "{what}");
                let other_world = 1 + generator.below(8);
                let rank = generator.below(other_world);
                for other in shardings(&model) {
                    let got = reshard(&shares, &other, rank, other_world).expect("it fits");
                    let want = by_definition(&model, &other, rank, other_world);
                    assert_eq!(plain(&got), want, "{what}, to {other:?} on {other_world}");
                }
            }
        }
    }
}

type Make = fn(Vec<Parameter>) -> Box<dyn Optimizer>;

const OPTIMIZERS: [Make; 3] = [
    |params| Box::new(AdamW::new(params, 0.01)),
    |params| Box::new(Sgd::new(params, 0.1).momentum(0.9).weight_decay(0.01)),
    |params| Box::new(Sgd::new(params, 0.1)),
];

/// Gradients of a model's shapes, by its names.
fn gradients(model: &Named, generator: &mut Generator) -> Named {
    let drawn = model.iter().map(|(name, x)| {
        let x = x.get();
        (name.clone(), Parameter::new(Tensor::randn(x.shape(), generator).to(x.dtype())))
    });
    drawn.collect()
}

fn step(params: &[Parameter], gradients: &[Parameter], optimizer: &mut dyn Optimizer) {
    for (param, gradient) in params.iter().zip(gradients) {
        give(param, &gradient.get().detach());
    }
    optimizer.step();
}

/// All bits of a whole state, with what the optimizer keeps for each parameter.
fn state_bits(model: &Named, optimizer: &dyn Optimizer) -> Vec<(u64, Vec<Vec<u32>>)> {
    let states = optimizer.state_dict().params;
    let each = model.iter().zip(states).map(|((_, param), state)| {
        let kept = state.tensors.iter().map(|(_, x)| bits(x));
        (state.step, [bits(&param.get())].into_iter().chain(kept).collect())
    });
    each.collect()
}

fn copied(model: &Named) -> Named {
    let copy = |it: &Parameter| Parameter::new(it.get().detach().copy());
    model.iter().map(|(name, it)| (name.clone(), copy(it))).collect()
}

/// Three steps on the whole, three more on shards, and again three on other shards, through files
/// and without them, have the bits of nine steps on the whole.
#[test]
fn steps_on_shards_are_the_steps_on_the_whole() {
    let mut generator = Generator::new(21);
    for (round, make) in OPTIMIZERS.into_iter().cycle().take(9).enumerate() {
        let dtype = [DType::F32, DType::BF16, DType::F16][round / 3];
        let model = random_model(&mut generator, dtype);
        let all: Vec<Named> = (0..9).map(|_| gradients(&model, &mut generator)).collect();
        let params = |named: &Named| named.iter().map(|(_, it)| it.clone()).collect::<Vec<_>>();
        let straight = copied(&model);
        let mut want = make(params(&straight));
        all.iter().for_each(|by| step(&params(&straight), &params(by), &mut *want));
        for sharding in shardings(&model) {
            let mine = copied(&model);
            let mut optimizer = make(params(&mine));
            all[..3].iter().for_each(|by| step(&params(&mine), &params(by), &mut *optimizer));
            let mut whole = Share::whole(&mine).expect("names differ");
            whole.keep_state_of(&*optimizer);
            let (first, second) = (1 + generator.below(8), 1 + generator.below(8));
            let mut shares = all_ranks(&whole, &sharding, first);
            train(&mut shares, &sharding, &all[3..6], make);
            let folder = Scratch::new("sharded-steps");
            save_all(folder.path(), &shares);
            let load = |rank| load_share(folder.path(), &sharding, rank, second, Device::Cpu);
            let mut shares: Vec<Share> = (0..second).map(|rank| load(rank).unwrap()).collect();
            train(&mut shares, &sharding, &all[6..], make);
            let whole = gather(&shares).expect("all ranks are there");
            let state = whole.state_dict();
            let ended: Named = straight
                .iter()
                .map(|(name, _)| (name.clone(), Parameter::new(state.get(name).unwrap().clone())))
                .collect();
            let mut optimizer = make(whole.parameters());
            whole.load_state_into(&mut *optimizer).expect("it is its state");
            let what = format!("seed 21, round {round}, {sharding:?} on {first} and {second}");
            let (got, want) = (state_bits(&ended, &*optimizer), state_bits(&straight, &*want));
            assert_eq!(got, want, "{what}");
        }
    }
}

/// Steps on every rank, each with an optimizer of its own.
fn train(shares: &mut [Share], sharding: &Sharding, gradients: &[Named], make: Make) {
    let world_size = shares.len();
    for (rank, share) in shares.iter_mut().enumerate() {
        let mut optimizer = make(share.parameters());
        share.load_state_into(&mut *optimizer).expect("it is its state");
        for whole in gradients {
            let whole = Share::whole(whole).expect("names differ");
            let mine = reshard(slice::from_ref(&whole), sharding, rank, world_size);
            step(&share.parameters(), &mine.expect("it fits").parameters(), &mut *optimizer);
        }
        share.keep_state_of(&*optimizer);
    }
}

/// From any number of ranks to any other, through files, in all layouts.
#[test]
fn files_of_any_world_load_in_any_other() {
    let mut generator = Generator::new(22);
    let model = random_model(&mut generator, DType::F32);
    let whole = Share::whole(&model).expect("names differ");
    for sharding in shardings(&model) {
        for saved_by in 1..=8 {
            let folder = Scratch::new("sharded-worlds");
            save_all(folder.path(), &all_ranks(&whole, &sharding, saved_by));
            for (other, world_size) in
                shardings(&model).iter().flat_map(|it| (1..=8).map(move |world| (it, world)))
            {
                for rank in 0..world_size {
                    let got = load_share(folder.path(), other, rank, world_size, Device::Cpu);
                    let want = by_definition(&model, other, rank, world_size);
                    let what = format!("seed 22, {sharding:?} of {saved_by}");
                    let got = plain(&got.expect("it is whole"));
                    assert_eq!(got, want, "{what} to {other:?}, rank {rank} of {world_size}");
                }
            }
        }
    }
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let param = |numel: usize| Parameter::new(Tensor::ones(&[numel]));
    let named = |names: &[&str]| -> Named {
        names.iter().map(|name| (name.to_string(), param(5))).collect()
    };
    fails(Share::whole(&named(&["a", "b", "a"])), &["\"a\" stands there twice"]);
    fails(Share::whole(&Vec::new()), &["there are no parameters"]);
    let model = named(&["a", "m.b"]);
    let whole = Share::whole(&model).expect("names differ");
    let shares = all_ranks(&whole, &one_flat(), 3);
    fails(gather(&shares[..2]), &["ranks [0, 1]", "all 3 ranks"]);
    let turned = [shares[1].clone(), shares[0].clone(), shares[2].clone()];
    fails(gather(&turned), &["ranks [1, 0, 2]", "in order"]);
    fails(gather(&[]), &["there are no shares"]);
    let strange = Sharding::Flat { units: vec!["n".to_string()] };
    fails(reshard(slice::from_ref(&whole), &strange, 0, 2), &["no parameter is in the unit \"n\""]);
    // One parameter of a unit was stepped, and the other not: no flat tensor has two counts.
    let mut whole = whole;
    let mut adamw = AdamW::new(whole.parameters(), 0.1);
    give(&model[0].1, &Tensor::ones(&[5]));
    adamw.step();
    whole.keep_state_of(&adamw);
    let uneven = reshard(slice::from_ref(&whole), &one_flat(), 0, 2);
    fails(uneven, &["\"a\" (step 1, param f32, exp_avg f32", "\"m.b\" (step 0", "PerParameter"]);
    let apart = Sharding::Flat { units: vec!["m".to_string()] };
    assert_eq!(all_ranks(&whole, &apart, 2)[1].parameters().len(), 2);
    let rows = all_ranks(&whole, &Sharding::PerParameter, 2);
    fails(gather(&[rows[0].clone(), shares[1].clone()]), &["rank 1 is at another step"]);
    let converted = Share::whole(&model[..1]).expect("it has a name");
    model[0].1.set(model[0].1.get().detach().to(DType::F64));
    fails(gather(slice::from_ref(&converted)), &["\"param\" of \"a\" was f32", "is f64 now"]);
    let mut stranger = AdamW::new(vec![param(5)], 0.1);
    fails(whole.load_state_into(&mut stranger), &["parameter 0", "none of this share"]);
}
