//! 5.6: flat shares, and what some think of them.

use super::layouts::{Case, Cell, numel};
use super::thoughts::Known;

/// One thing that is thought otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Thought {
    RoundedDown,
    OldRoundedDown,
    NewRoundedDown,
    Uncut,
    EndUncut,
    NewShares,
    BeginsAsOld,
    FromInTheShare,
    AFileLong,
    Balanced,
    OwnFile,
    PaddingMoved,
    EachParameter,
    Interleaved,
    FirstFileOnly,
    FirstRank,
    FromInTheModel,
    ToInTheModel,
    Bytes,
}

use Thought::*;

/// Where each element of the share comes from by a thought; none where the thought has no answer.
pub fn cells(case: &Case, thought: Thought) -> Option<Vec<Cell>> {
    let Case { shapes, old, new, rank } = case;
    let total: usize = shapes.iter().map(|shape| numel(shape)).sum();
    let rank = if thought == FirstRank { 0 } else { *rank };
    if thought == EachParameter {
        return Some(each(shapes, *old, *new, rank));
    }
    let ((old_share, new_share), (begin, end)) = borders(total, case, rank, thought);
    if old_share == 0 {
        return Some(Vec::new());
    }
    let cell = |to: usize, at: usize| match thought {
        Balanced => {
            let file = (0..*old).rfind(|&file| balanced(total, *old, file) <= at).unwrap_or(0);
            Cell { to, file, from: at - balanced(total, *old, file) }
        }
        OwnFile => Cell { to, file: rank, from: to },
        Interleaved => Cell { to, file: (rank + to * new) % old, from: (rank + to * new) / old },
        NewShares => Cell { to, file: at / new_share, from: at % new_share },
        FromInTheShare => Cell { to, file: at / old_share, from: to },
        AFileLong => {
            let start = at - to % old_share;
            Cell { to, file: start / old_share, from: start % old_share + to % old_share }
        }
        FromInTheModel => Cell { to, file: at / old_share, from: at },
        ToInTheModel => Cell { to: at, file: at / old_share, from: at % old_share },
        _ => Cell { to, file: at / old_share, from: at % old_share },
    };
    let mut all: Vec<Cell> = (begin..end).map(|at| cell(at - begin, at)).collect();
    match thought {
        OwnFile => all.retain(|it| it.file < *old && it.from < old_share),
        FirstFileOnly => all.retain(|it| it.file == begin / old_share),
        Interleaved => {
            let count = (total + new - 1).saturating_sub(rank) / new;
            all = (0..count).map(|to| cell(to, to)).collect();
        }
        Bytes => all = all.iter().flat_map(four).collect(),
        _ => {}
    }
    all.sort();
    Some(all)
}

/// How long old and new shares are, and from where to where that of the rank reaches.
fn borders(
    total: usize,
    &Case { old, new, .. }: &Case,
    rank: usize,
    thought: Thought,
) -> ((usize, usize), (usize, usize)) {
    let (old_share, new_share) = match thought {
        RoundedDown => (total / old, total / new),
        OldRoundedDown => (total / old, total.div_ceil(new)),
        NewRoundedDown => (total.div_ceil(old), total / new),
        PaddingMoved => (total.div_ceil(old), (total.div_ceil(old) * old).div_ceil(new)),
        _ => (total.div_ceil(old), total.div_ceil(new)),
    };
    let (begin, end) = match thought {
        Balanced => (balanced(total, new, rank), balanced(total, new, rank + 1)),
        Uncut => (rank * new_share, rank * new_share + new_share),
        EndUncut => ((rank * new_share).min(total), (rank * new_share).min(total) + new_share),
        BeginsAsOld => ((rank * old_share).min(total), (rank * old_share + new_share).min(total)),
        _ => ((rank * new_share).min(total), (rank * new_share + new_share).min(total)),
    };
    ((old_share, new_share), (begin, end))
}

/// Where a rank begins if the first ranks have one element more than the others.
fn balanced(total: usize, world: usize, rank: usize) -> usize {
    rank * (total / world) + rank.min(total % world)
}

/// The bytes of an element in `f32`.
fn four(cell: &Cell) -> [Cell; 4] {
    let &Cell { to, file, from } = cell;
    [0, 1, 2, 3].map(|byte| Cell { to: 4 * to + byte, file, from: 4 * from + byte })
}

/// Every parameter flattened and cut by itself.
fn each(shapes: &[Vec<usize>], old: usize, new: usize, rank: usize) -> Vec<Cell> {
    let mut before = vec![0; old];
    let mut all = Vec::new();
    for shape in shapes {
        let total = numel(shape);
        let (old_share, new_share) = (total.div_ceil(old), total.div_ceil(new));
        let begin = (rank * new_share).min(total);
        for at in begin..(begin + new_share).min(total) {
            let file = at / old_share;
            all.push(Cell { to: all.len(), file, from: before[file] + at % old_share });
        }
        for (file, before) in before.iter_mut().enumerate() {
            let first = (file * old_share).min(total);
            *before += (first + old_share).min(total) - first;
        }
    }
    all
}

/// Every thought, with its key and what is true instead.
pub const THOUGHTS: &[Known<Thought>] = &[
    (RoundedDown, "5.6-rounded-down", DOWN),
    (OldRoundedDown, "5.6-old-rounded-down", OLD_DOWN),
    (NewRoundedDown, "5.6-rounded-down", DOWN),
    (Uncut, "5.6-end-not-cut", UNCUT),
    (EndUncut, "5.6-end-not-cut", UNCUT),
    (NewShares, "5.6-new-shares", NEW_SHARES),
    (BeginsAsOld, "5.6-begins-as-old", BEGINS),
    (FromInTheShare, "5.6-from-in-the-share", FROM_SHARE),
    (AFileLong, "5.6-a-file-long", LONG),
    (PaddingMoved, "5.6-padding-cut", MOVED),
    (Balanced, "5.6-balanced", BALANCED),
    (OwnFile, "5.6-own-file", OWN),
    (EachParameter, "5.6-each-parameter", EACH),
    (Interleaved, "5.6-interleaved", INTERLEAVED),
    (FirstFileOnly, "5.6-one-file", ONE_FILE),
    (FirstRank, "5.6-same-for-all", SAME),
    (FromInTheModel, "5.6-from-in-the-model", FROM),
    (ToInTheModel, "5.6-to-in-the-model", TO),
    (Bytes, "5.6-bytes", BYTES),
];

const DOWN: &str = "The length of a share was rounded down, and the last elements belong to \
    nobody. The model is padded until it can be cut evenly: a share has the number of elements \
    divided by that of the ranks, rounded up.";
const OLD_DOWN: &str = "The length of an old share was rounded down, so elements are looked for \
    in the file behind theirs, and the last ones in a file that nobody has saved. The old ranks \
    padded, too: their shares have the elements divided by their number, rounded up.";
const UNCUT: &str = "The reads go on behind the last element of the model. A share ends in \
    padding where the model ends before it, and for padding there is no read: its end is the \
    smaller one of where it ends and the number of elements.";
const NEW_SHARES: &str = "The file and the place in it were computed with the length of the new \
    shares. The files were cut for the old number of ranks.";
const BEGINS: &str = "The share begins where that of the old rank with this number began. It \
    begins `rank` times the length of a new share into the model.";
const FROM_SHARE: &str = "`from` counts from the beginning of the share. It counts in the file: \
    subtract where the share of that old rank begins.";
const LONG: &str = "A read is as long as a whole file even where it begins in the middle of one. \
    What is left of the file is its length less `from`.";
const MOVED: &str = "The new shares were cut from what the old ranks saved, their padding \
    included. Padding belongs to a number of ranks: take it off first, then pad for the new ones.";
const BALANCED: &str = "The first ranks were given one element more than the last ones. Flat \
    shares are all of one length, and the end of the last one is padding.";
const OWN: &str = "Each rank reads the file that has its number. With another number of ranks the \
    borders of the shares lie elsewhere, and a share comes from several files.";
const EACH: &str = "Every parameter was cut by itself. In a flat layout they first follow each \
    other as one row of numbers, and that is cut: a border can lie anywhere in a parameter, and a \
    rank may have nothing of some.";
const INTERLEAVED: &str = "The elements were dealt out one by one, like cards. A share is a piece \
    of the row of numbers, whole: rank 0 has the first piece.";
const ONE_FILE: &str = "Only the first file was read that has a part of the share. Go on with the \
    next file until the share is full.";
const SAME: &str = "The reads are those of rank 0. Each rank has a share of its own, which begins \
    `rank` lengths of a share into the model.";
const FROM: &str = "`from` counts from the beginning of the model. Each file begins at 0 again: \
    subtract where the share of its rank begins.";
const TO: &str = "`to` counts from the beginning of the model. A share begins at 0: subtract where \
    the share of this rank begins.";
const BYTES: &str = "All numbers are four times too large: they count bytes. A read counts \
    elements.";
