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

// STUB use grading::exercise;

use super::header::{Problem, Refusal, TensorInfo, item_size};
use super::json::{Json, parse_json};
use super::loading::{Complaint, MapLocation, Placed, Saved, Slot};
use super::reshard::Read;
use super::shards::{Index, Shard, Split, Weight};
use super::training_run::{Run, SavedRun};
use super::tree::{Entry, Handle, Node};

/// 5.1 The lines of a state dict, in PyTorch's order, with every tensor written once.
pub fn flatten(root: &Node) -> Vec<Entry> {
    // SOLUTION 5.1
    let mut entries = Vec::new();
    let mut written = Vec::new();
    visit(root, "", &mut written, &mut entries);
    entries
    // END
}

/// 5.2 The tensors of a whole safetensors file, in the order of its header, or why it is refused.
pub fn read_header(file: &[u8]) -> Result<Vec<TensorInfo>, Refusal> {
    // SOLUTION 5.2
    let whole = |problem| Refusal { problem, name: String::new() };
    let (length, rest) = file.split_first_chunk().ok_or_else(|| whole(Problem::TooShort))?;
    let length = u64::from_le_bytes(*length);
    if length > rest.len() as u64 {
        return Err(whole(Problem::HeaderTooLong));
    }
    let (header, data) = rest.split_at(length as usize);
    let pairs = match std::str::from_utf8(header).ok().and_then(parse_json) {
        Some(Json::Object(pairs)) => pairs,
        Some(_) => return Err(whole(Problem::NotAnObject)),
        None => return Err(whole(Problem::NotJson)),
    };
    let mut tensors = Vec::new();
    for (i, (name, value)) in pairs.iter().enumerate() {
        let refused = |problem| Refusal { problem, name: name.clone() };
        if pairs[..i].iter().any(|(other, _)| other == name) {
            return Err(refused(Problem::Duplicate));
        }
        if name != "__metadata__" {
            tensors.push(tensor_info(name, value).map_err(refused)?);
        } else if !is_metadata(value) {
            return Err(refused(Problem::BadMetadata));
        }
    }
    let mut row: Vec<&TensorInfo> = tensors.iter().collect();
    row.sort_by_key(|tensor| (tensor.start, tensor.end));
    let mut end = 0;
    for tensor in row {
        if tensor.start != end {
            return Err(Refusal { problem: Problem::NotInARow, name: tensor.name.clone() });
        }
        end = tensor.end;
    }
    if end != data.len() as u64 {
        return Err(whole(Problem::WrongEnd));
    }
    Ok(tensors)
    // END
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
    // SOLUTION 5.3
    let mut complaints = Vec::new();
    let mut placed = Vec::new();
    for saved in file {
        let device = match map {
            MapLocation::Saved => &saved.device,
            MapLocation::Device(device) => device,
            MapLocation::Table(pairs) => {
                let pair = pairs.iter().find(|(from, _)| *from == saved.device);
                pair.map_or(&saved.device, |(_, to)| to)
            }
        };
        let (name, device) = (saved.name.clone(), device.clone());
        if here.contains(&device) {
            placed.push(Placed { name, device });
        } else {
            complaints.push(Complaint::NoDevice { name, device });
        }
        if strict && !model.iter().any(|slot| slot.name == saved.name) {
            complaints.push(Complaint::Unexpected(saved.name.clone()));
        }
    }
    for slot in model.iter() {
        let name = slot.name.clone();
        match file.iter().find(|saved| saved.name == slot.name) {
            Some(saved) if saved.shape != slot.shape => {
                let (model, file) = (slot.shape.clone(), saved.shape.clone());
                complaints.push(Complaint::Mismatch { name, model, file });
            }
            None if strict => complaints.push(Complaint::Missing(name)),
            _ => {}
        }
    }
    if !complaints.is_empty() {
        return Err(complaints);
    }
    for slot in model {
        if let Some(saved) = file.iter().find(|saved| saved.name == slot.name) {
            slot.values = saved.values.clone();
        }
    }
    Ok(placed)
    // END
}

/// 5.4 Puts these bytes in the place of a file, or makes that file: all of them or, if the machine
/// stops or anything fails, none.
pub fn save(files: &dyn Files, path: &Path, bytes: &[u8]) -> io::Result<()> {
    // SOLUTION 5.4
    let folder = path.parent().unwrap();
    let temporary = path.with_extension("saving");
    let write = || -> io::Result<()> {
        let mut file = files.create(&temporary)?;
        file.write(bytes)?;
        file.sync()?;
        files.rename(&temporary, path)
    };
    if let Err(error) = write() {
        let _ = files.remove(&temporary);
        return Err(error);
    }
    files.sync_folder(folder)
    // END
}

/// 5.5 Which weights go into which file, in order, with at most `max_bytes` a file, and the index.
pub fn split_into_shards(weights: &[Weight], max_bytes: u64) -> Split {
    // SOLUTION 5.5
    // A file as the storages in it.
    let mut files: Vec<Vec<u64>> = Vec::new();
    let (mut open, mut open_bytes, mut total_size) = (Vec::new(), 0, 0);
    let mut seen = HashSet::new();
    for weight in weights {
        if !seen.insert(weight.storage) {
            continue;
        }
        total_size += weight.bytes;
        if weight.bytes > max_bytes {
            files.push(vec![weight.storage]);
            continue;
        }
        if open_bytes + weight.bytes > max_bytes {
            files.push(open.clone());
            open.clear();
            open_bytes = 0;
        }
        open.push(weight.storage);
        open_bytes += weight.bytes;
    }
    if !open.is_empty() {
        files.push(open);
    }
    let count = files.len();
    let (mut shards, mut weight_map) = (Vec::new(), BTreeMap::new());
    for (at, storages) in files.iter().enumerate() {
        let file = match count {
            1 => "model.safetensors".to_string(),
            _ => format!("model-{:05}-of-{count:05}.safetensors", at + 1),
        };
        let mut names = Vec::new();
        for weight in weights {
            if storages.contains(&weight.storage) {
                names.push(weight.name.clone());
                weight_map.insert(weight.name.clone(), file.clone());
            }
        }
        shards.push(Shard { file, names });
    }
    let index = if count > 1 { Some(Index { total_size, weight_map }) } else { None };
    Split { shards, index }
    // END
}

/// 5.6 What a rank reads when shares of all parameters in one row are loaded on another number of
/// ranks.
pub fn reads_flat(
    shapes: &[Vec<usize>],
    old_world: usize,
    new_world: usize,
    rank: usize,
) -> Vec<Read> {
    // SOLUTION 5.6
    let total: usize = shapes.iter().map(|shape| shape.iter().product::<usize>()).sum();
    let (old, new) = (total.div_ceil(old_world), total.div_ceil(new_world));
    let begin = total.min(rank * new);
    let end = total.min(begin + new);
    let mut reads = Vec::new();
    let mut at = begin;
    while at < end {
        let from = at % old;
        let count = (end - at).min(old - from);
        reads.push(Read { file: at / old, from, count, to: at - begin });
        at += count;
    }
    reads
    // END
}

/// 5.6 What a rank reads when each parameter is split on its first dimension.
pub fn reads_per_parameter(
    shapes: &[Vec<usize>],
    old_world: usize,
    new_world: usize,
    rank: usize,
) -> Vec<Read> {
    // SOLUTION 5.6
    let mut reads: Vec<Read> = Vec::new();
    // What parameters before this one fill of each file, and of the share.
    let mut before = vec![0; old_world];
    let mut to = 0;
    for shape in shapes {
        let rows = shape[0];
        let row: usize = shape[1..].iter().product();
        let (old, new) = (rows.div_ceil(old_world), rows.div_ceil(new_world));
        let begin = rows.min(rank * new);
        let end = rows.min(begin + new);
        for (file, before) in before.iter_mut().enumerate() {
            let first = rows.min(file * old);
            let behind = rows.min(first + old);
            let (a, b) = (begin.max(first), end.min(behind));
            if a < b && row > 0 {
                let (from, count) = (*before + (a - first) * row, (b - a) * row);
                match reads.last_mut() {
                    Some(last) if last.file == file && last.from + last.count == from => {
                        last.count += count;
                    }
                    _ => reads.push(Read { file, from, count, to }),
                }
                to += count;
            }
            *before += (behind - first) * row;
        }
    }
    reads
    // END
}

/// 5.7 What is kept of a run while it goes on. As handed out this function and the next one have
/// three faults, and none of them raises an error.
pub fn save_run(run: &Run) -> SavedRun {
    let mut model = StateDict::new();
    for (name, x) in run.model.state_dict().iter() {
        model.insert(name, x.copy()).unwrap();
    }
    // SOLUTION 5.7
    let mut optimizer = run.optimizer.state_dict();
    for param in &mut optimizer.params {
        for (_, x) in &mut param.tensors {
            *x = x.copy();
        }
    }
    // STUB let optimizer = run.optimizer.state_dict();
    // END
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
    // SOLUTION
    run.sampler = Sampler::from_state(saved.sampler);
    rng::set_state(saved.random);
    // STUB // The order of an epoch follows from the seed and its number.
    // STUB let SamplerState { len, seed, epoch, .. } = saved.sampler;
    // STUB run.sampler = Sampler::random(len, seed.unwrap());
    // STUB (0..epoch).for_each(|_| run.sampler.next_epoch());
    // STUB // Dropout draws from it.
    // STUB rng::manual_seed(saved.random.seed);
    // END
    run.step = saved.step;
}
// SOLUTION

/// 5.1 The lines of a module and of all below it. What is written already stands in `written`.
fn visit(node: &Node, prefix: &str, written: &mut Vec<(Handle, String)>, entries: &mut Vec<Entry>) {
    let parameters = node.parameters.iter().map(|(name, tensor)| (name, tensor));
    let persistent = node.buffers.iter().filter(|buffer| buffer.persistent);
    let buffers = persistent.map(|buffer| (&buffer.name, &buffer.tensor));
    for (name, tensor) in parameters.chain(buffers) {
        let name = format!("{prefix}{name}");
        let first = written.iter().find(|(other, _)| other == tensor);
        let alias_of = first.map(|(_, name)| name.clone());
        if alias_of.is_none() {
            written.push((tensor.clone(), name.clone()));
        }
        entries.push(Entry { name, alias_of });
    }
    for (name, child) in &node.children {
        visit(child, &format!("{prefix}{name}."), written, entries);
    }
}

/// 5.2 The description of one tensor, or the rule that it breaks.
fn tensor_info(name: &str, value: &Json) -> Result<TensorInfo, Problem> {
    let Json::Object(fields) = value else { return Err(Problem::BadFields) };
    let field = |name| fields.iter().find(|(other, _)| other == name).map(|(_, value)| value);
    let all = (field("dtype"), field("shape"), field("data_offsets"));
    let (Some(dtype), Some(shape), Some(offsets)) = all else { return Err(Problem::BadFields) };
    if fields.len() != 3 {
        return Err(Problem::BadFields);
    }
    let Json::Text(dtype) = dtype else { return Err(Problem::UnknownDType) };
    let mut bytes = item_size(dtype).ok_or(Problem::UnknownDType)?;
    let shape = whole_numbers(shape).ok_or(Problem::BadShape)?;
    let offsets = whole_numbers(offsets).ok_or(Problem::BadOffsets)?;
    let [start, end] = offsets[..] else { return Err(Problem::BadOffsets) };
    if end < start {
        return Err(Problem::BadOffsets);
    }
    for size in &shape {
        bytes = bytes.checked_mul(*size).ok_or(Problem::WrongSize)?;
    }
    if bytes != end - start {
        return Err(Problem::WrongSize);
    }
    Ok(TensorInfo { name: name.to_string(), dtype: dtype.clone(), shape, start, end })
}

/// 5.2 The numbers of a list of whole numbers.
fn whole_numbers(value: &Json) -> Option<Vec<u64>> {
    let Json::List(items) = value else { return None };
    let mut numbers = Vec::new();
    for item in items {
        let Json::Whole(number) = item else { return None };
        numbers.push(*number);
    }
    Some(numbers)
}

/// 5.2 Whether a value is an object of texts.
fn is_metadata(value: &Json) -> bool {
    let Json::Object(pairs) = value else { return false };
    pairs.iter().all(|(_, value)| matches!(value, Json::Text(_)))
}
// END
