//! 6.1: sizes on both sides of every boundary, and random ones of every order of magnitude.

use engine_room::memory::{CachingAllocator, Label};
use engine_room::rng::Generator;
use grading::{Check, Death, Diagnosis};

use super::super::blocks::{Pool, Request};
use super::Implementation;
use super::device::Endless;
use super::thoughts::{Known, explained};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// 6.1
pub fn round(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    let mut answers = Vec::new();
    for bytes in sizes(&mut rng) {
        let want = formula(bytes, Right);
        assert!(bytes > 1 << 40 || want == Some(allocated(bytes)), "the engine says otherwise");
        if bytes > u64::MAX - 511 {
            check.if_it_dies(Death::Panicked, "6.1-overflow", OVERFLOW);
        } else if bytes > u64::MAX - 2 * MIB {
            check.if_it_dies(Death::Panicked, "6.1-segment-overflow", SEGMENT_OVERFLOW);
        }
        let called = format!("round_request({bytes}){}", near(bytes));
        let got = check.call(called.as_str(), || (imp.round_request)(bytes))?;
        answers.push((bytes, called, got, want));
    }
    let Some((_, called, got, want)) = answers.iter().find(|(_, _, got, want)| got != want) else {
        return Ok(());
    };
    let agrees = |thought| answers.iter().all(|&(bytes, _, got, _)| formula(bytes, thought) == got);
    let (key, thought) = explained(THOUGHTS, agrees);
    let right = answers.iter().filter(|(_, _, got, want)| got == want).count();
    Err(Diagnosis::new(key)
        .called(called.as_str())
        .got(format!("{got:?}\n{right} of {} answers are right", answers.len()))
        .expected(format!("{want:?}"))
        .thought(thought))
}

/// Plain ones first, then the boundaries, then the top of the range.
fn sizes(rng: &mut Generator) -> Vec<u64> {
    let mut sizes = vec![100 * KIB, 3 * MIB, 64 * MIB];
    for bits in 1..40 {
        let random = u64::from(rng.next_u32()) << 8 | u64::from(rng.next_u32());
        sizes.push((1 << bits) + random % (1 << bits));
        sizes.push(512 * (1 + random % (1 << (bits * 3 / 4))));
    }
    for edge in [512, 1024, MIB, 2 * MIB, 10 * MIB, 12 * MIB, 20 * MIB, 1 << 32, 1 << 33] {
        sizes.extend([513, 512, 511, 1].map(|less| edge.saturating_sub(less)));
        sizes.extend([edge, edge + 1, edge + 512]);
    }
    sizes.retain(|&bytes| bytes > 0 && bytes < 1 << 62);
    sizes.extend([1, 0]);
    let top = 0_u64.wrapping_sub(2 * MIB);
    sizes.extend([top - 512, top - 1, top, top + 1, top + 512, u64::MAX - 511]);
    sizes.extend([top + 1 + rng.below(2 << 20) as u64 / 2, u64::MAX - 510, u64::MAX - 7, u64::MAX]);
    sizes
}

/// The boundary that a size lies at, for people.
fn near(bytes: u64) -> String {
    let edges = [(MIB, "1 MiB"), (10 * MIB, "10 MiB"), (20 * MIB, "20 MiB")];
    let near = edges.iter().find(|&&(edge, _)| bytes.abs_diff(edge) <= 1024);
    match near {
        Some((edge, name)) if bytes == *edge => format!(", which is {name}"),
        Some((edge, name)) if bytes > *edge => format!(", which is {name} and {}", bytes - edge),
        Some((edge, name)) => format!(", which is {name} less {}", edge - bytes),
        None if bytes > u64::MAX - 4 * MIB => format!(", which is 2^64 less {}", !bytes + 1),
        None => String::new(),
    }
}

/// What the engine's allocator does for a tensor of so many bytes when it holds nothing.
fn allocated(bytes: u64) -> Request {
    let mut allocator = CachingAllocator::new(Endless::upwards());
    allocator.alloc(bytes, 0, Label::NONE).expect("memory without end");
    let segments = allocator.segments();
    let Some(segment) = segments.first() else {
        return Request { block: 0, pool: Pool::Small, segment: 0 };
    };
    // What remains of a segment is a block of its own, or too little for one.
    let requested = segment.blocks[0].requested.next_multiple_of(512);
    let pool = if segment.small { Pool::Small } else { Pool::Large };
    Request { block: requested, pool, segment: segment.size }
}

/// One thing that is thought otherwise.
#[derive(Clone, Copy, PartialEq)]
enum Thought {
    Right,
    OneMibIsLarge,
    TenMibIsMiddling,
    SegmentOfAsked,
    SegmentIsBlock,
    TwoMibAlways,
    NoMiddle,
    NotInUnits,
    OneTooMany,
    RoundedDown,
    Millions,
    ZeroHasABlock,
    ZeroRefused,
    Wraps,
}

use Thought::*;

fn formula(bytes: u64, thought: Thought) -> Option<Request> {
    if bytes == 0 {
        let (block, segment) = match thought {
            ZeroRefused => return None,
            ZeroHasABlock | OneTooMany => (512, 2 * MIB),
            _ => (0, 0),
        };
        return Some(Request { block, pool: Pool::Small, segment });
    }
    let round = |bytes: u64, unit: u64| match thought {
        Wraps => Some(bytes.wrapping_add(unit - 1) / unit * unit),
        _ => bytes.checked_next_multiple_of(unit),
    };
    let block = match thought {
        OneTooMany => (bytes / 512).checked_add(1)?.checked_mul(512)?,
        RoundedDown => bytes / 512 * 512,
        _ => round(bytes, 512)?,
    };
    let (one, ten) = if thought == Millions { (1_000_000, 10_000_000) } else { (MIB, 10 * MIB) };
    let small = match thought {
        OneMibIsLarge => block < one,
        _ => block <= one,
    };
    let pool = if small { Pool::Small } else { Pool::Large };
    let middling = match thought {
        TenMibIsMiddling => block <= ten,
        SegmentOfAsked => bytes < ten,
        NoMiddle => false,
        _ => block < ten,
    };
    let segment = match thought {
        SegmentIsBlock => block,
        TwoMibAlways => round(block, 2 * MIB)?,
        _ if small => 2 * MIB,
        _ if middling => 20 * MIB,
        NotInUnits => block,
        _ => round(block, 2 * MIB)?,
    };
    Some(Request { block, pool, segment })
}

const THOUGHTS: &[Known<Thought>] = &[
    (OneMibIsLarge, "6.1-one-mib-is-large", EDGE),
    (TenMibIsMiddling, "6.1-ten-mib-is-middling", EDGE),
    (SegmentOfAsked, "6.1-segment-of-asked", ASKED),
    (SegmentIsBlock, "6.1-segment-is-block", SEGMENT),
    (TwoMibAlways, "6.1-two-mib-always", TWENTY),
    (NoMiddle, "6.1-two-mib-always", TWENTY),
    (NotInUnits, "6.1-not-in-units", UNITS),
    (OneTooMany, "6.1-one-too-many", EXACT),
    (RoundedDown, "6.1-rounded-down", DOWN),
    (Millions, "6.1-millions", MILLIONS),
    (ZeroHasABlock, "6.1-zero-has-a-block", ZERO),
    (ZeroRefused, "6.1-zero-refused", REFUSED),
    (Wraps, "6.1-wraps", WRAPS),
];

const EDGE: &str = "The size at a boundary went to the wrong side of it. A block of exactly 1 MiB \
    still belongs to the small pool. One of exactly 10 MiB gets a segment of its own, and no more \
    20 MiB.";
const ASKED: &str = "The segment was chosen by the bytes that were asked for. The allocator \
    rounds to 512 first and looks at the block from then on: 10 MiB less 511 bytes are a block of \
    10 MiB.";
const SEGMENT: &str = "The driver was asked for the block alone. It is asked for a segment, from \
    which later tensors get their blocks too: 2 MiB for small ones, 20 MiB for middling ones.";
const TWENTY: &str = "A block above 1 MiB and below 10 MiB does not get its own size rounded up, \
    but a segment of 20 MiB that it shares with others.";
const UNITS: &str = "A segment for one block of 10 MiB or more is rounded up to a multiple of \
    2 MiB; what is left over may become a block for others.";
const EXACT: &str = "A multiple of 512 bytes got 512 more. Rounding up leaves a multiple as it is.";
const DOWN: &str = "The block is smaller than the tensor, or no multiple of 512. Round up: 513 \
    bytes take a block of 1,024.";
const MILLIONS: &str = "The boundaries were taken as 1,000,000 and 10,000,000. They are 1 MiB and \
    10 MiB: 1,048,576 and 10,485,760 bytes.";
const ZERO: &str = "A tensor without bytes got memory. It needs no block, and the driver is not \
    asked.";
const REFUSED: &str = "A tensor without bytes was refused. It exists, and it needs no block: all \
    sizes are 0 and the answer is `Some`.";
const OVERFLOW: &str = "Rounding up a size near 2^64 leaves 64 bits. `checked_next_multiple_of` \
    gives `None` there, and `?` hands it on.";
const SEGMENT_OVERFLOW: &str = "The block still fits into 64 bits, and its segment does not: it is \
    rounded up to 2 MiB. Both roundings need `checked_next_multiple_of`.";
const WRAPS: &str = "Rounding up a size near 2^64 has begun anew at 0. An allocator that does so \
    hands out a small block for a tensor of 2^64 bytes, and the tensor writes into its neighbours.";
