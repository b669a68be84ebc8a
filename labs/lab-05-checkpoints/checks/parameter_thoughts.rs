//! 5.6: parameters that are cut along dimension 0, and what some think of their shares.

use super::layouts::{Case, Cell, numel};
use super::thoughts::Known;

/// One thing that is thought otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Thought {
    BalancedRows,
    RowsRoundedDown,
    OldRoundedDown,
    NewRoundedDown,
    Flattened,
    CutInside,
    RowsCounted,
    FromInTheParameter,
    BeforeInRows,
    BeforeRead,
    OneBefore,
    FileBeginsAnew,
    ShareBeginsAnew,
    FilesPadded,
    SharePadded,
    NewChunks,
    FirstParameter,
    FirstRank,
}

use Thought::*;

/// The rows that a rank has of a parameter: the first one, and the one behind the last.
fn rows(total: usize, world: usize, rank: usize, thought: Thought) -> (usize, usize) {
    let balanced = |rank: usize| rank * (total / world) + rank.min(total % world);
    match thought {
        BalancedRows => (balanced(rank), balanced(rank + 1)),
        RowsRoundedDown => (rank * (total / world), (rank + 1) * (total / world)),
        _ => {
            let chunk = total.div_ceil(world);
            ((rank * chunk).min(total), (rank * chunk + chunk).min(total))
        }
    }
}

/// What is thought of the rows of the ranks that saved, and of those that load.
fn halves(thought: Thought) -> [Thought; 2] {
    match thought {
        OldRoundedDown => [RowsRoundedDown, thought],
        NewRoundedDown => [thought, RowsRoundedDown],
        _ => [thought, thought],
    }
}

/// Where each element of the share comes from by a thought; none where the thought has no answer.
pub fn cells(case: &Case, thought: Thought) -> Option<Vec<Cell>> {
    let &Case { ref shapes, old, new, rank } = case;
    if thought == Flattened {
        return Some(flattened(case));
    }
    let rank = if thought == FirstRank { 0 } else { rank };
    let [saved_as, shared_as] = halves(thought);
    // Everything before the parameter, in each file and in the share.
    let (mut before, mut filled) = (vec![0; old], 0);
    let mut all = Vec::new();
    let count = if thought == FirstParameter { 1 } else { shapes.len() };
    for shape in shapes.iter().take(count) {
        let (total, row) = match thought {
            RowsCounted => (shape[0], 1),
            CutInside => (numel(shape), 1),
            _ => (shape[0], shape[1..].iter().product()),
        };
        let share = rows(total, new, rank, shared_as);
        let chunk = |world: usize| total.div_ceil(world) * row;
        for (file, before) in before.iter_mut().enumerate() {
            let world = if thought == NewChunks { new } else { old };
            let saved = rows(total, world, file, saved_as);
            let (first, last) = (share.0.max(saved.0), share.1.min(saved.1));
            let origin = match thought {
                FileBeginsAnew => 0,
                OneBefore => filled,
                FromInTheParameter => *before + saved.0 * row,
                _ => *before,
            };
            let start = if thought == ShareBeginsAnew { 0 } else { filled };
            for at in first * row..(last * row).max(first * row) {
                let (to, from) = (start + at - share.0 * row, origin + at - saved.0 * row);
                all.push(Cell { to, file, from });
            }
            *before += match thought {
                FilesPadded => chunk(old),
                BeforeInRows => saved.1 - saved.0,
                BeforeRead => (last.max(first) - first) * row,
                _ => (saved.1 - saved.0) * row,
            };
        }
        filled += if thought == SharePadded { chunk(new) } else { (share.1 - share.0) * row };
    }
    all.sort();
    if thought == OldRoundedDown {
        // What is not found leaves no gap.
        all.iter_mut().enumerate().for_each(|(at, cell)| cell.to = at);
    }
    Some(all)
}

/// As if the model were saved in flat shares.
fn flattened(case: &Case) -> Vec<Cell> {
    let total: usize = case.shapes.iter().map(|shape| numel(shape)).sum();
    let (old, new) = (total.div_ceil(case.old), total.div_ceil(case.new));
    let begin = (case.rank * new).min(total);
    let cell = |at: usize| Cell { to: at - begin, file: at / old, from: at % old };
    (begin..(begin + new).min(total)).map(cell).collect()
}

/// Every thought, with its key and what is true instead.
pub const THOUGHTS: &[Known<Thought>] = &[
    (BalancedRows, "5.6-balanced-rows", BALANCED),
    (RowsRoundedDown, "5.6-rows-rounded-down", DOWN),
    (OldRoundedDown, "5.6-old-rows-rounded-down", DOWN),
    (NewRoundedDown, "5.6-rows-rounded-down", DOWN),
    (Flattened, "5.6-flattened", FLATTENED),
    (CutInside, "5.6-cut-inside-rows", INSIDE),
    (RowsCounted, "5.6-rows-counted", ROWS),
    (FromInTheParameter, "5.6-from-in-the-parameter", FROM),
    (BeforeInRows, "5.6-before-in-rows", BEFORE_ROWS),
    (BeforeRead, "5.6-before-what-was-read", BEFORE_READ),
    (OneBefore, "5.6-one-place-for-all", ONE_BEFORE),
    (FileBeginsAnew, "5.6-file-begins-anew", FILE),
    (ShareBeginsAnew, "5.6-share-begins-anew", SHARE),
    (FilesPadded, "5.6-files-padded", FILES_PADDED),
    (SharePadded, "5.6-share-padded", SHARE_PADDED),
    (NewChunks, "5.6-new-chunks", NEW),
    (FirstParameter, "5.6-first-parameter", FIRST),
    (FirstRank, "5.6-rows-of-rank-0", SAME),
];

const BALANCED: &str = "The rows were dealt out as evenly as possible: 5 rows on 4 ranks as 2, 1, \
    1, 1. `torch.chunk` rounds up and gives every rank as many until none are left: 2, 2, 1, 0.";
const DOWN: &str = "The rows of a rank were rounded down, and the last rows of a parameter belong \
    to nobody. `torch.chunk` rounds up.";
const FLATTENED: &str = "That is the plan for flat shares. Here each parameter is cut by itself, \
    along its first dimension, and a rank has a piece of every one.";
const INSIDE: &str = "The parameters were cut in the middle of a row. They are cut along dimension \
    0: a rank has whole rows, and a row has as many elements as the other dimensions make.";
const ROWS: &str = "Rows were counted where elements are asked for. A row of a parameter of shape \
    (5, 3) has 3 elements.";
const FROM: &str = "`from` counts from the first row of the parameter. A file has only its own \
    rank's rows: subtract the first of them.";
const BEFORE_ROWS: &str = "What lies before a piece was counted in rows. A file, like a read, is \
    counted in elements.";
const BEFORE_READ: &str = "What lies before a piece was taken to be what this rank has read of the \
    file. It is all that the old rank had of earlier parameters, also what others read.";
const ONE_BEFORE: &str = "The place in the share was taken for the place in the file. Each file \
    has pieces of its own length before this one, so what lies before is counted for each file.";
const FILE: &str = "Every parameter was looked for at the beginning of the file. A file holds the \
    rank's pieces of all parameters, one behind the other.";
const SHARE: &str = "Every parameter goes to the beginning of the share, upon the one before it. \
    The pieces follow each other in the share as in the files.";
const FILES_PADDED: &str = "The pieces in the files were taken to be of one length. The last ranks \
    have fewer rows, or none, and their files hold no padding: what lies before a piece is to be \
    counted for each file by itself.";
const SHARE_PADDED: &str = "The pieces in the share were taken to be of one length. The last ranks \
    have fewer rows, or none, and the next piece follows at once.";
const NEW: &str = "The files were read as if they had been cut for the new number of ranks. They \
    were cut for the old one.";
const FIRST: &str = "Only the first parameter was read. A rank has a piece of every one.";
const SAME: &str = "The rows are those of rank 0. Each rank has its own: `rank` times as many rows \
    come before them as a rank takes.";
