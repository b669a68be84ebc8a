//! Wrong plans of reads: 5.6.

use super::super::reshard::Read;
use super::super::solution;
use super::{Wrong, wrong};

type Plan = fn(&[Vec<usize>], usize, usize, usize) -> Vec<Read>;

pub fn mistakes() -> Vec<Wrong> {
    let mut all = of_flat_shares();
    all.extend(of_reads());
    all.extend(of_rows());
    all.extend(of_pieces());
    all
}

fn flat(diagnosis: &'static str, name: &'static str, plan: Plan) -> Wrong {
    wrong("5.6", diagnosis, name, |table| table.reads_flat = plan)
}

fn parameters(diagnosis: &'static str, name: &'static str, plan: Plan) -> Wrong {
    wrong("5.6", diagnosis, name, |table| table.reads_per_parameter = plan)
}

fn numel(shapes: &[Vec<usize>]) -> usize {
    shapes.iter().map(|shape| shape.iter().product::<usize>()).sum()
}

fn of_flat_shares() -> Vec<Wrong> {
    vec![
        flat("5.6-balanced", "as even as possible", |shapes, old, new, rank| {
            cut(&[vec![numel(shapes)]], old, new, rank, balanced)
        }),
        flat("5.6-own-file", "each its own file", |shapes, old, new, rank| {
            let (total, saved) = (numel(shapes), numel(shapes).div_ceil(old));
            let share = total.div_ceil(new);
            let wanted = share.min(total.saturating_sub(rank * share));
            let count = saved.min(wanted);
            let reads = vec![Read { file: rank, from: 0, count, to: 0 }];
            reads.into_iter().filter(|read| read.file < old && read.count > 0).collect()
        }),
        flat("5.6-interleaved", "deals the elements out", |shapes, old, new, rank| {
            let mine = (rank..numel(shapes)).step_by(new).enumerate();
            mine.map(|(to, at)| Read { file: at % old, from: at / old, count: 1, to }).collect()
        }),
        flat("5.6-each-parameter", "every parameter by itself", |shapes, old, new, rank| {
            let columns: Vec<Vec<usize>> =
                shapes.iter().map(|shape| vec![shape.iter().product()]).collect();
            solution::reads_per_parameter(&columns, old, new, rank)
        }),
        flat("5.6-one-file", "the first file only", |shapes, old, new, rank| {
            let reads = solution::reads_flat(shapes, old, new, rank);
            reads.into_iter().take(1).collect()
        }),
        flat("5.6-same-for-all", "forgets the rank", |shapes, old, new, _| {
            solution::reads_flat(shapes, old, new, 0)
        }),
    ]
}

fn of_reads() -> Vec<Wrong> {
    vec![
        flat("5.6-not-merged", "element by element", |shapes, old, new, rank| {
            let singles = |read: Read| {
                let Read { file, from, count, to } = read;
                (0..count).map(move |i| Read { file, from: from + i, count: 1, to: to + i })
            };
            solution::reads_flat(shapes, old, new, rank).into_iter().flat_map(singles).collect()
        }),
        flat("5.6-empty-reads", "something of every file", |shapes, old, new, rank| {
            let mut reads = solution::reads_flat(shapes, old, new, rank);
            for file in 0..old {
                if !reads.iter().any(|read| read.file == file) {
                    reads.push(Read { file, from: 0, count: 0, to: 0 });
                }
            }
            reads
        }),
        flat("5.6-read-twice", "borders on both sides", |shapes, old, new, rank| {
            let mut reads = solution::reads_flat(shapes, old, new, rank);
            for at in 1..reads.len() {
                let Read { file, from, count, to } = reads[at];
                reads.push(Read { file, from, count: count.min(1), to });
            }
            reads
        }),
    ]
}

/// How rows are dealt out: the first row of a rank, of so many in so many.
type Border = fn(usize, usize, usize) -> usize;

fn chunked(rows: usize, world: usize, rank: usize) -> usize {
    rows.min(rank * rows.div_ceil(world))
}

fn balanced(rows: usize, world: usize, rank: usize) -> usize {
    rank * (rows / world) + rank.min(rows % world)
}

/// The right plan with another border, and with all elements behind the first dimension as a row.
fn cut(shapes: &[Vec<usize>], old: usize, new: usize, rank: usize, border: Border) -> Vec<Read> {
    let (mut used, mut filled) = (vec![0; old], 0);
    let mut reads = Vec::new();
    for shape in shapes {
        let row = shape[1..].iter().product::<usize>();
        let (first, last) = (border(shape[0], new, rank), border(shape[0], new, rank + 1));
        for (file, used) in used.iter_mut().enumerate() {
            let saved = (border(shape[0], old, file), border(shape[0], old, file + 1));
            let (from, to) = (first.max(saved.0), last.min(saved.1));
            if from < to && row > 0 {
                let (count, to) = ((to - from) * row, filled + (from - first) * row);
                reads.push(Read { file, from: *used + (from - saved.0) * row, count, to });
            }
            *used += (saved.1 - saved.0) * row;
        }
        filled += (last - first) * row;
    }
    reads
}

fn of_rows() -> Vec<Wrong> {
    vec![
        parameters("5.6-balanced-rows", "as even as possible", |shapes, old, new, rank| {
            cut(shapes, old, new, rank, balanced)
        }),
        parameters("5.6-flattened", "as flat", solution::reads_flat),
        parameters("5.6-cut-inside-rows", "cuts the numbers", |shapes, old, new, rank| {
            let columns: Vec<Vec<usize>> =
                shapes.iter().map(|shape| vec![shape.iter().product()]).collect();
            solution::reads_per_parameter(&columns, old, new, rank)
        }),
        parameters("5.6-rows-counted", "counts rows", |shapes, old, new, rank| {
            let columns: Vec<Vec<usize>> = shapes.iter().map(|shape| vec![shape[0]]).collect();
            cut(&columns, old, new, rank, chunked)
        }),
        parameters("5.6-first-parameter", "the first one only", |shapes, old, new, rank| {
            cut(&shapes[..shapes.len().min(1)], old, new, rank, chunked)
        }),
        parameters("5.6-rows-of-rank-0", "forgets the rank", |shapes, old, new, _| {
            solution::reads_per_parameter(shapes, old, new, 0)
        }),
    ]
}

fn of_pieces() -> Vec<Wrong> {
    vec![parameters("5.6-new-chunks", "files of the new world", |shapes, old, new, rank| {
        let count_of = |shape: &Vec<usize>| {
            let rows = chunked(shape[0], new, rank + 1) - chunked(shape[0], new, rank);
            rows * shape[1..].iter().product::<usize>()
        };
        let count = shapes.iter().map(count_of).sum();
        let read = Read { file: rank, from: 0, count, to: 0 };
        if rank < old && count > 0 { vec![read] } else { Vec::new() }
    })]
}
