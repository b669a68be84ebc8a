//! Segments and answers of 6.2 in words.

use super::super::blocks::{Block, Pool, Segment};
use super::blocks::{Answer, Ask, Case};

/// What was called, and on what.
pub fn called(case: &Case) -> String {
    match case.ask {
        Ask::Take(pool, bytes) => {
            let free = free_blocks(&case.before, pool);
            let asked = size(bytes);
            format!("take_block(segments, {pool:?}, {asked}); free in that pool: {free}")
        }
        Ask::Give(start) => {
            let own = |it: &&Segment| it.blocks.iter().any(|block| block.start == start);
            let segment = case.before.iter().find(own).map(blocks).unwrap_or_default();
            format!("give_back(segments, {start:#x}), a block of the segment {segment}")
        }
    }
}

/// What came of it: the address, and the segments that differ from before or from what is right.
pub fn answer(case: &Case, (segments, at): &Answer) -> String {
    let mut text = match (case.ask, at) {
        (Ask::Take(..), Some(at)) => format!("Some({at:#x})\n"),
        (Ask::Take(..), None) => "None\n".to_string(),
        (Ask::Give(_), _) => String::new(),
    };
    let changed: Vec<String> = segments
        .iter()
        .filter(|it| !case.before.contains(it) || !case.want.0.contains(it))
        .map(|segment| format!("{}\n", blocks(segment)))
        .collect();
    text += &changed.concat();
    if segments.iter().all(|segment| case.before.contains(segment)) {
        text += "the segments as they were\n";
    }
    text
}

fn free_blocks(segments: &[Segment], pool: Pool) -> String {
    let of_pool = segments.iter().filter(|segment| segment.pool == pool);
    let free = of_pool.flat_map(|segment| &segment.blocks).filter(|block| !block.used);
    let mut all: Vec<&Block> = free.collect();
    all.sort_by_key(|block| (block.size, block.start));
    let words: Vec<String> =
        all.iter().map(|block| format!("{} at {:#x}", size(block.size), block.start)).collect();
    if words.is_empty() { "none".to_string() } else { words.join(", ") }
}

fn blocks(segment: &Segment) -> String {
    let word = |block: &Block| {
        let state = if block.used { "used" } else { "free" };
        format!("{} {state} at {:#x}", size(block.size), block.start)
    };
    let words: Vec<String> = segment.blocks.iter().map(word).collect();
    format!("[{}]", words.join(" | "))
}

/// In the largest unit that gives a whole number.
fn size(bytes: u64) -> String {
    match bytes {
        0 => "0".to_string(),
        _ if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} bytes"),
    }
}
