//! Wrong plans of reads, each the plain loop with one thing otherwise: 5.6.

use super::super::reshard::Read;
use super::{Wrong, wrong};

/// What a loop does otherwise.
#[derive(Clone, Copy, PartialEq)]
enum Other {
    OldDown,
    NewDown,
    Uncut,
    NotCompared,
    PaddingRead,
    PaddingCut,
    FromInModel,
    ToInModel,
    Bytes,
    FromOne,
    WholeFiles,
    OneRead,
    NewShares,
    BeginsAsOld,
    FromInShare,
    AFileLong,
    MixedShares,
    FromInParameter,
    BeforeInRows,
    BeforeRead,
    OneBefore,
    FileAnew,
    ShareAnew,
    FilesPadded,
    SharePadded,
}

use Other::*;

fn divided(a: usize, b: usize, down: bool) -> usize {
    if down { a / b } else { a.div_ceil(b) }
}

fn flat(shapes: &[Vec<usize>], worlds: (usize, usize), rank: usize, other: Other) -> Vec<Read> {
    let total: usize = shapes.iter().map(|shape| shape.iter().product::<usize>()).sum();
    let old = divided(total, worlds.0, other == OldDown);
    let new = match other {
        PaddingCut => (old * worlds.0).div_ceil(worlds.1),
        _ => divided(total, worlds.1, other == NewDown),
    };
    let begin = rank * if other == BeginsAsOld { old } else { new };
    let end = match other {
        Uncut => begin + new,
        // What is left is below 0 for a rank without elements.
        NotCompared => begin + new.min(total - begin),
        PaddingRead => (begin + new).min(old * worlds.0),
        _ => (begin + new).min(total),
    };
    let (mut reads, mut at) = (Vec::new(), begin);
    while at < end {
        let length = if other == NewShares { new } else { old };
        let (file, inside) = (at / length, at % length);
        let from = match other {
            FromInShare => at - begin,
            FromInModel => at,
            MixedShares => at - at.min(rank * old),
            _ => inside,
        };
        let count = match other {
            AFileLong => length.min(end - at),
            OneRead => end - at,
            WholeFiles => (length - inside).min(total - at),
            _ => (length - inside).min(end - at),
        };
        let file = if other == FromOne { file + 1 } else { file };
        let to = if other == ToInModel { at } else { at - begin };
        let size = if other == Bytes { 4 } else { 1 };
        reads.push(Read { file, from: size * from, count: size * count, to: size * to });
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
        to = if other == ShareAnew { 0 } else { to };
        let filled = to;
        for (file, before) in before.iter_mut().enumerate() {
            let (first, behind) = (rows.min(file * old), rows.min(file * old + old));
            let (a, b) = (begin.max(first), end.min(behind));
            if a < b && row > 0 {
                let place = match other {
                    OneBefore => filled,
                    FileAnew => 0,
                    _ => *before,
                };
                let skipped = if other == FromInParameter { a } else { a - first };
                let count = (b - a) * row;
                reads.push(Read { file, from: place + skipped * row, count, to });
                to += count;
            }
            *before += match other {
                FilesPadded => old * row,
                BeforeInRows => behind - first,
                BeforeRead => b.saturating_sub(a) * row,
                _ => (behind - first) * row,
            };
        }
        to = if other == SharePadded { filled + new * row } else { to };
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
        walk!(reads_flat = flat, "5.6-empty-share", "no smaller one", NotCompared),
        walk!(reads_flat = flat, "5.6-padding-read", "to the end of the files", PaddingRead),
        walk!(reads_flat = flat, "5.6-padding-cut", "cuts the files as they are", PaddingCut),
        walk!(reads_flat = flat, "5.6-from-in-the-model", "from in the model", FromInModel),
        walk!(reads_flat = flat, "5.6-to-in-the-model", "to in the model", ToInModel),
        walk!(reads_flat = flat, "5.6-bytes", "bytes", Bytes),
        walk!(reads_flat = flat, "5.6-no-such-file", "files counted from 1", FromOne),
        walk!(reads_flat = flat, "5.6-behind-the-share", "to the end of each file", WholeFiles),
        walk!(reads_flat = flat, "5.6-over-the-end", "one read for the share", OneRead),
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
        walk!(reads_per_parameter = rows, "5.6-file-begins-anew", "every piece at 0", FileAnew),
        walk!(reads_per_parameter = rows, "5.6-share-begins-anew", "overwrites", ShareAnew),
        walk!(reads_per_parameter = rows, "5.6-files-padded", "equal pieces", FilesPadded),
        walk!(reads_per_parameter = rows, "5.6-share-padded", "room for equal pieces", SharePadded),
        walk!(reads_per_parameter = rows, "5.6-one-place-for-all", "one place", OneBefore),
    ]
}
