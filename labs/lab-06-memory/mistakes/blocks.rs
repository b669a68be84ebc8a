//! Wrong ways to take blocks and to give them back: 6.2.

use super::super::blocks::{Block, Pool, Segment};
use super::super::solution::take_block as right_take;
use super::{Wrong, wrong};

const MIB: u64 = 1 << 20;

pub fn mistakes() -> Vec<Wrong> {
    let mut all = of_the_choice();
    all.extend(of_the_limit());
    all.extend(of_the_rest());
    all.extend(of_the_merge());
    all.extend(of_the_block());
    all
}

fn take(
    diagnosis: &'static str,
    name: &'static str,
    take_block: fn(&mut [Segment], Pool, u64) -> Option<u64>,
) -> Wrong {
    wrong("6.2", diagnosis, name, |table| table.take_block = take_block)
}

fn give(diagnosis: &'static str, name: &'static str, give_back: fn(&mut [Segment], u64)) -> Wrong {
    wrong("6.2", diagnosis, name, |table| table.give_back = give_back)
}

/// The free blocks of a pool that are large enough: size, address.
fn fitting(segments: &[Segment], pool: Pool, bytes: u64) -> Vec<(u64, u64)> {
    let blocks = segments.iter().filter(|it| it.pool == pool).flat_map(|it| &it.blocks);
    let fits = blocks.filter(|block| !block.used && block.size >= bytes);
    fits.map(|block| (block.size, block.start)).collect()
}

/// The least rest for which the small and the large pool cut.
const RIGHT_CUT: [u64; 2] = [512, MIB + 1];

/// Takes the block at an address, and cuts it if at least so much remains.
fn take_at(segments: &mut [Segment], start: u64, bytes: u64, least: [u64; 2]) -> Option<u64> {
    for segment in segments {
        let Some(at) = segment.blocks.iter().position(|it| it.start == start) else { continue };
        let rest = segment.blocks[at].size - bytes;
        segment.blocks[at].used = true;
        if rest >= least[segment.pool as usize] {
            segment.blocks[at].size = bytes;
            let rest = Block { start: start + bytes, size: rest, used: false };
            segment.blocks.insert(at + 1, rest);
        }
    }
    Some(start)
}

fn of_the_choice() -> Vec<Wrong> {
    vec![
        take("6.2-first-fit", "the first in the list", |segments, pool, bytes| {
            let &(_, start) = fitting(segments, pool, bytes).first()?;
            take_at(segments, start, bytes, RIGHT_CUT)
        }),
        take("6.2-lowest-fit", "the lowest address", |segments, pool, bytes| {
            let start = fitting(segments, pool, bytes).into_iter().map(|(_, start)| start).min()?;
            take_at(segments, start, bytes, RIGHT_CUT)
        }),
        take("6.2-worst-fit", "the largest", |segments, pool, bytes| {
            let mut all = fitting(segments, pool, bytes);
            all.sort_by_key(|&(size, start)| (u64::MAX - size, start));
            take_at(segments, all.first()?.1, bytes, RIGHT_CUT)
        }),
        take("6.2-worst-last", "the largest tuple", |segments, pool, bytes| {
            let start = fitting(segments, pool, bytes).iter().max()?.1;
            take_at(segments, start, bytes, RIGHT_CUT)
        }),
        take("6.2-first-of-equal", "the first of equal ones", |segments, pool, bytes| {
            let &(_, start) = fitting(segments, pool, bytes).iter().min_by_key(|it| it.0)?;
            take_at(segments, start, bytes, RIGHT_CUT)
        }),
        take("6.2-any-pool", "both pools", |segments, pool, bytes| {
            let mut all = fitting(segments, pool, bytes);
            let other = if pool == Pool::Small { Pool::Large } else { Pool::Small };
            all.extend(fitting(segments, other, bytes));
            take_at(segments, all.iter().min()?.1, bytes, RIGHT_CUT)
        }),
        take("6.2-used-taken", "whether it is used is not asked", |segments, pool, bytes| {
            let blocks = segments.iter().filter(|it| it.pool == pool).flat_map(|it| &it.blocks);
            let large = blocks.filter(|block| block.size >= bytes);
            let start = large.map(|block| (block.size, block.start)).min()?.1;
            take_at(segments, start, bytes, RIGHT_CUT)
        }),
        take("6.2-exact-refused", "larger than asked", |segments, pool, bytes| {
            let start = fitting(segments, pool, bytes + 1).iter().min()?.1;
            take_at(segments, start, bytes, RIGHT_CUT)
        }),
    ]
}

/// The best block, cut by other limits.
fn cut(segments: &mut [Segment], pool: Pool, bytes: u64, least: [u64; 2]) -> Option<u64> {
    let start = fitting(segments, pool, bytes).iter().min()?.1;
    take_at(segments, start, bytes, least)
}

fn of_the_limit() -> Vec<Wrong> {
    vec![
        take("6.2-never-cut", "whole", |segments, pool, bytes| {
            cut(segments, pool, bytes, [u64::MAX; 2])
        }),
        take("6.2-small-never-cut", "small ones whole", |segments, pool, bytes| {
            cut(segments, pool, bytes, [u64::MAX, MIB + 1])
        }),
        take("6.2-large-never-cut", "large ones whole", |segments, pool, bytes| {
            cut(segments, pool, bytes, [512, u64::MAX])
        }),
        take("6.2-cut-above-512", "more than 512", |segments, pool, bytes| {
            cut(segments, pool, bytes, [513, MIB + 1])
        }),
        take("6.2-always-cut", "always cut", |segments, pool, bytes| {
            cut(segments, pool, bytes, [0, 0])
        }),
        take("6.2-cut-at-one-mib", "1 MiB or more", |segments, pool, bytes| {
            cut(segments, pool, bytes, [512, MIB])
        }),
        take("6.2-large-like-small", "any rest", |segments, pool, bytes| {
            cut(segments, pool, bytes, [1, 1])
        }),
    ]
}

fn of_the_rest() -> Vec<Wrong> {
    vec![
        take("6.2-from-the-end", "the end of the block", |segments, pool, bytes| {
            let start = right_take(segments, pool, bytes)?;
            let segment =
                segments.iter_mut().find(|it| it.blocks.iter().any(|b| b.start == start))?;
            let at = segment.blocks.iter().position(|block| block.start == start)?;
            let was_cut = segment.blocks.get(at + 1).is_some_and(|next| !next.used);
            if !was_cut {
                return Some(start);
            }
            let rest = segment.blocks[at + 1].size;
            segment.blocks[at] = Block { start, size: rest, used: false };
            segment.blocks[at + 1] = Block { start: start + rest, size: bytes, used: true };
            Some(start + rest)
        }),
        take("6.2-left-free", "not marked as used", |segments, pool, bytes| {
            let start = right_take(segments, pool, bytes)?;
            let _ = freed(segments, start);
            Some(start)
        }),
        take("6.2-cut-badly", "the rest begins at the block", |segments, pool, bytes| {
            let start = right_take(segments, pool, bytes)?;
            for segment in segments {
                if let Some(at) = segment.blocks.iter().position(|it| it.start == start + bytes)
                    && !segment.blocks[at].used
                {
                    segment.blocks[at].start = start;
                }
            }
            Some(start)
        }),
    ]
}

/// The segment and the place of the block at an address, now free.
fn freed(segments: &mut [Segment], start: u64) -> Option<(&mut Vec<Block>, usize)> {
    let segment = segments.iter_mut().find(|it| it.blocks.iter().any(|b| b.start == start))?;
    let at = segment.blocks.iter().position(|block| block.start == start)?;
    segment.blocks[at].used = false;
    Some((&mut segment.blocks, at))
}
fn above(blocks: &mut Vec<Block>, at: usize) -> bool {
    let free = at + 1 < blocks.len() && !blocks[at + 1].used;
    if free {
        blocks[at].size += blocks.remove(at + 1).size;
    }
    free
}

fn of_the_merge() -> Vec<Wrong> {
    vec![
        give("6.2-no-merge", "freed and left", |segments, start| {
            let _ = freed(segments, start);
        }),
        give("6.2-only-above", "only the one above", |segments, start| {
            let Some((blocks, at)) = freed(segments, start) else { return };
            above(blocks, at);
        }),
        give("6.2-only-below", "only the one below", |segments, start| {
            let Some((blocks, at)) = freed(segments, start) else { return };
            if at > 0 && !blocks[at - 1].used {
                above(blocks, at - 1);
            }
        }),
        give("6.2-old-place", "below first, and `at` as before", |segments, start| {
            let Some((blocks, at)) = freed(segments, start) else { return };
            if at > 0 && !blocks[at - 1].used {
                above(blocks, at - 1);
            }
            above(blocks, at);
        }),
        give("6.2-one-neighbour", "above, else below", |segments, start| {
            let Some((blocks, at)) = freed(segments, start) else { return };
            if !above(blocks, at) && at > 0 && !blocks[at - 1].used {
                above(blocks, at - 1);
            }
        }),
        give("6.2-neighbour-of-the-first", "at - 1 of 0", |segments, start| {
            let Some((blocks, at)) = freed(segments, start) else { return };
            above(blocks, at);
            if !blocks[at - 1].used {
                above(blocks, at - 1);
            }
        }),
    ]
}

fn of_the_block() -> Vec<Wrong> {
    vec![
        give("6.2-nothing-freed", "a copy of the segments", |segments, start| {
            let mut copy = segments.to_vec();
            let _ = freed(&mut copy, start);
        }),
        give("6.2-merged-badly", "the size of the one below forgotten", |segments, start| {
            let Some((blocks, at)) = freed(segments, start) else { return };
            above(blocks, at);
            if at > 0 && !blocks[at - 1].used {
                blocks.remove(at);
            }
        }),
    ]
}
