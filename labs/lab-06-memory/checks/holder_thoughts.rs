//! What may be thought in 6.4: how a table is read, with one thing changed.

use engine_room::memory::Role;

use super::super::table::{Asked, Finding, MemoryTable, Row};
use super::thoughts::Known;

/// One thing that is thought otherwise.
#[derive(Clone, Copy, PartialEq)]
pub enum Thought {
    Right,
    LossesAlone,
    AnyEarlier,
    DataBlamed,
    ThisStep,
    ThisStepToo,
    AlwaysLosses,
    LossOfThisStep,
    AskedFirst,
    Graphless,
    ReleaseForgotten,
    EmptyFirst,
    PiecesReturned,
    OutsideForgotten,
    SumFits,
}

use Thought::*;

/// What is found in a table.
pub fn found(table: &MemoryTable, thought: Thought) -> Finding {
    let of_graphs = graphs(table, thought);
    let of_pieces = pieces(table, thought);
    match of_graphs {
        Some(_) if thought == AskedFirst && of_pieces != Finding::Healthy => of_pieces,
        Some(finding) => finding,
        None => of_pieces,
    }
}

/// What keeps graphs of earlier steps alive, if there are any.
fn graphs(table: &MemoryTable, thought: Thought) -> Option<Finding> {
    let used = || table.rows.iter().filter(|row| row.used);
    let first = if thought == DataBlamed { 0 } else { 1 };
    let this_too = matches!(thought, ThisStep | ThisStepToo);
    let last = if this_too { table.step } else { table.step - 1 };
    let earlier = |row: &&Row| (first..=last).contains(&row.step);
    let kept = |row: &Row| row.role == Role::Activation || thought == AnyEarlier;
    let is_loss = |row: &Row| row.op == table.loss_op;
    let losses = match thought {
        LossOfThisStep => used().any(is_loss),
        ThisStepToo => used().any(|row| (1..table.step).contains(&row.step) && is_loss(row)),
        _ => used().filter(earlier).any(is_loss),
    };
    let graphs = match thought {
        Graphless => false,
        LossesAlone => losses,
        _ => used().filter(earlier).any(kept),
    };
    let as_losses = match thought {
        AlwaysLosses => true,
        _ => losses,
    };
    graphs.then_some(if as_losses { Finding::LossesKept } else { Finding::MetricKeepsGraphs })
}

/// What becomes of what is asked for.
fn pieces(table: &MemoryTable, thought: Thought) -> Finding {
    let free = || table.rows.iter().filter(|row| !row.used);
    let alone =
        |row: &&Row| !table.rows.iter().any(|other| other.used && other.segment == row.segment);
    let sum: u64 = free().map(|row| row.bytes).sum();
    let largest = free().map(|row| row.bytes).max().unwrap_or(0);
    let mut unused: u64 = free().filter(alone).map(|row| row.bytes).sum();
    let outside = if thought == OutsideForgotten { 0 } else { table.outside };
    if thought == PiecesReturned {
        unused = sum;
    }
    let bytes = match table.asked {
        Asked::Nobody => return Finding::Healthy,
        Asked::Tensor(bytes) | Asked::OtherProgram(bytes) => bytes,
    };
    match table.asked {
        Asked::Tensor(_) => of_a_tensor(bytes, [sum, largest, unused, outside], thought),
        _ if bytes <= outside => Finding::Healthy,
        _ if bytes <= outside + unused => Finding::UnusedCache,
        _ if bytes <= outside + sum => Finding::Fragmented,
        _ => Finding::Full,
    }
}

fn of_a_tensor(bytes: u64, [sum, largest, unused, outside]: [u64; 4], thought: Thought) -> Finding {
    let fits = match thought {
        ReleaseForgotten | EmptyFirst => bytes <= largest.max(outside),
        SumFits => bytes <= outside + sum,
        _ => bytes <= largest.max(outside + unused),
    };
    if fits {
        Finding::Healthy
    } else if thought == EmptyFirst && bytes <= outside + unused {
        Finding::UnusedCache
    } else if bytes <= outside + sum {
        Finding::Fragmented
    } else {
        Finding::Full
    }
}

pub const THOUGHTS: &[Known<Thought>] = &[
    (LossesAlone, "6.4-losses-alone", NUMBERS),
    (AnyEarlier, "6.4-any-earlier", EARLIER),
    (DataBlamed, "6.4-data-blamed", DATA),
    (ThisStep, "6.4-this-step", NOW),
    (ThisStepToo, "6.4-this-step", NOW),
    (AlwaysLosses, "6.4-always-losses", WHO),
    (LossOfThisStep, "6.4-loss-of-this-step", LAST),
    (AskedFirst, "6.4-asked-first", CAUSE),
    (Graphless, "6.4-no-graphs", GRAPHS),
    (ReleaseForgotten, "6.4-release-forgotten", RELEASE),
    (EmptyFirst, "6.4-empty-cache-first", RELEASE),
    (PiecesReturned, "6.4-pieces-returned", PIECES),
    (OutsideForgotten, "6.4-outside-forgotten", OUTSIDE),
    (SumFits, "6.4-sum-fits", SUM),
];

const NUMBERS: &str = "Kept losses were taken for kept graphs. A loss without a graph is one \
    number in a block of 512 bytes; what fills a device are the activations of its step.";
const EARLIER: &str = "Everything from an earlier step was blamed. Optimizer state, accumulated \
    gradients and kept outputs are meant to live; a graph is seen by its activations.";
const DATA: &str = "Tensors from before the first step were blamed. Images that lie on the device \
    from the start count as activations as soon as a layer saves them, and no step has made them.";
const NOW: &str = "Activations of the step that runs were blamed. Its backward pass is still to \
    come and needs them. A graph is kept if it is of an earlier step.";
const WHO: &str = "Graphs are kept, but not by that. If the losses are alive too, somebody keeps \
    the losses. If they are gone, something computed from them lives on.";
const LAST: &str = "The loss of this step was counted as a kept one. It is alive in every program \
    that has just computed it; look at those of earlier steps.";
const CAUSE: &str = "Graphs of earlier steps are alive, and the answer was about the request. A \
    kept graph grows until something fails; what fails is only where it came out.";
const GRAPHS: &str = "Activations of earlier steps are alive and were not seen. Nothing but a \
    graph keeps them.";
const RELEASE: &str = "Before it fails, the allocator gives back all segments that are wholly \
    free, and asks the driver once more. For a tensor of this program `empty_cache` changes \
    nothing.";
const PIECES: &str = "Free blocks of segments in use were counted as bytes that can be given back. \
    The driver takes whole segments only: one tensor of 512 bytes keeps 20 MiB.";
const OUTSIDE: &str = "The bytes of the device that are in no segment are missing. The driver \
    still has those.";
const SUM: &str = "All free bytes were added up. A tensor needs one block, or one new segment: \
    free blocks of different segments never become one.";
