//! Lab 05, Checkpoints. Seven exercises; 5.6 and 5.7 have two functions each.
//!
//! Replace each `exercise!(..)` by your code. Grade with `cargo test --test lab-05-checkpoints`, ask
//! for a hint with `cargo run --bin course -- hint 5.1`.
#![allow(dead_code, unused_imports, unused_variables)] // what you have not begun is silent

use std::collections::{BTreeMap, HashMap};

// STUB use grading::exercise;

use super::header::{Problem, Refusal, TensorInfo, item_size};
use super::json::{Json, parse_json};
use super::loading::{Complaint, MapLocation, Placed, Saved, Slot};
use super::reshard::Read;
use super::shards::{Index, Shard, Split, Weight};
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
    todo!()
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

/// 5.5 Which weights go into which file, in order, with at most `max_bytes` a file, and the index.
pub fn split_into_shards(weights: &[Weight], max_bytes: u64) -> Split {
    // SOLUTION 5.5
    Split { shards: Vec::new(), index: None }
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
    Vec::new()
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
    Vec::new()
    // END
}

// SOLUTION
/// The lines of a module and of all below it. What is written already stands in `written`.
fn visit(
    node: &Node,
    prefix: &str,
    written: &mut Vec<(Handle, String)>,
    entries: &mut Vec<Entry>,
) {
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
// END
