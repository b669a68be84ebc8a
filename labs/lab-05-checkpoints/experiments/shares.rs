//! The numbers of a small model, shared out in the two ways, on four ranks and on three.

use std::ops::Range;

use engine_room_labs::memory_map::{self, Bar, Piece};
use engine_room_labs::{Cell, LabArgs, Output, Table};

use crate::exercise;
use crate::reshard::Read;

/// Names and shapes of two layers.
const MODEL: [(&str, &[usize]); 4] =
    [("w1", &[10, 3]), ("b1", &[10]), ("w2", &[2, 10]), ("b2", &[2])];
const OLD: usize = 4;
const NEW: usize = 3;

/// A part of a tensor, or zeros: a name and a count.
type Part = (&'static str, usize);

/// Prints what each rank has, and what a new rank finds in the files of the old ones.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let all: usize = MODEL.iter().map(|(_, shape)| numel(shape)).sum();
    let shapes: Vec<String> =
        MODEL.iter().map(|(name, shape)| format!("{name} {shape:?}")).collect();
    output.say(&format!("{} have {all} numbers. What each rank has of them:\n", shapes.join(", ")));
    let mut table = Table::new()
        .column("layout", "shared out", "")
        .column("ranks", "ranks", "")
        .column("rank", "rank", "")
        .column("numbers", "numbers", "")
        .column("parts", "which", "");
    for (layout, share) in LAYOUTS {
        for ranks in [OLD, NEW] {
            for rank in 0..ranks {
                let parts = share(ranks, rank);
                let counts = [ranks, rank, parts.iter().map(|(_, count)| count).sum()];
                let words = parts.iter().map(|(name, count)| format!("{count} of {name}"));
                let words = words.collect::<Vec<String>>().join(", ");
                let counts = counts.map(|count| Cell::Count(count as u64));
                table.row([layout.into()].into_iter().chain(counts).chain([words.into()]));
            }
        }
    }
    let last: usize = per_parameter(NEW, NEW - 1).iter().map(|(_, count)| count).sum();
    output.prediction("5.b", last as f64, "numbers");
    output.table("rows", &table);
    output.say(&format!("Flat, saved on {OLD} ranks and loaded on {NEW}:\n"));
    let mut table = Table::new()
        .column("rank", "new rank", "")
        .column("old", "reads the file of", "")
        .column("from", "from", "")
        .column("count", "numbers", "");
    for rank in 0..NEW {
        let reads = if args.mine { yours(rank) } else { reads(all, rank) };
        for read in reads {
            let row = [rank, read.file, read.from, read.count];
            table.row(row.map(|n| Cell::Count(n as u64)));
        }
    }
    output.table("reads", &table);
    output.figure(&memory_map::svg("What each of four ranks has", &bars(), Some(WIDEST))?)
}

/// What the share of a new rank has in common with those of the old ones.
fn reads(all: usize, rank: usize) -> Vec<Read> {
    let own = cut(all, NEW, rank);
    let common = (0..OLD).map(|file| {
        let there = cut(all, OLD, file);
        let (from, end) = (own.start.max(there.start), own.end.min(there.end).min(all));
        let count = end.saturating_sub(from);
        Read { file, from: from - there.start, count, to: from - own.start }
    });
    common.filter(|read| read.count > 0).collect()
}

/// The same by the reader's function of 5.6.
fn yours(rank: usize) -> Vec<Read> {
    let shapes: Vec<Vec<usize>> = MODEL.iter().map(|(_, shape)| shape.to_vec()).collect();
    exercise::reads_flat(&shapes, OLD, NEW, rank)
}

/// A way to share out: what a rank of so many has.
type Share = fn(usize, usize) -> Vec<Part>;
const LAYOUTS: [(&str, Share); 2] = [("flat", flat), ("per parameter", per_parameter)];

fn numel(shape: &[usize]) -> usize {
    shape.iter().product()
}

/// The place of a rank's share if `count` numbers in a row are cut evenly: the last may be padded.
fn cut(count: usize, ranks: usize, rank: usize) -> Range<usize> {
    let each = count.div_ceil(ranks);
    rank * each..(rank + 1) * each
}

/// All parameters end to end, and zeros behind them.
fn flat(ranks: usize, rank: usize) -> Vec<Part> {
    let all = MODEL.iter().flat_map(|(name, shape)| std::iter::repeat_n(*name, numel(shape)));
    let all: Vec<&str> = all.collect();
    let own: Vec<&str> = cut(all.len(), ranks, rank)
        .map(|place| all.get(place).copied().unwrap_or("zeros"))
        .collect();
    own.chunk_by(|a, b| a == b).map(|part| (part[0], part.len())).collect()
}

/// Rows of each parameter, as `torch.chunk` cuts them.
fn per_parameter(ranks: usize, rank: usize) -> Vec<Part> {
    let rows = |count: usize| cut(count, ranks, rank).filter(|&row| row < count).count();
    let parts = MODEL.iter().map(|(name, shape)| (*name, rows(shape[0]) * numel(&shape[1..])));
    parts.filter(|(_, count)| *count > 0).collect()
}

/// The largest share of the figure, in bytes.
const WIDEST: u64 = 23 * 4;

fn bars() -> Vec<Bar> {
    let ranks = LAYOUTS.into_iter().flat_map(|layout| (0..OLD).map(move |rank| (layout, rank)));
    let bar = |((name, share), rank): ((&str, Share), usize)| Bar {
        label: format!("{name}, rank {rank}"),
        pieces: share(OLD, rank)
            .into_iter()
            .map(|(name, count)| Piece { name: name.to_string(), bytes: 4 * count as u64 })
            .collect(),
    };
    ranks.map(bar).collect()
}
