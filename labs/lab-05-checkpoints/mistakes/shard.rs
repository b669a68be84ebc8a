//! Wrong ways to split a checkpoint: 5.5. All go through one loop, and each does one thing
//! otherwise.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use super::super::shards::{Index, Shard, Split, Weight};
use super::{Wrong, wrong};

/// What is done otherwise.
#[derive(Clone, Copy, PartialEq)]
enum Other {
    LargeCloses,
    LargeLast,
    LargeJoins,
    LargeLost,
    EmptyShard,
    FullCloses,
    FullIsLarge,
    HalfCloses,
    Overshoots,
    NotReset,
    ResetToZero,
    BySize,
    Reopens,
    TiesIgnored,
    TiesOfNeighbours,
    TiesStand,
    TiesCount,
    InBoth,
    NamesLost,
    EmptyLost,
    LastLost,
    NoneIsOne,
    NoneIndexed,
    TotalWithTies,
    TotalOfNames,
    TotalOfFiles,
    MapReversed,
    MapOfFirsts,
    NoZeros,
    TwoDigits,
    FromZero,
    CountSoFar,
    OneIsNumbered,
    OneIndexed,
    OneIsAll,
    NoIndex,
}

use Other::*;

/// Whether the weight at this place is the first with its storage.
fn is_first(weights: &[Weight], at: usize) -> bool {
    weights[..at].iter().all(|it| it.storage != weights[at].storage)
}

/// The weights as somebody takes them who thinks otherwise of ties, order or what is worth saving.
fn taken(weights: &[Weight], other: Other) -> Vec<Weight> {
    let mut taken: Vec<Weight> = Vec::new();
    for (at, weight) in weights.iter().enumerate() {
        let first = is_first(weights, at);
        let neighbour = at > 0 && weights[at - 1].storage == weight.storage;
        let storage = match other {
            TiesIgnored | TiesStand => at as u64,
            TiesOfNeighbours if neighbour => taken[at - 1].storage,
            TiesOfNeighbours => at as u64,
            _ => weight.storage,
        };
        let bytes = if other == TiesStand && !first { 0 } else { weight.bytes };
        let lost = other == NamesLost && !first || other == EmptyLost && bytes == 0;
        if !lost {
            taken.push(Weight { storage, bytes, ..weight.clone() });
        }
    }
    if other == BySize {
        taken.sort_by_key(|weight| Reverse(weight.bytes));
    }
    taken
}

/// The files as weights, by their places.
fn files(weights: &[Weight], max_bytes: u64, other: Other) -> Vec<Vec<usize>> {
    let mut files: Vec<Vec<usize>> = Vec::new();
    let (mut open, mut held) = (Vec::new(), 0);
    for (at, weight) in weights.iter().enumerate() {
        let again = !is_first(weights, at);
        if again && other == TiesCount {
            held += weight.bytes;
        }
        if again && other != InBoth {
            continue;
        }
        let bytes = if again { 0 } else { weight.bytes };
        let large = bytes > max_bytes || other == FullIsLarge && bytes == max_bytes;
        if large && other == LargeLost {
            continue;
        }
        if large && !matches!(other, LargeCloses | LargeJoins | EmptyShard | Overshoots) {
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
        let closes = match other {
            LargeJoins => !large && held + bytes > max_bytes,
            FullCloses => held + bytes >= max_bytes,
            HalfCloses => held + bytes > max_bytes / 2,
            Overshoots => held >= max_bytes,
            _ => held + bytes > max_bytes,
        };
        let mut opens = open.is_empty() && !files.is_empty();
        if closes && (!open.is_empty() || other == EmptyShard) {
            files.push(std::mem::take(&mut open));
            held = if other == NotReset { held } else { 0 };
            opens = true;
        }
        held += if opens && other == ResetToZero { 0 } else { bytes };
        open.push(at);
    }
    if !open.is_empty() {
        files.push(open);
    }
    files
}

fn name(at: usize, count: usize, other: Other) -> String {
    let number = at + 1;
    match other {
        _ if count == 1 && !matches!(other, OneIsNumbered | OneIsAll) => "model.safetensors".into(),
        NoZeros => format!("model-{number}-of-{count}.safetensors"),
        TwoDigits => format!("model-{number:02}-of-{count:02}.safetensors"),
        FromZero => format!("model-{at:05}-of-{count:05}.safetensors"),
        CountSoFar => format!("model-{number:05}-of-{number:05}.safetensors"),
        _ => format!("model-{number:05}-of-{count:05}.safetensors"),
    }
}

fn split(weights: &[Weight], max_bytes: u64, other: Other) -> Split {
    let weights = &taken(weights, other)[..];
    let mut files = files(weights, max_bytes, other);
    match other {
        LargeLast => files.sort_by_key(|file| weights[file[0]].bytes > max_bytes),
        LastLost if files.len() > 1 => files.truncate(files.len() - 1),
        NoneIsOne if files.is_empty() => files.push(Vec::new()),
        _ => {}
    }
    let count = files.len();
    let (mut shards, mut weight_map, mut total_size) = (Vec::new(), BTreeMap::new(), 0);
    for (at, places) in files.iter().enumerate() {
        let file = name(at, count, other);
        let storages: HashSet<u64> = places.iter().map(|&it| weights[it].storage).collect();
        let mut names = Vec::new();
        for (place, weight) in weights.iter().enumerate() {
            let first = is_first(weights, place);
            if !places.contains(&place) && !storages.contains(&weight.storage) {
                continue;
            }
            names.push(weight.name.clone());
            total_size += if first || other == TotalWithTies { weight.bytes } else { 0 };
            if other == MapReversed {
                weight_map.insert(file.clone(), weight.name.clone());
            } else if first || other != MapOfFirsts {
                weight_map.insert(weight.name.clone(), file.clone());
            }
        }
        shards.push(Shard { file, names });
    }
    total_size = match other {
        TotalOfNames => weights.len() as u64,
        TotalOfFiles => total_size + count as u64,
        _ => total_size,
    };
    let one = count == 1 && matches!(other, OneIndexed | OneIsAll);
    let indexed = count > 1 && other != NoIndex || one || count == 0 && other == NoneIndexed;
    Split { shards, index: indexed.then_some(Index { total_size, weight_map }) }
}

/// `one!(key, name, other)`.
macro_rules! one {
    ($diagnosis:literal, $name:literal, $other:expr) => {
        wrong("5.5", $diagnosis, $name, |table| {
            table.split_into_shards = |weights, max_bytes| split(weights, max_bytes, $other);
        })
    };
}

pub fn mistakes() -> Vec<Wrong> {
    vec![
        one!("5.5-large-closes", "too large closes the file", LargeCloses),
        one!("5.5-large-last", "too large, so last", LargeLast),
        one!("5.5-large-joins", "too large anyway", LargeJoins),
        one!("5.5-weight-lost", "too large for any file", LargeLost),
        one!("5.5-empty-shard", "closes an empty file", EmptyShard),
        one!("5.5-full-closes", "less than the limit", FullCloses),
        one!("5.5-full-is-large", "at least, so alone", FullIsLarge),
        one!("5.5-closed-early", "half full", HalfCloses),
        one!("5.5-overshoots", "looks afterwards", Overshoots),
        one!("5.5-not-reset", "goes on adding", NotReset),
        one!("5.5-above-the-limit", "a new file begins with 0 bytes", ResetToZero),
        one!("5.5-by-size", "the largest first", BySize),
        one!("5.5-first-fit", "the first file with room", Reopens),
        one!("5.5-ties-ignored", "every name a tensor", TiesIgnored),
        one!("5.5-ties-of-neighbours", "the one before only", TiesOfNeighbours),
        one!("5.5-ties-where-they-stand", "free, but in its place", TiesStand),
        one!("5.5-ties-count", "a tie takes bytes again", TiesCount),
        one!("5.5-in-two-files", "a tie stands in both files", InBoth),
        one!("5.5-names-lost", "the first name only", NamesLost),
        one!("5.5-empty-lost", "nothing to save", EmptyLost),
        one!("5.5-last-lost", "the open one forgotten", LastLost),
        one!("5.5-none-is-one", "one at least", NoneIsOne),
        one!("5.5-none-has-an-index", "no index for one file", NoneIndexed),
        one!("5.5-total-with-ties", "the sum of all", TotalWithTies),
        one!("5.5-total-of-names", "how many", TotalOfNames),
        one!("5.5-total", "a byte a file", TotalOfFiles),
        one!("5.5-map-reversed", "file to weight", MapReversed),
        one!("5.5-weight-map", "first names in the index", MapOfFirsts),
        one!("5.5-no-zeros", "the numbers as they are", NoZeros),
        one!("5.5-file-names", "two digits", TwoDigits),
        one!("5.5-from-zero", "as a computer counts", FromZero),
        one!("5.5-count-so-far", "named when closed", CountSoFar),
        one!("5.5-one-is-numbered", "1 of 1", OneIsNumbered),
        one!("5.5-one-has-an-index", "always an index", OneIndexed),
        one!("5.5-one-is-all", "one as many", OneIsAll),
        one!("5.5-no-index", "never an index", NoIndex),
    ]
}
