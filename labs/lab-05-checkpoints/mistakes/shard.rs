//! Wrong ways to split a checkpoint: 5.5.

use std::collections::{BTreeMap, HashSet};

use super::super::shards::{Index, Shard, Split, Weight};
use super::super::solution::split_into_shards as right;
use super::{Wrong, wrong};

pub fn mistakes() -> Vec<Wrong> {
    let mut all = of_the_limit();
    all.extend(of_the_order());
    all.extend(of_the_ties());
    all.extend(of_what_is_lost());
    all.extend(of_the_names());
    all
}

fn split(
    diagnosis: &'static str,
    name: &'static str,
    split_into_shards: fn(&[Weight], u64) -> Split,
) -> Wrong {
    wrong("5.5", diagnosis, name, |table| table.split_into_shards = split_into_shards)
}

/// A loop that is wrong somewhere: the files so far, the open one with its bytes, a weight.
type Step = fn(&mut Vec<Vec<Weight>>, &mut Vec<Weight>, &Weight, u64);

/// Goes through the first names of all tensors.
fn walk(weights: &[Weight], max_bytes: u64, step: Step) -> Split {
    let (mut files, mut open) = (Vec::new(), Vec::new());
    let mut seen = HashSet::new();
    for weight in weights.iter().filter(|weight| seen.insert(weight.storage)) {
        step(&mut files, &mut open, weight, max_bytes);
    }
    if !open.is_empty() {
        files.push(open);
    }
    finished(weights, &files)
}

/// The right names and the right index for these files.
fn finished(weights: &[Weight], files: &[Vec<Weight>]) -> Split {
    let mut seen = HashSet::new();
    let once = weights.iter().filter(|weight| seen.insert(weight.storage));
    let total_size = once.map(|weight| weight.bytes).sum();
    let (mut shards, mut weight_map) = (Vec::new(), BTreeMap::new());
    for (at, file) in files.iter().enumerate() {
        let names = weights.iter().filter(|it| file.iter().any(|own| own.storage == it.storage));
        let names: Vec<String> = names.map(|weight| weight.name.clone()).collect();
        let file = match files.len() {
            1 => "model.safetensors".to_string(),
            count => format!("model-{:05}-of-{count:05}.safetensors", at + 1),
        };
        weight_map.extend(names.iter().map(|name| (name.clone(), file.clone())));
        shards.push(Shard { file, names });
    }
    let index = (shards.len() > 1).then_some(Index { total_size, weight_map });
    Split { shards, index }
}

fn held(open: &[Weight]) -> u64 {
    open.iter().map(|weight| weight.bytes).sum()
}

/// Adds a weight, in a new file if it does not fit.
fn add(files: &mut Vec<Vec<Weight>>, open: &mut Vec<Weight>, weight: &Weight, max_bytes: u64) {
    if held(open) + weight.bytes > max_bytes {
        files.push(std::mem::take(open));
    }
    open.push(weight.clone());
}

fn of_the_limit() -> Vec<Wrong> {
    vec![
        split("5.5-large-closes", "too large closes the file", |weights, max_bytes| {
            walk(weights, max_bytes, |files, open, weight, max_bytes| {
                if held(open) + weight.bytes > max_bytes && !open.is_empty() {
                    files.push(std::mem::take(open));
                }
                open.push(weight.clone());
            })
        }),
        split("5.5-large-last", "too large, so last", |weights, max_bytes| {
            let split = |large: bool| {
                let part = weights.iter().filter(|it| (it.bytes > max_bytes) == large);
                walk(&part.cloned().collect::<Vec<_>>(), max_bytes, |files, open, weight, max| {
                    if weight.bytes > max {
                        files.push(vec![weight.clone()]);
                    } else {
                        add(files, open, weight, max);
                    }
                })
            };
            let of_file = |shard: Shard| {
                let inside = weights.iter().filter(|it| shard.names.contains(&it.name));
                inside.cloned().collect::<Vec<_>>()
            };
            let files = [split(false), split(true)].map(|split| split.shards);
            finished(weights, &files.concat().into_iter().map(of_file).collect::<Vec<_>>())
        }),
        split("5.5-large-joins", "too large anyway", |weights, max_bytes| {
            walk(weights, max_bytes, |files, open, weight, max_bytes| {
                if weight.bytes > max_bytes {
                    open.push(weight.clone());
                } else {
                    add(files, open, weight, max_bytes);
                }
            })
        }),
        split("5.5-empty-shard", "closes an empty file", |weights, max_bytes| {
            walk(weights, max_bytes, add)
        }),
    ]
}

fn of_the_order() -> Vec<Wrong> {
    vec![
        split("5.5-full-closes", "less than the limit", |weights, max_bytes| {
            walk(weights, max_bytes, |files, open, weight, max_bytes| {
                if weight.bytes > max_bytes {
                    files.push(vec![weight.clone()]);
                    return;
                }
                if held(open) + weight.bytes >= max_bytes && !open.is_empty() {
                    files.push(std::mem::take(open));
                }
                open.push(weight.clone());
            })
        }),
        split("5.5-overshoots", "looks afterwards", |weights, max_bytes| {
            walk(weights, max_bytes, |files, open, weight, max_bytes| {
                if held(open) >= max_bytes && !open.is_empty() {
                    files.push(std::mem::take(open));
                }
                open.push(weight.clone());
            })
        }),
        split("5.5-by-size", "the largest first", |weights, max_bytes| {
            let mut by_size = weights.to_vec();
            by_size.sort_by_key(|weight| std::cmp::Reverse(weight.bytes));
            right(&by_size, max_bytes)
        }),
    ]
}

fn of_the_ties() -> Vec<Wrong> {
    vec![
        split("5.5-ties-ignored", "every name a tensor", |weights, max_bytes| {
            let alone =
                |(at, weight): (usize, &Weight)| Weight { storage: at as u64, ..weight.clone() };
            right(&weights.iter().enumerate().map(alone).collect::<Vec<_>>(), max_bytes)
        }),
        split("5.5-ties-of-neighbours", "the one before only", |weights, max_bytes| {
            let mut renamed: Vec<Weight> = Vec::new();
            for (at, weight) in weights.iter().enumerate() {
                let tied = at > 0 && weights[at - 1].storage == weight.storage;
                let storage = if tied { renamed[at - 1].storage } else { at as u64 };
                renamed.push(Weight { storage, ..weight.clone() });
            }
            right(&renamed, max_bytes)
        }),
        split("5.5-ties-where-they-stand", "free, but in its place", |weights, max_bytes| {
            let mut seen = HashSet::new();
            let free = |(at, weight): (usize, &Weight)| {
                let bytes = if seen.insert(weight.storage) { weight.bytes } else { 0 };
                Weight { bytes, storage: at as u64, ..weight.clone() }
            };
            right(&weights.iter().enumerate().map(free).collect::<Vec<_>>(), max_bytes)
        }),
        split("5.5-total-with-ties", "the sum of all", |weights, max_bytes| {
            let mut split = right(weights, max_bytes);
            if let Some(index) = &mut split.index {
                index.total_size = weights.iter().map(|weight| weight.bytes).sum();
            }
            split
        }),
        split("5.5-names-lost", "the first name only", |weights, max_bytes| {
            let mut seen = HashSet::new();
            let firsts = weights.iter().filter(|weight| seen.insert(weight.storage));
            right(&firsts.cloned().collect::<Vec<_>>(), max_bytes)
        }),
    ]
}

fn of_what_is_lost() -> Vec<Wrong> {
    vec![
        split("5.5-empty-lost", "nothing to save", |weights, max_bytes| {
            let full = weights.iter().filter(|weight| weight.bytes > 0);
            right(&full.cloned().collect::<Vec<_>>(), max_bytes)
        }),
        split("5.5-last-lost", "the open one forgotten", |weights, max_bytes| {
            let split = right(weights, max_bytes);
            let kept = split.shards.len().saturating_sub(1).max(1);
            let files = split.shards.iter().take(kept).map(|shard| {
                let inside = weights.iter().filter(|it| shard.names.contains(&it.name));
                inside.cloned().collect()
            });
            finished(weights, &files.collect::<Vec<_>>())
        }),
        split("5.5-total-of-names", "how many", |weights, max_bytes| {
            let mut split = right(weights, max_bytes);
            if let Some(index) = &mut split.index {
                index.total_size = index.weight_map.len() as u64;
            }
            split
        }),
        split("5.5-none-is-one", "one at least", |weights, max_bytes| match weights {
            [] => finished(weights, &[Vec::new()]),
            _ => right(weights, max_bytes),
        }),
        split("5.5-map-reversed", "file to weight", |weights, max_bytes| {
            let mut split = right(weights, max_bytes);
            if let Some(index) = &mut split.index {
                let shards = split.shards.iter();
                let pairs = shards.flat_map(|it| it.names.iter().map(|name| (&it.file, name)));
                index.weight_map = pairs.map(|(file, name)| (file.clone(), name.clone())).collect();
            }
            split
        }),
    ]
}

/// The right split with other file names: a name for the place and the count.
fn renamed(weights: &[Weight], max_bytes: u64, name: fn(usize, usize) -> String) -> Split {
    let mut split = right(weights, max_bytes);
    let count = split.shards.len();
    for (at, shard) in split.shards.iter_mut().enumerate() {
        shard.file = name(at, count);
        for name in &shard.names {
            if let Some(index) = &mut split.index {
                index.weight_map.insert(name.clone(), shard.file.clone());
            }
        }
    }
    split
}

/// The name as it is if there is one file.
fn unless_one(count: usize, name: String) -> String {
    if count == 1 { "model.safetensors".to_string() } else { name }
}

fn of_the_names() -> Vec<Wrong> {
    vec![
        split("5.5-no-zeros", "the numbers as they are", |weights, max_bytes| {
            renamed(weights, max_bytes, |at, count| {
                unless_one(count, format!("model-{}-of-{count}.safetensors", at + 1))
            })
        }),
        split("5.5-from-zero", "as a computer counts", |weights, max_bytes| {
            renamed(weights, max_bytes, |at, count| {
                unless_one(count, format!("model-{at:05}-of-{count:05}.safetensors"))
            })
        }),
        split("5.5-count-so-far", "named when closed", |weights, max_bytes| {
            renamed(weights, max_bytes, |at, count| {
                let number = at + 1;
                unless_one(count, format!("model-{number:05}-of-{number:05}.safetensors"))
            })
        }),
        split("5.5-one-is-numbered", "1 of 1", |weights, max_bytes| {
            renamed(weights, max_bytes, |at, count| {
                format!("model-{:05}-of-{count:05}.safetensors", at + 1)
            })
        }),
        split("5.5-one-has-an-index", "always an index", |weights, max_bytes| {
            indexed(weights, right(weights, max_bytes))
        }),
        split("5.5-one-is-all", "one as many", |weights, max_bytes| {
            let mut split = right(weights, max_bytes);
            if let [only] = &mut split.shards[..] {
                only.file = "model-00001-of-00001.safetensors".to_string();
            }
            indexed(weights, split)
        }),
    ]
}

/// An index also where there is one file.
fn indexed(weights: &[Weight], split: Split) -> Split {
    let [only] = &split.shards[..] else { return split };
    let pairs = only.names.iter().map(|name| (name.clone(), only.file.clone()));
    let weight_map = pairs.collect();
    let mut seen = HashSet::new();
    let once = weights.iter().filter(|weight| seen.insert(weight.storage));
    let total_size = once.map(|weight| weight.bytes).sum();
    Split { index: Some(Index { total_size, weight_map }), ..split }
}
