//! What may be thought in 6.2: the two functions with one rule changed.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::super::blocks::{Block, Pool, Segment};
use super::blocks::{Answer, Ask, Case};
use super::thoughts::Known;

/// One rule that is thought otherwise.
#[derive(Clone, Copy, PartialEq)]
pub enum Thought {
    FirstFit,
    LowestFit,
    WorstFit,
    WorstLast,
    FirstOfEqual,
    AnyPool,
    Larger,
    NeverCut,
    SmallNeverCut,
    LargeNeverCut,
    AlwaysCut,
    CutAbove512,
    CutAtOneMib,
    LargeLikeSmall,
    FromTheEnd,
    LeftFree,
    NoMerge,
    OnlyAbove,
    OnlyBelow,
    OldPlace,
    OneSide,
    Nothing,
}

use Thought::*;

/// What a thought makes of a case.
pub fn applied(case: &Case, thought: Thought) -> Answer {
    let mut segments = case.before.clone();
    let at = match case.ask {
        Ask::Take(pool, bytes) => take(&mut segments, pool, bytes, thought),
        Ask::Give(start) => {
            let mine = |it: &&mut Segment| it.blocks.iter().any(|block| block.start == start);
            if let Some(segment) = segments.iter_mut().find(mine) {
                give(&mut segment.blocks, start, thought);
            }
            None
        }
    };
    (segments, at)
}

fn take(segments: &mut [Segment], pool: Pool, bytes: u64, thought: Thought) -> Option<u64> {
    let mut fitting: Vec<(usize, Block)> = Vec::new();
    for (place, segment) in segments.iter().enumerate() {
        let enough = |size| size > bytes || size == bytes && thought != Larger;
        let fits = |block: &&Block| !block.used && enough(block.size);
        if segment.pool == pool || thought == AnyPool {
            fitting.extend(segment.blocks.iter().filter(fits).map(|&block| (place, block)));
        }
    }
    // The sort is stable: what is equal stays in the order in which it was given.
    match thought {
        FirstFit => {}
        LowestFit => fitting.sort_by_key(|(_, block)| block.start),
        WorstFit => fitting.sort_by_key(|(_, block)| (Reverse(block.size), block.start)),
        WorstLast => fitting.sort_by_key(|(_, block)| Reverse((block.size, block.start))),
        FirstOfEqual => fitting.sort_by_key(|(_, block)| block.size),
        _ => fitting.sort_by_key(|(_, block)| (block.size, block.start)),
    }
    let &(place, found) = fitting.first()?;
    let segment = &mut segments[place];
    let at = segment.blocks.iter().position(|block| block.start == found.start)?;
    segment.blocks[at].used = thought != LeftFree;
    if !cuts(segment.pool, found.size - bytes, thought) {
        return Some(found.start);
    }
    let rest = found.size - bytes;
    if thought == FromTheEnd {
        segment.blocks[at].size = rest;
        segment.blocks[at].used = false;
        let block = Block { start: found.start + rest, size: bytes, used: true };
        segment.blocks.insert(at + 1, block);
        return Some(block.start);
    }
    segment.blocks[at].size = bytes;
    segment.blocks.insert(at + 1, Block { start: found.start + bytes, size: rest, used: false });
    Some(found.start)
}

fn cuts(pool: Pool, rest: u64, thought: Thought) -> bool {
    match (pool, thought) {
        (_, NeverCut) | (Pool::Small, SmallNeverCut) | (Pool::Large, LargeNeverCut) => false,
        (_, AlwaysCut) => true,
        (Pool::Large, CutAtOneMib) => rest >= 1 << 20,
        (Pool::Large, LargeLikeSmall) => rest >= 512,
        (Pool::Large, _) => rest > 1 << 20,
        (Pool::Small, CutAbove512) => rest > 512,
        (Pool::Small, _) => rest >= 512,
    }
}

fn give(blocks: &mut Vec<Block>, start: u64, thought: Thought) {
    let Some(at) = blocks.iter().position(|block| block.start == start) else { return };
    let free = |block: Option<&Block>| block.is_some_and(|block| !block.used);
    let merge = |blocks: &mut Vec<Block>, at: usize| {
        let above = blocks.remove(at + 1);
        blocks[at].size += above.size;
    };
    blocks[at].used = thought == Nothing;
    let (looks_above, looks_below) = match thought {
        NoMerge | Nothing => (false, false),
        OnlyAbove => (true, false),
        OnlyBelow | OldPlace => (false, true),
        _ => (true, true),
    };
    let above = looks_above && free(blocks.get(at + 1));
    if above {
        merge(blocks, at);
    }
    let one_is_enough = thought == OneSide && above;
    if looks_below && !one_is_enough && at > 0 && free(blocks.get(at - 1)) {
        merge(blocks, at - 1);
    }
    if thought == OldPlace && free(blocks.get(at + 1)) {
        merge(blocks, at);
    }
}

/// Whether the blocks of every segment still fill it, in order.
pub fn fills(case: &Case, (segments, _): &Answer) -> bool {
    let ends = |segment: &Segment| {
        let first = segment.blocks.first().map_or(0, |block| block.start);
        let size: u64 = segment.blocks.iter().map(|block| block.size).sum();
        (first, size)
    };
    let by_address = |segments: &[Segment]| BTreeSet::from_iter(segments.iter().map(ends));
    let is_chain = |segment: &Segment| {
        let mut pairs = segment.blocks.windows(2);
        pairs.all(|pair| pair[0].start + pair[0].size == pair[1].start)
    };
    by_address(segments) == by_address(&case.before) && segments.iter().all(is_chain)
}

/// Whether the block that was taken is one that a tensor has already.
pub fn takes_used(case: &Case, (_, at): &Answer) -> bool {
    let mut blocks = case.before.iter().flat_map(|segment| &segment.blocks);
    blocks.any(|block| block.used && Some(block.start) == *at)
}

/// For `take_block`.
pub const TAKE: &[Known<Thought>] = &[
    (FirstFit, "6.2-first-fit", FIRST),
    (LowestFit, "6.2-lowest-fit", FIRST),
    (WorstFit, "6.2-worst-fit", WORST),
    (WorstLast, "6.2-worst-last", WORST),
    (FirstOfEqual, "6.2-first-of-equal", TIES),
    (AnyPool, "6.2-any-pool", POOL),
    (Larger, "6.2-exact-refused", EXACT),
    (NeverCut, "6.2-never-cut", NEVER),
    (SmallNeverCut, "6.2-small-never-cut", SMALL),
    (LargeNeverCut, "6.2-large-never-cut", LARGE),
    (AlwaysCut, "6.2-always-cut", ALWAYS),
    (CutAbove512, "6.2-cut-above-512", AT_512),
    (CutAtOneMib, "6.2-cut-at-one-mib", AT_ONE),
    (LargeLikeSmall, "6.2-large-like-small", LIKE_SMALL),
    (FromTheEnd, "6.2-from-the-end", END),
    (LeftFree, "6.2-left-free", OPEN),
];

/// For `give_back`.
pub const GIVE: &[Known<Thought>] = &[
    (NoMerge, "6.2-no-merge", MERGE),
    (OnlyAbove, "6.2-only-above", BOTH),
    (OnlyBelow, "6.2-only-below", BOTH),
    (OldPlace, "6.2-old-place", MOVED),
    (OneSide, "6.2-one-neighbour", BOTH),
    (Nothing, "6.2-nothing-freed", NOTHING),
];

/// Key and words for segments that are no longer whole after a cut.
pub const CUT_BADLY: (&str, &str) = ("6.2-cut-badly", HOLE);
/// The same for a block that was in use before.
pub const USED_TAKEN: (&str, &str) = ("6.2-used-taken", USED);
/// Key and words for segments that are no longer whole after a merge.
pub const MERGED_BADLY: (&str, &str) = ("6.2-merged-badly", HOLE);

const HOLE: &str = "The blocks no longer fill their segment from its first address to its last, \
    in order. Whatever is cut or merged, starts and sizes must still fit together.";
const USED: &str = "The block at this address belongs to a tensor already. Only a free one can be \
    taken: look at `used` as well as at the size.";
const FIRST: &str = "The first block that is large enough was taken. The smallest that is large \
    enough leaves the large ones whole for large tensors.";
const WORST: &str = "The largest block was taken. Best fit takes the smallest one that is large \
    enough.";
const TIES: &str = "Several blocks have the best size, and not the one with the lowest address \
    was taken. The segments come in no order.";
const POOL: &str = "A block of the other pool was taken. The pools do not lend to each other, even \
    if that means asking the driver for a segment.";
const EXACT: &str = "A free block of exactly the right size was passed over. Large enough \
    includes equal.";
const NEVER: &str = "The block was handed out whole. What a tensor does not need becomes a free \
    block of its own, where the rule of the pool lets it.";
const SMALL: &str = "Blocks of the small pool were never cut. There a rest of 512 bytes is a block \
    for another tensor.";
const LARGE: &str = "Blocks of the large pool were never cut. There the rest becomes a block of \
    its own if it has more than 1 MiB.";
const ALWAYS: &str = "A block was cut although too little remains, or nothing. In the large pool \
    the rest must have more than 1 MiB, in the small pool at least 512 bytes.";
const AT_512: &str = "A small block was handed out whole where exactly 512 bytes remain. That is \
    enough: the small pool cuts from 512 bytes on.";
const AT_ONE: &str = "A large block was cut for a rest of exactly 1 MiB. The large pool cuts only \
    if more than 1 MiB remains.";
const LIKE_SMALL: &str = "A large block was cut for a small rest. No tensor of the large pool \
    could use a rest of 1 MiB or less, so the block is handed out whole.";
const END: &str = "The tensor got the end of the block. It gets the beginning, and the rest lies \
    behind it.";
const OPEN: &str = "The block that the tensor got is still marked as free. The next tensor would \
    get it, too.";
const MERGE: &str = "The block was freed, and its free neighbours were left apart. Three free \
    blocks of 4 MiB serve no tensor of 12 MiB.";
const BOTH: &str = "Only one of the two neighbours was merged. Either may be free, or both.";
const MOVED: &str = "After the merge with the block below, the one above was looked for at its old \
    place. What is removed from a list moves all that stands behind it down by one.";
const NOTHING: &str = "Nothing has changed. What is freed must be the block in `segments` itself: \
    a copy of it, as `clone` makes one, is gone when the function ends.";

/// What a panic in `give_back` comes from.
pub const NEIGHBOUR: &str = "`give_back` has no answer here. The first block of a segment has no \
    neighbour below it and the last has none above; and after a merge the places in the list have \
    moved.";
