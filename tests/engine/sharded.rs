//! For the tests of sharded state: random models, and what each rank should hold, by definition.
#![allow(dead_code, reason = "each test needs some of it")]

use std::path::Path;

use engine_room::nn::Parameter;
use engine_room::rng::Generator;
use engine_room::serialize::{Disk, Sharding, Share, reshard, save_index, save_share};
use engine_room::{DType, Tensor};

/// A parameter: its name, its shape, and the bits of its numbers.
pub type Plain = (String, Vec<usize>, Vec<u32>);

/// Parameters with numbers.
pub type Named = Vec<(String, Parameter)>;

/// A model of a few modules, some inside others, with sizes from 0 on and scalars.
pub fn random_model(generator: &mut Generator, dtype: DType) -> Named {
    let modules = ["", "embed.", "blocks.1.", "blocks.1.mlp.", "blocks.10.", "head."];
    let count = 1 + generator.below(12);
    let param = |number| {
        let dims = generator.below(4);
        let shape: Vec<usize> = (0..dims).map(|_| size(generator)).collect();
        let module = modules[generator.below(modules.len())];
        let x = Tensor::randn(&shape, generator).to(dtype);
        (format!("{module}p{number}"), Parameter::new(x))
    };
    (0..count).map(param).collect()
}

/// Mostly from 1 to 9, now and then 0.
fn size(generator: &mut Generator) -> usize {
    if generator.below(12) == 0 { 0 } else { 1 + generator.below(9) }
}

/// Both layouts, the flat one in units too: those of the list that the model has.
pub fn shardings(model: &Named) -> Vec<Sharding> {
    let own = |module: &&str| {
        let inner = format!("{module}.mlp.");
        let is_in = |name: &String| {
            name.starts_with(&format!("{module}."))
                && (*module != "blocks.1" || !name.starts_with(&inner))
        };
        model.iter().any(|(name, _)| is_in(name))
    };
    let units = ["blocks.1", "blocks.1.mlp", "head"].into_iter().filter(own);
    let units = units.map(str::to_string).collect();
    vec![Sharding::PerParameter, Sharding::Flat { units: Vec::new() }, Sharding::Flat { units }]
}

/// The bits of all elements in logical order, each type in its own width.
pub fn bits(x: &Tensor) -> Vec<u32> {
    x.detach().to(DType::F32).to_vec::<f32>().into_iter().map(f32::to_bits).collect()
}

/// A state as plain lists.
pub fn plain(share: &Share) -> Vec<Plain> {
    let state = share.state_dict();
    state.iter().map(|(name, x)| (name.to_string(), x.shape().to_vec(), bits(x))).collect()
}

/// What a rank should hold, said the long way: every element is dealt out by itself.
pub fn by_definition(
    model: &Named,
    sharding: &Sharding,
    rank: usize,
    world_size: usize,
) -> Vec<Plain> {
    match sharding {
        Sharding::PerParameter => {
            model.iter().map(|(name, x)| rows(name, &x.get(), rank, world_size)).collect()
        }
        Sharding::Flat { units } => flat(model, units, rank, world_size),
    }
}

/// The rows go to ranks in order, to each one as many as to the first: the fewest with which the
/// ranks can take them all.
fn rows(name: &str, x: &Tensor, rank: usize, world_size: usize) -> Plain {
    let shape = x.shape().to_vec();
    if shape.is_empty() {
        let held = if rank == 0 { (vec![], bits(x)) } else { (vec![0], vec![]) };
        return (name.to_string(), held.0, held.1);
    }
    let each = (0..).find(|each| each * world_size >= shape[0]).expect("a number");
    let of_row = |row: usize| (0..).find(|rank| row < (rank + 1) * each).expect("a number");
    let width: usize = shape[1..].iter().product();
    let numbers = bits(x);
    let mine: Vec<usize> = (0..shape[0]).filter(|&row| of_row(row) == rank).collect();
    let values = mine.iter().flat_map(|row| numbers[row * width..][..width].to_vec()).collect();
    let shape = [&[mine.len()], &shape[1..]].concat();
    (name.to_string(), shape, values)
}

fn flat(model: &Named, modules: &[String], rank: usize, world_size: usize) -> Vec<Plain> {
    let mut units: Vec<(String, Vec<u32>)> = Vec::new();
    for (name, x) in model {
        let mut unit = String::new();
        for module in modules {
            if name.starts_with(&format!("{module}.")) && module.len() > unit.len() {
                unit = module.clone();
            }
        }
        if !units.iter().any(|(known, _)| *known == unit) {
            units.push((unit.clone(), Vec::new()));
        }
        let place = units.iter_mut().find(|(known, _)| *known == unit).expect("it is there");
        place.1.extend(bits(&x.get()));
    }
    let share = |(name, mut all): (String, Vec<u32>)| {
        while !all.len().is_multiple_of(world_size) {
            all.push(0);
        }
        let each = all.len() / world_size;
        (name, vec![each], all[rank * each..][..each].to_vec())
    };
    units.into_iter().map(share).collect()
}

/// The shares of all ranks of a world.
pub fn all_ranks(whole: &Share, sharding: &Sharding, world_size: usize) -> Vec<Share> {
    let shard = |rank| reshard(std::slice::from_ref(whole), sharding, rank, world_size);
    (0..world_size).map(|rank| shard(rank).expect("a whole state can be sharded")).collect()
}

/// Saves the shares of all ranks.
pub fn save_all(folder: &Path, shares: &[Share]) {
    for share in shares {
        save_share(&Disk, folder, share).expect("room for a file");
    }
    save_index(&Disk, folder, shares[0].plan()).expect("all ranks have saved");
}
