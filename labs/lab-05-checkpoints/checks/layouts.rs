//! 5.6: which element lies where, in both layouts, by cutting the elements themselves; and what
//! comes of a plan.

use super::super::reshard::Read;

/// How the elements of a model lie in the files of its ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Layout {
    /// All parameters as one row of numbers, padded and cut evenly: FSDP1.
    Flat,
    /// Every parameter cut along dimension 0 by itself: FSDP2.
    PerParameter,
}

/// What a plan is asked for.
#[derive(Debug, Clone)]
pub struct Case {
    pub shapes: Vec<Vec<usize>>,
    pub old: usize,
    pub new: usize,
    pub rank: usize,
}

/// Where an element of the share is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    pub to: usize,
    pub file: usize,
    pub from: usize,
}

impl Cell {
    /// Every element of every read, in the order of the share; nothing where they are far too many.
    pub fn all_of(reads: &[Read]) -> Option<Vec<Cell>> {
        let within = |it: &Read| [it.file, it.from, it.count, it.to].iter().all(|n| *n < 1 << 20);
        if !reads.iter().all(within) {
            return None;
        }
        let cells = |it: &Read| {
            let Read { file, from, count, to } = *it;
            (0..count).map(move |i| Cell { to: to + i, file, from: from + i })
        };
        let mut all: Vec<Cell> = reads.iter().flat_map(cells).collect();
        all.sort();
        Some(all)
    }
}

/// How many elements a shape has.
pub fn numel(shape: &[usize]) -> usize {
    shape.iter().product()
}

/// The file of every rank: numbers of elements, counted through the whole model; none is padding.
pub fn files(shapes: &[Vec<usize>], world: usize, layout: Layout) -> Vec<Vec<Option<usize>>> {
    let total = shapes.iter().map(|shape| numel(shape)).sum();
    let elements: Vec<Option<usize>> = (0..total).map(Some).collect();
    let mut files = vec![Vec::new(); world];
    if layout == Layout::Flat {
        let mut padded = elements;
        while !padded.len().is_multiple_of(world) {
            padded.push(None);
        }
        let share = padded.len() / world;
        for (rank, file) in files.iter_mut().enumerate() {
            file.extend(&padded[rank * share..(rank + 1) * share]);
        }
        return files;
    }
    let mut rest = &elements[..];
    for shape in shapes {
        let (parameter, others) = rest.split_at(numel(shape));
        rest = others;
        let rows: Vec<&[Option<usize>]> = match shape[1..].iter().product() {
            0 => Vec::new(),
            row => parameter.chunks(row).collect(),
        };
        // `torch.chunk`: chunks of as many rows, a shorter one, and perhaps no more.
        let chunk = rows.len().div_ceil(world).max(1);
        for (file, rows) in files.iter_mut().zip(rows.chunks(chunk)) {
            file.extend(rows.concat());
        }
    }
    files
}

/// What is wrong with a plan.
pub struct Fault {
    pub key: &'static str,
    pub got: String,
    pub expected: String,
    pub thought: &'static str,
}

/// Carries a plan out: whether every element of the share is read, once, from where it lies, and
/// nothing else is.
pub fn carried_out(reads: &[Read], case: &Case, layout: Layout) -> Option<Fault> {
    let old = files(&case.shapes, case.old, layout);
    let new = files(&case.shapes, case.new, layout).remove(case.rank);
    let impossible = reads.iter().find_map(|read| possible(read, &old, new.len()));
    if impossible.is_some() {
        return impossible;
    }
    let mut share = vec![None; new.len()];
    for Cell { to, file, from } in Cell::all_of(reads)? {
        let Some(element) = old[file][from] else {
            let got = format!("element {from} of file {file} is padding");
            return fault("5.6-padding-read", got, "no padding is read", PADDING);
        };
        if share[to].is_some() {
            let got = format!("element {to} of the share is read twice");
            return fault("5.6-read-twice", got, "each element is read once", TWICE);
        }
        share[to] = Some(element);
    }
    if let Some(at) = (0..new.len()).find(|&at| share[at] != new[at]) {
        let say = |element: Option<usize>| match element {
            None => format!("element {at} of the share is not read"),
            Some(element) => format!("element {at} of the share: element {element} of the model"),
        };
        let key = grading::diagnosis::key::WRONG_VALUE;
        return fault(key, say(share[at]), say(new[at]), "");
    }
    many(reads)
}

/// A read that cannot be carried out.
fn possible(read: &Read, old: &[Vec<Option<usize>>], share: usize) -> Option<Fault> {
    let Read { file, from, count, to } = *read;
    let Some(length) = old.get(file).map(Vec::len) else {
        let expected = format!("files 0 to {}", old.len() - 1);
        return fault("5.6-no-such-file", format!("a read of file {file}"), expected, NO_FILE);
    };
    if from.checked_add(count).is_none_or(|end| end > length) {
        let got = format!("a read of {count} elements from element {from} of file {file}");
        let expected = format!("file {file} has {length} elements");
        return match from < length {
            true => fault("5.6-over-the-end", got, expected, OVER_END),
            false => fault("5.6-behind-the-file", got, expected, BEHIND_FILE),
        };
    }
    if to.checked_add(count).is_none_or(|end| end > share) {
        let got = format!("a read of {count} elements to element {to} of the share");
        let expected = format!("the share has {share} elements");
        return fault("5.6-behind-the-share", got, expected, BEHIND_SHARE);
    }
    None
}

/// Reads that are more than are needed.
fn many(reads: &[Read]) -> Option<Fault> {
    if let Some(read) = reads.iter().find(|read| read.count == 0) {
        let got = format!("a read of 0 elements of file {}", read.file);
        return fault("5.6-empty-reads", got, "no read without an element", NOTHING);
    }
    let mut sorted = reads.to_vec();
    sorted.sort_by_key(|read| read.to);
    let follows = |pair: &&[Read]| {
        let (a, b) = (pair[0], pair[1]);
        a.file == b.file && a.from + a.count == b.from && a.to + a.count == b.to
    };
    let pair = sorted.windows(2).find(follows)?;
    let got = format!(
        "elements {}..{} of file {} are read by two reads and more",
        pair[0].from,
        pair[1].from + pair[1].count,
        pair[0].file
    );
    fault("5.6-not-merged", got, "one read", MERGED)
}

fn fault(
    key: &'static str,
    got: String,
    expected: impl Into<String>,
    thought: &'static str,
) -> Option<Fault> {
    Some(Fault { key, got, expected: expected.into(), thought })
}

const PADDING: &str = "Padding was read as if it were a parameter. It lies at the end of what the \
    old ranks saved, the new padding begins as zeros, and a share that ends in padding is shorter \
    than the others: end at the last element of the model, not at the end of the share.";
const TWICE: &str = "Two reads fill the same element. Each element lies in one file, and shares \
    begin where the one before ends.";
const NO_FILE: &str = "A file was read that nobody has saved. There are as many files as there \
    were old ranks, counted from 0. Two things lead behind them: an old share that is taken to be \
    shorter than it was, and a share that does not end where the model ends.";
const OVER_END: &str = "A read begins in its file and ends behind it. What is left of a file is \
    its length less `from`: the rest of the share comes from the next one.";
const BEHIND_FILE: &str = "A read begins behind the end of its file. `from` counts inside the \
    file: each begins at 0 again, with the first element of its share, and has what its own rank \
    had.";
const BEHIND_SHARE: &str = "A read goes beyond the share of the rank. `to` counts inside the share \
    and begins at 0 for every rank, and a read ends where the file or the share ends, whichever \
    comes first.";
const NOTHING: &str = "A read of 0 elements asks a disk, or a server, for nothing, and waits for \
    its answer. Leave it out.";
const MERGED: &str = "Two reads follow each other in the file and in the share. They are one read: \
    a disk answers one large read in a fraction of the time of many small ones. Before you push a \
    read, look whether the last one ends where it begins.";
