//! Other right ways to plan the reads: 5.6.

use super::super::reshard::Read;
use super::{Other, other};

pub fn alternatives() -> Vec<Other> {
    vec![
        other("5.6", "every file, flat", |table| table.reads_flat = every_file),
        other("5.6", "element by element, flat", |table| table.reads_flat = one_by_one),
        other("5.6", "recursion, flat", |table| table.reads_flat = recursive),
        other("5.6", "row by row", |table| table.reads_per_parameter = row_by_row),
        other("5.6", "file by file", |table| table.reads_per_parameter = file_by_file),
        other("5.6", "tables of borders", |table| table.reads_per_parameter = with_borders),
    ]
}

/// What each old share and the new one have in common.
fn every_file(shapes: &[Vec<usize>], old_world: usize, new_world: usize, rank: usize) -> Vec<Read> {
    let total: usize = shapes.iter().map(|shape| shape.iter().product::<usize>()).sum();
    let share = |world: usize, rank: usize| {
        let length = total.div_ceil(world);
        (total.min(rank * length), total.min((rank + 1) * length))
    };
    let (begin, end) = share(new_world, rank);
    let common = |file: usize| {
        let (first, last) = share(old_world, file);
        let (from, to) = (begin.max(first), begin.max(first).max(end.min(last)));
        Read { file, from: from - first, count: to - from, to: from - begin }
    };
    (0..old_world).rev().map(common).filter(|read| read.count > 0).collect()
}

/// Adds an element to the last read, or begins another one.
fn push(reads: &mut Vec<Read>, file: usize, from: usize, to: usize) {
    if let Some(last) = reads.last_mut()
        && last.file == file
        && last.from + last.count == from
        && last.to + last.count == to
    {
        last.count += 1;
        return;
    }
    reads.push(Read { file, from, count: 1, to });
}

fn one_by_one(shapes: &[Vec<usize>], old_world: usize, new_world: usize, rank: usize) -> Vec<Read> {
    let mut total = 0;
    for shape in shapes {
        let mut elements = 1;
        for side in shape {
            elements *= side;
        }
        total += elements;
    }
    let (old, new) = (total.div_ceil(old_world), total.div_ceil(new_world));
    let mut reads = Vec::new();
    for to in 0..new {
        let element = rank * new + to;
        if element < total {
            push(&mut reads, element / old, element % old, to);
        }
    }
    reads
}

fn recursive(shapes: &[Vec<usize>], old_world: usize, new_world: usize, rank: usize) -> Vec<Read> {
    let total: usize = shapes.iter().map(|shape| shape.iter().product::<usize>()).sum();
    let new = total.div_ceil(new_world);
    let rest = total.saturating_sub(rank * new).min(new);
    let mut reads = Vec::new();
    take(total.div_ceil(old_world), (rank * new, rest), 0, &mut reads);
    reads
}

/// The reads for so many elements from one of them on.
fn take(old: usize, (at, rest): (usize, usize), to: usize, reads: &mut Vec<Read>) {
    if rest > 0 {
        let count = rest.min(old - at % old);
        reads.push(Read { file: at / old, from: at % old, count, to });
        take(old, (at + count, rest - count), to + count, reads);
    }
}

/// Each row is looked for, and follows the one before it or not.
fn row_by_row(shapes: &[Vec<usize>], old_world: usize, new_world: usize, rank: usize) -> Vec<Read> {
    let (mut used, mut to) = (vec![0; old_world], 0);
    let mut reads = Vec::new();
    for shape in shapes {
        let row = shape[1..].iter().product::<usize>();
        let chunk = |world: usize| shape[0].div_ceil(world).max(1);
        for i in 0..shape[0] {
            let file = i / chunk(old_world);
            for element in 0..row {
                if i / chunk(new_world) == rank {
                    push(&mut reads, file, used[file] + element, to);
                    to += 1;
                }
            }
            used[file] += row;
        }
    }
    reads
}

/// Each file by itself, and all reads put into order at last.
fn file_by_file(
    shapes: &[Vec<usize>],
    old_world: usize,
    new_world: usize,
    rank: usize,
) -> Vec<Read> {
    let rows = |shape: &[usize], world: usize, rank: usize| {
        let chunk = shape[0].div_ceil(world);
        shape[0].min(chunk * rank)..shape[0].min(chunk * (rank + 1))
    };
    let mut merged: Vec<Read> = Vec::new();
    for file in 0..old_world {
        let (mut from, mut to) = (0, 0);
        for shape in shapes {
            let row: usize = shape.iter().skip(1).product();
            let (saved, wanted) = (rows(shape, old_world, file), rows(shape, new_world, rank));
            let common = saved.start.max(wanted.start)..saved.end.min(wanted.end);
            let count = common.len() * row;
            if count > 0 {
                let from = from + (common.start - saved.start) * row;
                let to = to + (common.start - wanted.start) * row;
                let before = Read { file, from, count: 0, to };
                let place = merged.iter_mut().find(|it| {
                    it.file == file && it.from + it.count == from && it.to + it.count == to
                });
                match place {
                    Some(read) => read.count += count,
                    None => merged.push(Read { count, ..before }),
                }
            }
            (from, to) = (from + saved.len() * row, to + wanted.len() * row);
        }
    }
    merged
}

/// Where every rank's piece of every parameter begins, first for all files, then for the share.
fn with_borders(
    shapes: &[Vec<usize>],
    old_world: usize,
    new_world: usize,
    rank: usize,
) -> Vec<Read> {
    let borders = |shape: &[usize], world: usize| -> Vec<usize> {
        let row = shape[1..].iter().product::<usize>();
        let chunk = shape[0].div_ceil(world);
        (0..=world).map(|rank| shape[0].min(rank * chunk) * row).collect()
    };
    let mut reads: Vec<Read> = Vec::new();
    let mut files = vec![0; old_world];
    let mut to = 0;
    for shape in shapes {
        let (old, new) = (borders(shape, old_world), borders(shape, new_world));
        let mut at = new[rank];
        while at < new[rank + 1] {
            let file = old.iter().rposition(|border| *border <= at).unwrap_or(0);
            let count = new[rank + 1].min(old[file + 1]) - at;
            let from = files[file] + at - old[file];
            match reads.last_mut().filter(|it| it.file == file && it.from + it.count == from) {
                Some(last) => last.count += count,
                None => reads.push(Read { file, from, count, to }),
            }
            (at, to) = (at + count, to + count);
        }
        for file in 0..old_world {
            files[file] += old[file + 1] - old[file];
        }
    }
    reads
}
