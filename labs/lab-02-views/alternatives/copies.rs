//! 2.5 and 2.7.

use engine_room::Layout;

use super::super::attention::Sizes;
use super::super::cache::Memory;
use super::super::header::Header;
use super::super::solution;

fn copy(memory: &mut Memory, from: &Header, i: usize, j: usize) {
    memory.copy(solution::position(from, &[i, j]), i * from.shape[1] + j);
}

pub fn in_tiles(memory: &mut Memory, from: &Header) {
    tiles(memory, from, 16);
}

/// Half a line wide, so a line is fetched more than once; still few times.
pub fn in_small_tiles(memory: &mut Memory, from: &Header) {
    tiles(memory, from, 8);
}

fn tiles(memory: &mut Memory, from: &Header, side: usize) {
    for top in (0..from.shape[0]).step_by(side) {
        for left in (0..from.shape[1]).step_by(side) {
            for i in top..from.shape[0].min(top + side) {
                for j in left..from.shape[1].min(left + side) {
                    copy(memory, from, i, j);
                }
            }
        }
    }
}

/// Half and half again along the longer side: no size of a cache is needed.
pub fn in_halves(memory: &mut Memory, from: &Header) {
    fn part(memory: &mut Memory, from: &Header, [top, left]: [usize; 2], size: [usize; 2]) {
        match size {
            [0, _] | [_, 0] => {}
            [1, 1] => copy(memory, from, top, left),
            [rows, columns] if rows > columns => {
                part(memory, from, [top, left], [rows / 2, columns]);
                part(memory, from, [top + rows / 2, left], [rows - rows / 2, columns]);
            }
            [rows, columns] => {
                part(memory, from, [top, left], [rows, columns / 2]);
                part(memory, from, [top, left + columns / 2], [rows, columns - columns / 2]);
            }
        }
    }
    part(memory, from, [0, 0], [from.shape[0], from.shape[1]]);
}

/// Sixteen columns at a time, and these row by row.
pub fn in_strips(memory: &mut Memory, from: &Header) {
    let columns: Vec<usize> = (0..from.shape[1]).collect();
    for strip in columns.chunks(16) {
        for i in 0..from.shape[0] {
            strip.iter().for_each(|&j| copy(memory, from, i, j));
        }
    }
}

pub fn backwards(memory: &mut Memory, from: &Header) {
    let (rows, columns) = (from.shape[0], from.shape[1]);
    let tall = rows > columns;
    let (outer, inner) = if tall { (rows, columns) } else { (columns, rows) };
    for a in (0..outer).rev() {
        for b in (0..inner).rev() {
            let (i, j) = if tall { (a, b) } else { (b, a) };
            copy(memory, from, i, j);
        }
    }
}

/// Follows the layouts of the engine.
pub fn by_layouts(sizes: &Sizes) -> u64 {
    let &Sizes { batch: b, queries: l, keys: s, heads: h, kv_heads: g, head_width: d, .. } = sizes;
    let split = |tokens, heads| Layout::contiguous(&[b, tokens, heads, d]).transpose(1, 2);
    let mut copied = usize::from(split(l, h).view(&[b * h, l, d]).is_none()) * l;
    let result = Layout::contiguous(&[b, h, l, d]).transpose(1, 2);
    copied += usize::from(result.view(&[b, l, h * d]).is_none()) * l;
    let mut keys = split(s, g);
    if g < h {
        let repeated = keys.view(&[b, g, 1, s, d]).and_then(|x| x.expand(&[b, g, h / g, s, d]));
        let repeated = repeated.and_then(|x| x.view(&[b, h, s, d]));
        copied += usize::from(repeated.is_none()) * 2 * s;
        keys = repeated.unwrap_or(Layout::contiguous(&[b, h, s, d]));
    }
    copied += usize::from(keys.view(&[b * h, s, d]).is_none()) * 2 * s;
    (copied * b * h * d * sizes.dtype.size()) as u64
}

pub fn by_cases(sizes: &Sizes) -> u64 {
    let row = sizes.batch as u64 * (sizes.heads * sizes.head_width * sizes.dtype.size()) as u64;
    let (q, k) = (row * sizes.queries as u64, row * sizes.keys as u64);
    let of_queries = match (sizes.batch, sizes.heads, sizes.queries) {
        (_, 1, _) | (_, _, 1) => 0,
        (1, ..) => q,
        _ => 2 * q,
    };
    let of_keys = match (sizes.batch, sizes.heads, sizes.kv_heads, sizes.keys) {
        (_, 1, ..) => 0,
        (1, _, 1, _) => 0,
        (_, h, g, _) if h > g => 2 * k,
        (1, ..) | (.., 1) => 0,
        _ => 2 * k,
    };
    of_queries + of_keys
}

/// Carries shapes and strides along and asks whether two dimensions merge.
pub fn by_strides(sizes: &Sizes) -> u64 {
    let &Sizes { batch: b, queries: l, keys: s, heads: h, kv_heads: g, head_width: d, .. } = sizes;
    let merge = |outer: (usize, usize), inner: (usize, usize)| {
        outer.0 == 1 || inner.0 == 1 || outer.1 == inner.0 * inner.1
    };
    let mut numbers = 0;
    let mut unless = |is_view: bool, tokens: usize| {
        numbers += if is_view { 0 } else { b * h * tokens * d };
    };
    unless(merge((b, l * h * d), (h, d)), l);
    unless(merge((h, l * d), (d, 1)), l);
    for _ in 0..2 {
        let of_keys = match h == g {
            true => (h, d),
            // One group: all heads at one place. Several: either they do not merge, or they are
            // copied and packed.
            false if g == 1 => (h, 0),
            false => {
                unless(merge((g, d), (h / g, 0)), s);
                (h, s * d)
            }
        };
        let batch = if g > 1 && g < h { h * s * d } else { s * g * d };
        unless(merge((b, batch), of_keys), s);
    }
    numbers as u64 * sizes.dtype.size() as u64
}
