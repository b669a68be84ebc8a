//! 5.5: which rule one split breaks, where no single thought gives every answer.

use super::super::shards::{Split, Weight};
use super::shard_thoughts as thoughts;

/// A key and what is true instead.
pub type Words = (&'static str, &'static str);

/// A split as the files that hold each tensor, by the places of first names in the model.
struct Files<'a> {
    weights: &'a [Weight],
    max_bytes: u64,
    /// The tensors of each file.
    tensors: Vec<Vec<usize>>,
}

/// What may have broken the first rule that is broken: names, then tensors and files, then what the
/// files are called. What says most stands in front.
pub fn kinds(weights: &[Weight], max_bytes: u64, got: &Split, want: &Split) -> Vec<Words> {
    if got == want {
        return Vec::new();
    }
    if let Some(words) = names(weights, got) {
        return vec![words];
    }
    let files = Files { weights, max_bytes, tensors: tensors(weights, got) };
    if files.tensors != tensors(weights, want) {
        return files.grouping();
    }
    vec![called(weights, got, want)]
}

/// What is wrong where the right weights lie together.
fn called(weights: &[Weight], got: &Split, want: &Split) -> Words {
    if weights.is_empty() && got.shards.is_empty() {
        return ("5.5-none-has-an-index", NO_INDEX);
    }
    let called = |split: &Split| split.shards.iter().map(|it| it.file.clone()).collect::<Vec<_>>();
    if called(got) != called(want) {
        return ("5.5-file-names", FILE_NAMES);
    }
    match (&got.index, &want.index) {
        (None, Some(_)) => ("5.5-no-index", INDEX_LACKS),
        (Some(_), None) => ("5.5-one-has-an-index", thoughts::INDEX),
        (Some(got), Some(want)) if got.total_size != want.total_size => ("5.5-total", TOTAL),
        _ => ("5.5-weight-map", MAP),
    }
}

/// Names that are in no file, or in two, or not with those of the same tensor.
fn names(weights: &[Weight], got: &Split) -> Option<Words> {
    let files = |weight: &Weight| -> Vec<usize> {
        let has = |at: &usize| got.shards[*at].names.contains(&weight.name);
        (0..got.shards.len()).filter(has).collect()
    };
    if weights.is_empty() && !got.shards.is_empty() {
        return Some(("5.5-none-is-one", thoughts::NONE));
    }
    if got.shards.iter().any(|shard| shard.names.is_empty()) {
        return Some(("5.5-empty-shard", thoughts::EMPTY));
    }
    for (at, weight) in weights.iter().enumerate() {
        let first = first_of(weights, at);
        let found = files(weight);
        match found.len() {
            0 if first < at => return Some(("5.5-names-lost", thoughts::LOST)),
            0 if weight.bytes == 0 => return Some(("5.5-empty-lost", thoughts::NOTHING)),
            0 => return Some(("5.5-weight-lost", WEIGHT_LOST)),
            1 if found == files(&weights[first]) => {}
            1 => return Some(("5.5-ties-where-they-stand", thoughts::STAND)),
            _ => return Some(("5.5-in-two-files", TWO_FILES)),
        }
    }
    None
}

/// The place of the first name of a tensor.
fn first_of(weights: &[Weight], at: usize) -> usize {
    weights.iter().position(|other| other.storage == weights[at].storage).unwrap_or(at)
}

fn tensors(weights: &[Weight], split: &Split) -> Vec<Vec<usize>> {
    let of = |names: &Vec<String>| {
        let places = (0..weights.len()).filter(|&at| first_of(weights, at) == at);
        places.filter(|&at| names.contains(&weights[at].name)).collect()
    };
    split.shards.iter().map(|shard| of(&shard.names)).collect()
}

impl Files<'_> {
    fn bytes(&self, file: &[usize]) -> u64 {
        file.iter().map(|&at| self.weights[at].bytes).sum()
    }

    fn is_large(&self, at: usize) -> bool {
        self.weights[at].bytes > self.max_bytes
    }

    /// Why the tensors do not lie together as they should.
    fn grouping(&self) -> Vec<Words> {
        let over = |file: &&Vec<usize>| file.len() > 1 && self.bytes(file) > self.max_bytes;
        if let Some(file) = self.tensors.iter().find(over) {
            return vec![match file.iter().any(|&at| self.is_large(at)) {
                true => ("5.5-large-joins", thoughts::JOINS),
                false => ("5.5-above-the-limit", ABOVE),
            }];
        }
        // The files in which nothing is too large: tensors go into them in order.
        let small: Vec<&[usize]> = self.tensors.iter().map(Vec::as_slice).collect();
        let small: Vec<&[usize]> =
            small.into_iter().filter(|file| !file.iter().any(|&at| self.is_large(at))).collect();
        if !small.concat().is_sorted() {
            return vec![("5.5-first-fit", thoughts::FIT)];
        }
        let fits = |at: &usize| {
            let next = &self.weights[small[at + 1][0]];
            self.bytes(small[*at]) + next.bytes <= self.max_bytes
        };
        let early = (1..small.len()).map(|behind| behind - 1).find(fits);
        early.map_or_else(|| vec![("5.5-large-out-of-turn", TURN)], |at| self.closed(&small, at))
    }

    /// Why a file was closed although the next tensor would have fitted.
    fn closed(&self, small: &[&[usize]], at: usize) -> Vec<Words> {
        let next = small[at + 1][0];
        let sum = self.bytes(small[at]) + self.weights[next].bytes;
        // What came since the file before it was closed.
        let begin =
            at.checked_sub(1).and_then(|before| small[before].last()).map_or(0, |it| it + 1);
        let (tied, own): (Vec<usize>, Vec<usize>) =
            (begin..next).partition(|&at| first_of(self.weights, at) < at);
        let reasons = [
            (sum + self.bytes(&tied) > self.max_bytes, ("5.5-ties-count", TIES_COUNT)),
            (sum == self.max_bytes, ("5.5-full-closes", thoughts::FULL)),
            (own.iter().any(|&at| self.is_large(at)), ("5.5-large-closes", thoughts::CLOSES)),
            (at > 0, ("5.5-not-reset", NOT_RESET)),
            (true, ("5.5-closed-early", EARLY)),
        ];
        reasons.into_iter().filter(|(holds, _)| *holds).map(|(_, words)| words).collect()
    }
}

const NO_INDEX: &str = "A model without weights got an index. There is no file, so there is \
    nothing to find: an index comes with two files or more, not with every number but one.";
const FILE_NAMES: &str = "The right weights lie together, and the files have other names: \
    `model-00001-of-00003.safetensors`, counted from 1, numbers and count with five digits, the \
    count that of all files; or `model.safetensors` where one is enough.";
const INDEX_LACKS: &str = "There is more than one file and no index. Whoever loads would have to \
    open every file to find a weight.";
const TOTAL: &str = "`total_size` is another number. It is the bytes of all tensors in all files, \
    those of tied weights once.";
const MAP: &str = "The files are right, and the index leads elsewhere. It has every name, also the \
    second ones of tied weights, each with the name of the file in which it is listed.";
const WEIGHT_LOST: &str = "A weight is in no file. Each is in one, also a weight above the limit, \
    and behind the last weight a file may still be open.";
const TWO_FILES: &str = "A name is in two files: that of its tensor, and the one that was open \
    when its turn came. A tied weight is listed with the first of its names, and nowhere else.";
const ABOVE: &str = "A file has more than the limit though no weight in it has. The bytes of a \
    file are those of all weights in it, and whether the next one fits is asked before it is put \
    in.";
const TURN: &str = "The right weights lie together, and the files are numbered in another order. A \
    weight above the limit becomes a file when its turn comes: behind those that are finished, \
    before the one that is open.";
const TIES_COUNT: &str = "A second name has taken bytes once more: the file was closed though the \
    next weight would have fitted. The tensor is in its file already, and its other names cost \
    nothing, neither there nor in the file that is open.";
const EARLY: &str = "A file was closed though the next weight would have fitted. What counts is \
    whether the bytes in the open file and those of the weight are more than the limit together.";
const NOT_RESET: &str = "A later file was closed though the next weight would have fitted, as if \
    the bytes of the files before it still counted. The sum begins anew with each file, and then \
    has the bytes of the weight that opened it.";
