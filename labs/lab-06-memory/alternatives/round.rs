//! Other right ways to round: 6.1.

use super::super::blocks::{Pool, Request};
use super::{Other, other};

pub fn alternatives() -> Vec<Other> {
    vec![
        other("6.1", "with bit masks", |table| table.round_request = with_masks),
        other("6.1", "in 128 bits", |table| table.round_request = in_128_bits),
        other("6.1", "by a match on the size", |table| table.round_request = by_match),
    ]
}

fn with_masks(bytes: u64) -> Option<Request> {
    let block = bytes.checked_add(511)? & !511;
    let pool = if block > 1 << 20 { Pool::Large } else { Pool::Small };
    let segment = match pool {
        Pool::Small if block == 0 => 0,
        Pool::Small => 2 << 20,
        Pool::Large if block >= 10 << 20 => block.checked_add((2 << 20) - 1)? & !((2 << 20) - 1),
        Pool::Large => 20 << 20,
    };
    Some(Request { block, pool, segment })
}

fn in_128_bits(bytes: u64) -> Option<Request> {
    let block = u128::from(bytes).div_ceil(512) * 512;
    let own = block.div_ceil(2 << 20) * (2 << 20);
    let middling = if block < 10 << 20 { 20 << 20 } else { own };
    let segment = if block <= 1 << 20 { 2 << 20 } else { middling };
    let (block, segment) = (u64::try_from(block).ok()?, u64::try_from(segment).ok()?);
    let pool = if block <= 1 << 20 { Pool::Small } else { Pool::Large };
    Some(Request { block, pool, segment: if bytes == 0 { 0 } else { segment } })
}

fn by_match(bytes: u64) -> Option<Request> {
    let (pool, segment) = match bytes {
        0 => (Pool::Small, 0),
        1..=1_048_576 => (Pool::Small, 2_097_152),
        // From here on the next multiple of 512 is 10 MiB.
        1_048_577..=10_485_248 => (Pool::Large, 20_971_520),
        _ => (Pool::Large, bytes.checked_next_multiple_of(2_097_152)?),
    };
    Some(Request { block: bytes.checked_next_multiple_of(512)?, pool, segment })
}
