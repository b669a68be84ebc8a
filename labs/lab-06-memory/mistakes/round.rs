//! Wrong ways to round: 6.1.

use super::super::blocks::{Pool, Request};
use super::super::solution::round_request as right;
use super::{Wrong, wrong};

const MIB: u64 = 1 << 20;

pub fn mistakes() -> Vec<Wrong> {
    let mut all = of_boundaries();
    all.extend(of_units());
    all.extend(of_ends());
    all
}

fn round(
    diagnosis: &'static str,
    name: &'static str,
    round_request: fn(u64) -> Option<Request>,
) -> Wrong {
    wrong("6.1", diagnosis, name, |table| table.round_request = round_request)
}

fn of_boundaries() -> Vec<Wrong> {
    vec![
        round("6.1-one-mib-is-large", "below 1 MiB", |bytes| {
            let request = right(bytes)?;
            if request.block != MIB {
                return Some(request);
            }
            Some(Request { pool: Pool::Large, segment: 20 * MIB, ..request })
        }),
        round("6.1-ten-mib-is-middling", "up to 10 MiB", |bytes| {
            let request = right(bytes)?;
            let middling = request.block == 10 * MIB;
            Some(Request { segment: if middling { 20 * MIB } else { request.segment }, ..request })
        }),
        round("6.1-segment-of-asked", "the segment by the bytes asked for", |bytes| {
            let request = right(bytes)?;
            let middling = bytes > MIB && bytes < 10 * MIB;
            Some(Request { segment: if middling { 20 * MIB } else { request.segment }, ..request })
        }),
        round("6.1-millions", "a MiB of 1,000,000", |bytes| {
            let request = right(bytes)?;
            Some(match request.block {
                1_000_001..=1_048_576 => {
                    Request { pool: Pool::Large, segment: 20 * MIB, ..request }
                }
                10_000_000..10_485_760 => {
                    Request { segment: request.block.next_multiple_of(2 * MIB), ..request }
                }
                _ => request,
            })
        }),
    ]
}

fn of_units() -> Vec<Wrong> {
    vec![
        round("6.1-segment-is-block", "the driver gives the block", |bytes| {
            let block = bytes.checked_next_multiple_of(512)?;
            let pool = if block <= MIB { Pool::Small } else { Pool::Large };
            Some(Request { block, pool, segment: block })
        }),
        round("6.1-two-mib-always", "segments in units of 2 MiB", |bytes| {
            let request = right(bytes)?;
            Some(Request { segment: request.block.next_multiple_of(2 * MIB), ..request })
        }),
        round("6.1-not-in-units", "a segment of exactly the block", |bytes| {
            let block = bytes.checked_next_multiple_of(512)?;
            if block < 10 * MIB {
                return right(bytes);
            }
            Some(Request { block, pool: Pool::Large, segment: block })
        }),
        round("6.1-one-too-many", "divided and one more", |bytes| {
            let block = (bytes / 512).checked_add(1)?.checked_mul(512)?;
            right(block)
        }),
        round("6.1-rounded-down", "divided and multiplied", |bytes| {
            let block = bytes / 512 * 512;
            let request = right(block)?;
            Some(Request { segment: request.segment.max(2 * MIB * bytes.min(1)), ..request })
        }),
    ]
}

fn of_ends() -> Vec<Wrong> {
    vec![
        round("6.1-zero-has-a-block", "PyTorch's round_size(0)", |bytes| right(bytes.max(1))),
        round("6.1-zero-refused", "nothing for nothing", |bytes| {
            if bytes == 0 { None } else { right(bytes) }
        }),
        round("6.1-overflow", "added before it is divided", |bytes| {
            let more = bytes + 511;
            right(more / 512 * 512)
        }),
        round("6.1-segment-overflow", "only the block is checked", |bytes| {
            let block = bytes.checked_next_multiple_of(512)?;
            if block >= 10 * MIB {
                let segment = block.next_multiple_of(2 * MIB);
                return Some(Request { block, pool: Pool::Large, segment });
            }
            right(block)
        }),
        round("6.1-wraps", "as C adds", |bytes| {
            let block = bytes.wrapping_add(511) / 512 * 512;
            let (pool, segment) = match block {
                0 if bytes == 0 => (Pool::Small, 0),
                0..=1_048_576 => (Pool::Small, 2 * MIB),
                1_048_577..10_485_760 => (Pool::Large, 20 * MIB),
                _ => (Pool::Large, block.wrapping_add(2 * MIB - 1) / (2 * MIB) * (2 * MIB)),
            };
            Some(Request { block, pool, segment })
        }),
    ]
}
