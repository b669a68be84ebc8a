//! Other right ways to take blocks and to give them back: 6.2.

use super::super::blocks::{Block, Pool, Segment};
use super::{Other, other};

pub fn alternatives() -> Vec<Other> {
    vec![
        other("6.2", "sorted candidates, a new list", |table| {
            table.take_block = sorted;
            table.give_back = rebuilt;
        }),
        other("6.2", "min_by_key, all free neighbours in a loop", |table| {
            table.take_block = min_by_key;
            table.give_back = looped;
        }),
    ]
}

fn keeps(pool: Pool, rest: u64) -> bool {
    if pool == Pool::Small { rest > 0 } else { rest > 1 << 20 }
}

fn sorted(segments: &mut [Segment], pool: Pool, bytes: u64) -> Option<u64> {
    let mut fitting = Vec::new();
    for segment in segments.iter().filter(|segment| segment.pool == pool) {
        for block in &segment.blocks {
            if !block.used && block.size >= bytes {
                fitting.push((block.size, block.start));
            }
        }
    }
    fitting.sort();
    let (size, start) = *fitting.first()?;
    let rest = size - bytes;
    for segment in segments {
        let mut blocks = Vec::new();
        for &block in &segment.blocks {
            if block.start != start {
                blocks.push(block);
            } else if keeps(pool, rest) {
                blocks.push(Block { start, size: bytes, used: true });
                blocks.push(Block { start: start + bytes, size: rest, used: false });
            } else {
                blocks.push(Block { used: true, ..block });
            }
        }
        segment.blocks = blocks;
    }
    Some(start)
}

/// Every segment is written anew, free blocks in a row as one.
fn rebuilt(segments: &mut [Segment], start: u64) {
    for segment in segments {
        let mut blocks: Vec<Block> = Vec::new();
        for &block in &segment.blocks {
            let block = Block { used: block.used && block.start != start, ..block };
            match blocks.last_mut() {
                Some(last) if !last.used && !block.used => last.size += block.size,
                _ => blocks.push(block),
            }
        }
        segment.blocks = blocks;
    }
}

fn min_by_key(segments: &mut [Segment], pool: Pool, bytes: u64) -> Option<u64> {
    segments.sort_by_key(|segment| segment.blocks[0].start);
    let of_pool = segments.iter().filter(|segment| segment.pool == pool);
    let all = of_pool.flat_map(|segment| segment.blocks.iter().enumerate());
    let fitting = all.filter(|(_, block)| !block.used && block.size >= bytes);
    let (at, &Block { start, .. }) = fitting.min_by_key(|(_, block)| (block.size, block.start))?;
    let owner = segments.iter_mut().find(|it| it.blocks.get(at).is_some_and(|b| b.start == start));
    let blocks = &mut owner?.blocks;
    let rest = blocks[at].size - bytes;
    blocks[at].used = true;
    if keeps(pool, rest) {
        blocks[at].size -= rest;
        let next = Block { start: start + bytes, size: rest, used: false };
        blocks.insert(at + 1, next);
    }
    Some(start)
}

fn looped(segments: &mut [Segment], start: u64) {
    let mine = |segment: &&mut Segment| segment.blocks.iter().any(|block| block.start == start);
    let Some(segment) = segments.iter_mut().find(mine) else { return };
    for block in &mut segment.blocks {
        block.used &= block.start != start;
    }
    let mut at = 1;
    while at < segment.blocks.len() {
        if segment.blocks[at - 1].used || segment.blocks[at].used {
            at += 1;
            continue;
        }
        let gone = segment.blocks.remove(at);
        segment.blocks[at - 1].size += gone.size;
    }
}
