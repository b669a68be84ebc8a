//! Lab 05, Checkpoints. Seven exercises; 5.6 and 5.7 have two functions each.
//!
//! Replace each `exercise!(..)` by your code, and mend what 5.7 hands out. Grade with
//! `cargo test --test lab-05-checkpoints`, ask for a hint with
//! `cargo run --bin course -- hint 5.1`.
#![allow(dead_code, unused_imports, unused_variables)] // what you have not begun is silent

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::Path;

use engine_room::data::{Sampler, SamplerState};
use engine_room::nn::{Module, StateDict};
use engine_room::optim::Optimizer;
use engine_room::rng;
use engine_room::serialize::{Files, NewFile};

use grading::exercise;

use super::header::{Problem, Refusal, TensorInfo, item_size};
use super::json::{Json, parse_json};
use super::loading::{Complaint, MapLocation, Placed, Saved, Slot};
use super::reshard::Read;
use super::shards::{Index, Shard, Split, Weight};
use super::training_run::{Run, SavedRun};
use super::tree::{Entry, Handle, Node};

/// 5.1 The lines of a state dict, in PyTorch's order, with every tensor written once.
pub fn flatten(root: &Node) -> Vec<Entry> {
    exercise!("5.1")
}

/// 5.2 The tensors of a whole safetensors file, in the order of its header, or why it is refused.
pub fn read_header(file: &[u8]) -> Result<Vec<TensorInfo>, Refusal> {
    exercise!("5.2")
}

/// 5.3 Copies the tensors of a file into a model, and says on which device each of them was read;
/// or everything that is wrong, and then nothing is changed.
pub fn load(
    model: &mut [Slot],
    file: &[Saved],
    map: &MapLocation,
    here: &[String],
    strict: bool,
) -> Result<Vec<Placed>, Vec<Complaint>> {
    exercise!("5.3")
}

/// 5.4 Puts these bytes in the place of a file, or makes that file: all of them or, if the machine
/// stops or anything fails, none.
pub fn save(files: &dyn Files, path: &Path, bytes: &[u8]) -> io::Result<()> {
    exercise!("5.4")
}

/// 5.5 Which weights go into which file, in order, with at most `max_bytes` a file, and the index.
pub fn split_into_shards(weights: &[Weight], max_bytes: u64) -> Split {
    exercise!("5.5")
}

/// 5.6 What a rank reads when shares of all parameters in one row are loaded on another number of
/// ranks.
pub fn reads_flat(
    shapes: &[Vec<usize>],
    old_world: usize,
    new_world: usize,
    rank: usize,
) -> Vec<Read> {
    exercise!("5.6")
}

/// 5.6 What a rank reads when each parameter is split on its first dimension.
pub fn reads_per_parameter(
    shapes: &[Vec<usize>],
    old_world: usize,
    new_world: usize,
    rank: usize,
) -> Vec<Read> {
    exercise!("5.6")
}

/// 5.7 What is kept of a run while it goes on. As handed out this function and the next one have
/// three faults, and none of them raises an error.
pub fn save_run(run: &Run) -> SavedRun {
    let mut model = StateDict::new();
    for (name, x) in run.model.state_dict().iter() {
        model.insert(name, x.copy()).unwrap();
    }
    let optimizer = run.optimizer.state_dict();
    SavedRun {
        model,
        optimizer,
        scheduler: run.scheduler.state_dict(),
        sampler: run.sampler.state(),
        random: rng::get_state(),
        step: run.step,
    }
}

/// 5.7 Goes on from what was saved, in a run that has just begun.
pub fn resume_run(saved: &SavedRun, run: &mut Run) {
    run.model.load_state_dict(&saved.model, true).unwrap();
    run.optimizer.load_state_dict(&saved.optimizer).unwrap();
    run.scheduler.load_state_dict(&saved.scheduler).unwrap();
    // The order of an epoch follows from the seed and its number.
    let SamplerState { len, seed, epoch, .. } = saved.sampler;
    run.sampler = Sampler::random(len, seed.unwrap());
    (0..epoch).for_each(|_| run.sampler.next_epoch());
    // Dropout draws from it.
    rng::manual_seed(saved.random.seed);
    run.step = saved.step;
}
