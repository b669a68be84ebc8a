//! What may be thought in 5.5: the split with one rule changed.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::super::shards::{Index, Shard, Split, Weight};
use super::thoughts::Known;

/// One rule that is thought otherwise.
#[derive(Clone, Copy, PartialEq)]
pub enum Thought {
    Right,
    LargeCloses,
    LargeLast,
    LargeJoins,
    EmptyShard,
    FullCloses,
    FullIsLarge,
    AtLeast,
    Overshoots,
    BySize,
    TiesIgnored,
    TiesOfNeighbours,
    TiesWhereTheyStand,
    TotalWithTies,
    TotalOfNames,
    NamesLost,
    EmptyLost,
    LastLost,
    NoZeros,
    FromZero,
    CountSoFar,
    OneIsNumbered,
    OneHasAnIndex,
    OneIsAll,
    NoneIsOne,
}

use Thought::*;

/// The weights of one file, by their places in the model.
type Places = Vec<usize>;

/// The split as somebody makes it who thinks this.
pub fn split_as(weights: &[Weight], max_bytes: u64, thought: Thought) -> Split {
    let mut order: Places = (0..weights.len()).collect();
    if thought == BySize {
        order.sort_by_key(|&at| Reverse(weights[at].bytes));
    }
    let (leaders, followers): (Places, Places) =
        order.into_iter().partition(|&at| leader(weights, at, thought) == at);
    let sizes: Vec<(usize, u64)> = match thought {
        // Whoever follows takes no room, but a place of its own.
        TiesWhereTheyStand => (0..weights.len())
            .map(|at| (at, if leaders.contains(&at) { weights[at].bytes } else { 0 }))
            .collect(),
        EmptyLost => {
            let full = leaders.iter().filter(|&&at| weights[at].bytes > 0);
            full.map(|&at| (at, weights[at].bytes)).collect()
        }
        _ => leaders.iter().map(|&at| (at, weights[at].bytes)).collect(),
    };
    let mut files = grouped(&sizes, max_bytes, thought);
    if thought == LastLost && files.len() > 1 {
        files.pop();
    }
    if thought == NoneIsOne && weights.is_empty() {
        files.push(Places::new());
    }
    if !matches!(thought, NamesLost | TiesWhereTheyStand) {
        for at in followers {
            let first = leader(weights, at, thought);
            if let Some(file) = files.iter_mut().find(|file| file.contains(&first)) {
                file.push(at);
            }
        }
    }
    let written = |at: &usize| thought != LastLost || files.iter().any(|file| file.contains(at));
    let counted = |at: &usize| thought == TotalWithTies || leaders.contains(at) && written(at);
    let total: u64 = (0..weights.len()).filter(counted).map(|at| weights[at].bytes).sum();
    let total = if thought == TotalOfNames { weights.len() as u64 } else { total };
    named(weights, &files, total, thought)
}

/// The place of the weight that this one is tied to: the first with its storage.
fn leader(weights: &[Weight], at: usize, thought: Thought) -> usize {
    let same = |other: &Weight| other.storage == weights[at].storage;
    match thought {
        TiesIgnored => at,
        TiesOfNeighbours => {
            let behind = weights[..=at].iter().rev().take_while(|other| same(other)).count();
            at + 1 - behind
        }
        _ => weights.iter().position(same).unwrap_or(at),
    }
}

fn grouped(sizes: &[(usize, u64)], max_bytes: u64, thought: Thought) -> Vec<Places> {
    let mut files: Vec<Places> = Vec::new();
    let (mut large, mut open, mut held) = (Vec::new(), Places::new(), 0);
    for &(at, bytes) in sizes {
        let full_is_large = matches!(thought, FullIsLarge | AtLeast);
        let too_large = bytes > max_bytes || full_is_large && bytes == max_bytes;
        if too_large && (matches!(thought, Right | LargeLast) || by_the_book(thought)) {
            let list = if thought == LargeLast { &mut large } else { &mut files };
            list.push(vec![at]);
            continue;
        }
        let over = match thought {
            FullCloses | AtLeast => held + bytes >= max_bytes,
            Overshoots => held >= max_bytes,
            LargeJoins => !too_large && held + bytes > max_bytes,
            _ => held + bytes > max_bytes,
        };
        if over && (!open.is_empty() || thought == EmptyShard) {
            files.push(std::mem::take(&mut open));
            held = 0;
        }
        open.push(at);
        held += bytes;
    }
    if !open.is_empty() {
        files.push(open);
    }
    files.extend(large);
    files
}

/// Whether a weight that is too large becomes a file at once, and leaves the open one open.
fn by_the_book(thought: Thought) -> bool {
    !matches!(thought, LargeCloses | LargeJoins | EmptyShard | Overshoots)
}

fn named(weights: &[Weight], files: &[Places], total_size: u64, thought: Thought) -> Split {
    let mut shards = Vec::new();
    let mut weight_map = BTreeMap::new();
    let one = files.len() == 1;
    for (at, places) in files.iter().enumerate() {
        let (number, count) = (at + 1, files.len());
        let file = match thought {
            _ if one && !matches!(thought, OneIsNumbered | OneIsAll) => "model.safetensors".into(),
            NoZeros => format!("model-{number}-of-{count}.safetensors"),
            FromZero => format!("model-{at:05}-of-{count:05}.safetensors"),
            CountSoFar => format!("model-{number:05}-of-{number:05}.safetensors"),
            _ => format!("model-{number:05}-of-{count:05}.safetensors"),
        };
        let names: Vec<String> = places.iter().map(|&at| weights[at].name.clone()).collect();
        weight_map.extend(names.iter().map(|name| (name.clone(), file.clone())));
        shards.push(Shard { file, names });
    }
    let indexed = files.len() > 1 || one && matches!(thought, OneHasAnIndex | OneIsAll);
    Split { shards, index: indexed.then_some(Index { total_size, weight_map }) }
}

/// The first that gives all answers is named.
pub const THOUGHTS: &[Known<Thought>] = &[
    (LargeCloses, "5.5-large-closes", CLOSES),
    (LargeLast, "5.5-large-last", LAST),
    (LargeJoins, "5.5-large-joins", JOINS),
    (EmptyShard, "5.5-empty-shard", EMPTY),
    (FullCloses, "5.5-full-closes", FULL),
    (FullIsLarge, "5.5-full-is-large", FULL_IS_LARGE),
    (AtLeast, "5.5-full-is-large", FULL_IS_LARGE),
    (Overshoots, "5.5-overshoots", OVERSHOOTS),
    (BySize, "5.5-by-size", ORDER),
    (TiesIgnored, "5.5-ties-ignored", TIES),
    (TiesOfNeighbours, "5.5-ties-of-neighbours", NEIGHBOURS),
    (TiesWhereTheyStand, "5.5-ties-where-they-stand", STAND),
    (TotalWithTies, "5.5-total-with-ties", TOTAL),
    (TotalOfNames, "5.5-total-of-names", NAMES),
    (NamesLost, "5.5-names-lost", LOST),
    (EmptyLost, "5.5-empty-lost", NOTHING),
    (LastLost, "5.5-last-lost", OPEN),
    (NoZeros, "5.5-no-zeros", DIGITS),
    (FromZero, "5.5-from-zero", ZERO),
    (CountSoFar, "5.5-count-so-far", COUNT),
    (OneIsNumbered, "5.5-one-is-numbered", ONE),
    (OneHasAnIndex, "5.5-one-has-an-index", INDEX),
    (OneIsAll, "5.5-one-is-all", BOTH),
    (NoneIsOne, "5.5-none-is-one", NONE),
];

pub const CLOSES: &str = "A weight above the limit has closed the open file. It gets a file of \
    its own at once, and the open one stays open: the next weight still goes into it.";
const LAST: &str = "The weights above the limit got the last numbers. Each becomes a file when its \
    turn comes, before the file that is still open.";
pub const JOINS: &str = "A weight above the limit went into a file with others. It has a file to \
    itself: a reader who can hold one file of the limit's size should meet as few larger ones as \
    possible, and none that is larger than need be.";
pub const EMPTY: &str = "There is a file without weights. It was closed because the next weight \
    did not fit, though nothing was in it.";
pub const FULL: &str = "A file that would be exactly full was closed before. At most the limit \
    means that the limit itself is allowed.";
const FULL_IS_LARGE: &str = "A weight of exactly the limit was treated as one that is too large, \
    and got its file before the one that was open. Only more than the limit is too large.";
const OVERSHOOTS: &str = "The weight was put into the file before the limit was looked at, so that \
    files are larger than the limit. Whether it fits is asked before.";
const ORDER: &str = "The weights were sorted by size. They go into the files in the order of the \
    state dict, so that a layer's weights lie together, and that of two programs are the same.";
pub const FIT: &str = "A weight went back into an earlier file that had room. Once the next file \
    is begun, the one before is finished: files are filled in order and never reopened.";
const TIES: &str = "Tied weights were taken for different tensors: the same elements would be \
    written twice, and after loading they are tied no more. Compare `storage`.";
const NEIGHBOURS: &str = "A weight was compared with the one directly before it only. An embedding \
    and the head that is tied to it are the first and the last weights of a model: look at all \
    that came before.";
pub const STAND: &str = "A second name went into the file that was open when its turn came. The \
    tensor is in the file of its first name, and there all its names belong.";
const TOTAL: &str = "`total_size` counts tied weights once for each name. It says how many bytes \
    of tensors are in the files, and each is in them once.";
const NAMES: &str = "`total_size` is the number of weights. It is their bytes.";
pub const LOST: &str = "The second name of a tied weight is in no file. Whoever loads by the index \
    would report it as missing. All names of a tensor go with the first.";
pub const NOTHING: &str = "A weight without elements was left out. It has a name and a shape, and \
    a strict load asks for it.";
const OPEN: &str = "The last file is missing. After the last weight a file is still open, and \
    nothing comes that closes it.";
const DIGITS: &str = "The numbers are not filled up with zeros to five digits. Programs look for \
    `model-00001-of-00003.safetensors`; `{:05}` writes it.";
const ZERO: &str = "The numbers begin with 0. The first file is 00001, and the last has the number \
    of the count.";
const COUNT: &str = "The count in a name is that of the files so far. It is that of all files, \
    which is known only when all weights are placed: name the files at the end.";
const ONE: &str = "One file is enough, and it has a number. It is `model.safetensors` then: \
    programs look for that name first.";
pub const INDEX: &str = "One file is enough, and there is an index all the same. It would say \
    nothing that the file does not.";
const BOTH: &str = "One file is enough, and it was treated as the first of many. It is \
    `model.safetensors` then, without an index.";
pub const NONE: &str = "A model without weights got a file. Nothing is to be saved, and no file is \
    needed.";
pub const REVERSED: &str = "`weight_map` leads from the files to the weights. A load asks the \
    other way: where is this weight? And a file has many weights, of which one was kept.";
