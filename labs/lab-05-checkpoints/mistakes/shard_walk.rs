//! Wrong ways to split that are written as one loop over the weights: 5.5.

use std::collections::{BTreeMap, HashMap};

use super::super::shards::{Index, Shard, Split, Weight};
use super::{Wrong, wrong};

/// What the loop does otherwise.
#[derive(Clone, Copy, PartialEq)]
enum Other {
    TiesCount,
    InBoth,
    NotReset,
    ResetToZero,
    FullIsLarge,
    Reopens,
    AnIndexForNone,
    BytesOfFiles,
    OneFileOnly,
    TwoDigits,
    IndexOfFirsts,
    Halves,
}

use Other::*;

/// The files as weights, by their places.
fn files(weights: &[Weight], max_bytes: u64, other: Other) -> Vec<Vec<usize>> {
    let mut files: Vec<Vec<usize>> = Vec::new();
    let (mut open, mut held) = (Vec::new(), 0);
    let mut ties: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, weight) in weights.iter().enumerate() {
        let names = ties.entry(weight.storage).or_default();
        names.push(at);
        let again = names.len() > 1;
        if again && other == TiesCount {
            held += weight.bytes;
        }
        if again && other != InBoth {
            continue;
        }
        let bytes = if again { 0 } else { weight.bytes };
        let limit = if other == Halves { max_bytes / 2 } else { max_bytes };
        if bytes > max_bytes || other == FullIsLarge && bytes == max_bytes {
            files.push(vec![at]);
            continue;
        }
        let room = |file: &&mut Vec<usize>| {
            let held = file.iter().map(|&it| weights[it].bytes).sum::<u64>();
            other == Reopens && held + bytes <= max_bytes
        };
        if let Some(file) = files.iter_mut().find(room) {
            file.push(at);
            continue;
        }
        if held + bytes > limit && !open.is_empty() {
            files.push(std::mem::take(&mut open));
            held = if other == NotReset { held } else { 0 };
        }
        let opened = other == ResetToZero && open.is_empty() && !files.is_empty();
        held += if opened { 0 } else { bytes };
        open.push(at);
    }
    if !open.is_empty() {
        files.push(open);
    }
    files
}

fn split(weights: &[Weight], max_bytes: u64, other: Other) -> Split {
    let files = files(weights, max_bytes, other);
    let (count, mut total_size) = (files.len(), 0);
    let (mut shards, mut weight_map) = (Vec::new(), BTreeMap::new());
    for (at, places) in files.iter().enumerate() {
        let file = match count {
            1 => "model.safetensors".to_string(),
            _ if other == TwoDigits => format!("model-{:02}-of-{count:02}.safetensors", at + 1),
            _ => format!("model-{:05}-of-{count:05}.safetensors", at + 1),
        };
        let mut names = Vec::new();
        for (place, weight) in weights.iter().enumerate() {
            let first = weights.iter().position(|it| it.storage == weight.storage);
            let here = places.contains(&place);
            if here || first.is_some_and(|first| places.contains(&first)) {
                names.push(weight.name.clone());
                if other != IndexOfFirsts || first == Some(place) {
                    weight_map.insert(weight.name.clone(), file.clone());
                }
            }
            if here {
                total_size += weight.bytes;
            }
        }
        shards.push(Shard { file, names });
    }
    if other == BytesOfFiles {
        total_size += count as u64;
    }
    let none = count == 1 || count == 0 && other != AnIndexForNone || other == OneFileOnly;
    let index = (!none).then_some(Index { total_size, weight_map });
    Split { shards, index }
}

/// `walk!(key, name, other)`.
macro_rules! walk {
    ($diagnosis:literal, $name:literal, $other:expr) => {
        wrong("5.5", $diagnosis, $name, |table| {
            table.split_into_shards = |weights, max_bytes| split(weights, max_bytes, $other);
        })
    };
}

pub fn mistakes() -> Vec<Wrong> {
    vec![
        walk!("5.5-ties-count", "a tie takes bytes again", TiesCount),
        walk!("5.5-in-two-files", "a tie stands in both files", InBoth),
        walk!("5.5-not-reset", "goes on adding", NotReset),
        walk!("5.5-above-the-limit", "a new file begins with 0 bytes", ResetToZero),
        walk!("5.5-full-is-large", "at least, so alone", FullIsLarge),
        walk!("5.5-first-fit", "the first file with room", Reopens),
        walk!("5.5-none-has-an-index", "no index for one file", AnIndexForNone),
        walk!("5.5-total", "a byte a file", BytesOfFiles),
        walk!("5.5-no-index", "never an index", OneFileOnly),
        walk!("5.5-file-names", "two digits", TwoDigits),
        walk!("5.5-weight-map", "first names in the index", IndexOfFirsts),
        walk!("5.5-closed-early", "half full", Halves),
    ]
}
