//! Wrong plans of reads, each the plain loop with one thing otherwise: 5.6.

use super::super::reshard::Read;
use super::{Wrong, wrong};

/// What a loop does otherwise.
#[derive(Clone, Copy, PartialEq)]
enum Other {
    OldDown,
    NewDown,
    Uncut,
    NewShares,
    BeginsAsOld,
    FromInShare,
    AFileLong,
    MixedShares,
    FromInParameter,
    BeforeInRows,
    BeforeRead,
    OneBefore,
}

use Other::*;

fn divided(a: usize, b: usize, down: bool) -> usize {
    if down { a / b } else { a.div_ceil(b) }
}

fn flat(shapes: &[Vec<usize>], worlds: (usize, usize), rank: usize, other: Other) -> Vec<Read> {
    let total: usize = shapes.iter().map(|shape| shape.iter().product::<usize>()).sum();
    let old = divided(total, worlds.0, other == OldDown);
    let new = divided(total, worlds.1, other == NewDown);
    let begin = rank * if other == BeginsAsOld { old } else { new };
    let end = if other == Uncut { begin + new } else { total.min(begin + new) };
    let (mut reads, mut at) = (Vec::new(), begin);
    while at < end {
        let length = if other == NewShares { new } else { old };
        let (file, inside) = (at / length, at % length);
        let from = match other {
            FromInShare => at - begin,
            MixedShares => at - at.min(rank * old),
            _ => inside,
        };
        let left = if other == AFileLong { length } else { length - inside };
        let count = left.min(end - at);
        reads.push(Read { file, from, count, to: at - begin });
        at += count;
    }
    reads
}

fn rows(shapes: &[Vec<usize>], worlds: (usize, usize), rank: usize, other: Other) -> Vec<Read> {
    let (mut before, mut to) = (vec![0; worlds.0], 0);
    let mut reads = Vec::new();
    for shape in shapes {
        let (rows, row) = (shape[0], shape[1..].iter().product::<usize>());
        let old = divided(rows, worlds.0, other == OldDown);
        let new = divided(rows, worlds.1, other == NewDown);
        let (begin, end) = (rows.min(rank * new), rows.min(rank * new + new));
        let filled = to;
        for (file, before) in before.iter_mut().enumerate() {
            let (first, behind) = (rows.min(file * old), rows.min(file * old + old));
            let (a, b) = (begin.max(first), end.min(behind));
            if a < b && row > 0 {
                let place = if other == OneBefore { filled } else { *before };
                let skipped = if other == FromInParameter { a } else { a - first };
                let count = (b - a) * row;
                reads.push(Read { file, from: place + skipped * row, count, to });
                to += count;
            }
            *before += match other {
                BeforeInRows => behind - first,
                BeforeRead => b.saturating_sub(a) * row,
                _ => (behind - first) * row,
            };
        }
    }
    reads
}

/// `walk!(function, key, name, other)`.
macro_rules! walk {
    ($field:ident = $plan:ident, $diagnosis:literal, $name:literal, $other:expr) => {
        wrong("5.6", $diagnosis, $name, |table| {
            table.$field = |shapes, old, new, rank| $plan(shapes, (old, new), rank, $other);
        })
    };
}

pub fn mistakes() -> Vec<Wrong> {
    vec![
        walk!(reads_flat = flat, "5.6-old-rounded-down", "old shares divided", OldDown),
        walk!(reads_flat = flat, "5.6-rounded-down", "new shares divided", NewDown),
        walk!(reads_flat = flat, "5.6-end-not-cut", "a whole share for all", Uncut),
        walk!(reads_flat = flat, "5.6-new-shares", "files of the new ranks", NewShares),
        walk!(reads_flat = flat, "5.6-begins-as-old", "begins as it was", BeginsAsOld),
        walk!(reads_flat = flat, "5.6-from-in-the-share", "from in the share", FromInShare),
        walk!(reads_flat = flat, "5.6-a-file-long", "as long as a file", AFileLong),
        walk!(reads_flat = flat, "5.6-behind-the-file", "from its own old share", MixedShares),
        walk!(reads_per_parameter = rows, "5.6-old-rows-rounded-down", "old rows divided", OldDown),
        walk!(reads_per_parameter = rows, "5.6-rows-rounded-down", "new rows divided", NewDown),
        walk!(
            reads_per_parameter = rows,
            "5.6-from-in-the-parameter",
            "from in the parameter",
            FromInParameter
        ),
        walk!(reads_per_parameter = rows, "5.6-before-in-rows", "rows before it", BeforeInRows),
        walk!(reads_per_parameter = rows, "5.6-before-what-was-read", "what it read", BeforeRead),
        walk!(reads_per_parameter = rows, "5.6-one-place-for-all", "one place", OneBefore),
    ]
}
