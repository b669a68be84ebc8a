//! Other right ways to split a checkpoint: 5.5.

use std::collections::BTreeMap;

use super::super::shards::{Index, Shard, Split, Weight};
use super::{Other, other};

pub fn alternatives() -> Vec<Other> {
    vec![
        other("5.5", "lists of names, a second pass for ties", |table| {
            table.split_into_shards = second_pass;
        }),
        other("5.5", "a number for each weight first", |table| {
            table.split_into_shards = numbered;
        }),
        other("5.5", "recursive", |table| table.split_into_shards = recursive),
    ]
}

fn file_name(at: usize, count: usize) -> String {
    if count == 1 {
        return String::from("model.safetensors");
    }
    format!("model-{:0>5}-of-{:0>5}.safetensors", at + 1, count)
}

/// As huggingface_hub does it: what is tied waits until the first of its names has a file.
fn second_pass(weights: &[Weight], max_bytes: u64) -> Split {
    let mut by_storage: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    let mut files: Vec<Vec<&str>> = vec![];
    let mut current: Vec<&str> = vec![];
    let (mut size, mut total_size) = (0, 0);
    for Weight { name, bytes, storage } in weights {
        let names = by_storage.entry(*storage).or_default();
        names.push(name);
        if names.len() > 1 {
            continue;
        }
        total_size += bytes;
        if *bytes > max_bytes {
            files.push(vec![name]);
        } else {
            size += bytes;
            if size > max_bytes {
                files.push(std::mem::take(&mut current));
                size = *bytes;
            }
            current.push(name);
        }
    }
    if !current.is_empty() {
        files.push(current);
    }
    for names in by_storage.values() {
        if let Some(file) = files.iter_mut().find(|file| file.contains(&names[0])) {
            file.extend(&names[1..]);
        }
    }
    let mut split = Split { shards: vec![], index: None };
    let mut index = Index { total_size, weight_map: BTreeMap::new() };
    for (at, names) in files.iter().enumerate() {
        let file = file_name(at, files.len());
        let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
        for name in &names {
            index.weight_map.insert(name.clone(), file.clone());
        }
        split.shards.push(Shard { file, names });
    }
    if files.len() >= 2 {
        split.index = Some(index);
    }
    split
}

fn numbered(weights: &[Weight], max_bytes: u64) -> Split {
    // The open file has no number before it is closed.
    let mut numbers: Vec<Option<usize>> = vec![None; weights.len()];
    let (mut count, mut held, mut total_size) = (0, 0, 0);
    let close = |numbers: &mut [Option<usize>], until: usize, count: &mut usize| {
        let is_first = |at: usize| !weights[..at].iter().any(|w| w.storage == weights[at].storage);
        let open: Vec<usize> =
            (0..until).filter(|&at| numbers[at].is_none() && is_first(at)).collect();
        for &at in &open {
            numbers[at] = Some(*count);
        }
        *count += usize::from(!open.is_empty());
    };
    for (at, weight) in weights.iter().enumerate() {
        if weights[..at].iter().any(|other| other.storage == weight.storage) {
            continue;
        }
        total_size += weight.bytes;
        if weight.bytes > max_bytes {
            numbers[at] = Some(count);
            count += 1;
        } else if held + weight.bytes <= max_bytes {
            held += weight.bytes;
        } else {
            close(&mut numbers, at, &mut count);
            held = weight.bytes;
        }
    }
    close(&mut numbers, weights.len(), &mut count);
    for at in 0..weights.len() {
        let first = weights.iter().position(|other| other.storage == weights[at].storage);
        numbers[at] = numbers[first.unwrap_or(at)];
    }
    let names = |number: usize| {
        let inside = weights.iter().zip(&numbers).filter(|(_, it)| **it == Some(number));
        inside.map(|(weight, _)| weight.name.clone()).rev().collect()
    };
    let shard = |number| Shard { file: file_name(number, count), names: names(number) };
    let pairs = weights.iter().zip(&numbers).map(|(weight, number)| {
        (weight.name.clone(), file_name(number.unwrap_or_default(), count))
    });
    let index = (count > 1).then(|| Index { total_size, weight_map: pairs.collect() });
    Split { shards: (0..count).map(shard).collect(), index }
}

fn recursive(weights: &[Weight], max_bytes: u64) -> Split {
    let mut firsts: Vec<&Weight> = Vec::new();
    for weight in weights {
        if firsts.iter().all(|first| first.storage != weight.storage) {
            firsts.push(weight);
        }
    }
    let files = files_of(&firsts, Vec::new(), max_bytes);
    let mut weight_map = BTreeMap::new();
    let mut shards = Vec::new();
    for (at, storages) in files.iter().enumerate() {
        let file = file_name(at, files.len());
        let inside = weights.iter().filter(|weight| storages.contains(&weight.storage));
        let names: Vec<String> = inside.map(|weight| weight.name.clone()).collect();
        weight_map.extend(names.iter().cloned().map(|name| (name, file.clone())));
        shards.push(Shard { file, names });
    }
    let total_size = firsts.iter().map(|first| first.bytes).sum();
    let index = Some(Index { total_size, weight_map }).filter(|_| shards.len() > 1);
    Split { shards, index }
}

/// The files of these weights if the open one holds `open` already.
fn files_of(weights: &[&Weight], mut open: Vec<(u64, u64)>, max_bytes: u64) -> Vec<Vec<u64>> {
    let storages = |open: &[(u64, u64)]| open.iter().map(|&(storage, _)| storage).collect();
    let [first, rest @ ..] = weights else {
        return if open.is_empty() { Vec::new() } else { vec![storages(&open)] };
    };
    let held: u64 = open.iter().map(|(_, bytes)| bytes).sum();
    let this = (first.storage, first.bytes);
    if first.bytes > max_bytes {
        return [vec![vec![first.storage]], files_of(rest, open, max_bytes)].concat();
    }
    if held + first.bytes > max_bytes {
        return [vec![storages(&open)], files_of(rest, vec![this], max_bytes)].concat();
    }
    open.push(this);
    files_of(rest, open, max_bytes)
}
