//! 6.2: the engine's own allocator goes through random requests, and each of its steps is a case:
//! the segments before, what is asked, and the segments after.

use engine_room::memory::{BlockState, CachingAllocator, Label, SegmentState, State};
use engine_room::rng::Generator;
use grading::{Check, Death, Diagnosis};

use super::super::blocks::{Block, Pool, Segment};
use super::Implementation;
use super::block_thoughts::{
    CUT_BADLY, GIVE, MERGED_BADLY, NEIGHBOUR, TAKE, Thought, USED_TAKEN, applied, fills, takes_used,
};
use super::block_words as words;
use super::device::Endless;
use super::thoughts::{Known, explained};

const MIB: u64 = 1 << 20;

/// What is asked of the segments.
#[derive(Clone, Copy, PartialEq)]
pub enum Ask {
    Take(Pool, u64),
    Give(u64),
}

/// The segments after, and the address of the block that was taken.
pub type Answer = (Vec<Segment>, Option<u64>);

/// One step of the engine's allocator.
pub struct Case {
    pub before: Vec<Segment>,
    pub ask: Ask,
    pub want: Answer,
}

/// 6.2
pub fn blocks(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    let mut cases = by_hand();
    for _ in 0..4 {
        walk(&mut rng, &mut cases);
    }
    let (take, give): (Vec<Case>, Vec<Case>) =
        cases.into_iter().partition(|case| matches!(case.ask, Ask::Take(..)));
    judge(imp, check, &take, TAKE)?;
    check.if_it_dies(Death::Panicked, "6.2-neighbour-of-the-first", NEIGHBOUR);
    judge(imp, check, &give, GIVE)
}

/// The examples of the statement, and the smallest case of each rule.
fn by_hand() -> Vec<Case> {
    let segment = |pool, start, blocks: &[(u64, bool)]| {
        let mut at = start;
        let place = |&(size, used): &(u64, bool)| {
            at += size;
            Block { start: at - size, size, used }
        };
        Segment { pool, blocks: blocks.iter().map(place).collect() }
    };
    let large = |blocks: &[(u64, bool)]| vec![segment(Pool::Large, 64 * MIB, blocks)];
    let take = |before, bytes, after, at| Case {
        before,
        ask: Ask::Take(Pool::Large, bytes),
        want: (after, Some(at)),
    };
    let give = |before, start, after| Case { before, ask: Ask::Give(start), want: (after, None) };
    let four = 4 * MIB;
    vec![
        take(
            large(&[(20 * MIB, false)]),
            four,
            large(&[(four, true), (16 * MIB, false)]),
            64 * MIB,
        ),
        take(
            large(&[(four, true), (16 * MIB, false)]),
            15 * MIB,
            large(&[(four, true), (16 * MIB, true)]),
            68 * MIB,
        ),
        give(
            large(&[(four, false), (four, true), (12 * MIB, false)]),
            68 * MIB,
            large(&[(20 * MIB, false)]),
        ),
        give(large(&[(four, true), (16 * MIB, true)]), 64 * MIB, {
            large(&[(four, false), (16 * MIB, true)])
        }),
    ]
}

/// Requests at random, from few sizes, so that blocks of equal size are common.
fn walk(rng: &mut Generator, cases: &mut Vec<Case>) {
    let mut allocator = CachingAllocator::new(Endless::both_ways(rng));
    let mut live: Vec<u64> = Vec::new();
    // The first addresses of the segments, in the order in which they are given to the learner.
    let mut order: Vec<u64> = Vec::new();
    for step in 0..220 {
        let before = arranged(&allocator.segments(), &order);
        let fewer = rng.below(9) < 4 || step > 150 && rng.below(2) == 0;
        if fewer && !live.is_empty() {
            let start = live.swap_remove(rng.below(live.len()));
            allocator.free(start).expect("the device does not fail");
            let after = arranged(&allocator.segments(), &order);
            cases.push(Case { before, ask: Ask::Give(start), want: (after, None) });
            continue;
        }
        let (pool, bytes) = request(rng);
        let ask = Ask::Take(pool, bytes);
        let start = allocator.alloc(bytes, 0, Label::NONE).expect("memory without end");
        live.push(start);
        let segments = allocator.segments();
        let Some(new) = segments.iter().find(|segment| !order.contains(&segment.address)) else {
            let after = arranged(&segments, &order);
            cases.push(Case { before, ask, want: (after, Some(start)) });
            continue;
        };
        // Nothing fitted. With a segment from the driver it does.
        cases.push(Case { before: before.clone(), ask, want: (before.clone(), None) });
        let place = rng.below(order.len() + 1);
        order.insert(place, new.address);
        let mut grown = before;
        let block = Block { start: new.address, size: new.size, used: false };
        grown.insert(place, Segment { pool, blocks: vec![block] });
        let after = arranged(&segments, &order);
        cases.push(Case { before: grown, ask, want: (after, Some(start)) });
    }
}

/// Sizes that leave nothing, exactly 512 bytes, exactly 1 MiB and a little more of a segment.
fn request(rng: &mut Generator) -> (Pool, u64) {
    const SMALL: [u64; 8] = [512, 1024, 1536, 4096, MIB - 512, MIB, MIB / 2, MIB / 2 - 512];
    const LARGE: [u64; 10] = [
        MIB + 512,
        2 * MIB,
        3 * MIB,
        4 * MIB,
        5 * MIB,
        8 * MIB,
        10 * MIB,
        11 * MIB,
        13 * MIB - 512,
        15 * MIB,
    ];
    match rng.below(2) {
        0 => (Pool::Small, SMALL[rng.below(SMALL.len())]),
        _ => (Pool::Large, LARGE[rng.below(LARGE.len())]),
    }
}

/// The engine's segments in the lab's form and in this order.
fn arranged(segments: &[SegmentState], order: &[u64]) -> Vec<Segment> {
    let at = |&start: &u64| segments.iter().find(|segment| segment.address == start);
    order.iter().map(|start| converted(at(start).expect("no segment is given back"))).collect()
}

fn converted(segment: &SegmentState) -> Segment {
    let block = |block: &BlockState| {
        let used = block.state == State::Allocated;
        Block { start: block.address, size: block.size, used }
    };
    let pool = if segment.small { Pool::Small } else { Pool::Large };
    Segment { pool, blocks: segment.blocks.iter().map(block).collect() }
}

/// Asks for every case, and explains the first wrong answer by what explains all answers.
fn judge(
    imp: &Implementation,
    check: &mut Check,
    cases: &[Case],
    known: &[Known<Thought>],
) -> Result<(), Diagnosis> {
    let mut answers: Vec<Answer> = Vec::new();
    for case in cases {
        let mut segments = case.before.clone();
        let at = check.call(words::called(case), || match case.ask {
            Ask::Take(pool, bytes) => (imp.take_block)(&mut segments, pool, bytes),
            Ask::Give(start) => {
                (imp.give_back)(&mut segments, start);
                None
            }
        })?;
        answers.push(sorted((segments, at)));
    }
    let right = |case: &Case| sorted(case.want.clone());
    let wrong = cases.iter().zip(&answers).find(|(case, answer)| right(case) != **answer);
    let Some((case, answer)) = wrong else { return Ok(()) };
    let agrees = |thought| {
        cases.iter().zip(&answers).all(|(case, answer)| sorted(applied(case, thought)) == *answer)
    };
    let (mut key, mut thought) = explained(known, agrees);
    let taken = matches!(case.ask, Ask::Take(..));
    if thought.is_empty() {
        (key, thought) = match taken {
            true if takes_used(case, answer) => USED_TAKEN,
            _ if fills(case, answer) => (key, thought),
            true => CUT_BADLY,
            false => MERGED_BADLY,
        };
    }
    Err(Diagnosis::new(key)
        .called(words::called(case))
        .got(words::answer(case, answer))
        .expected(words::answer(case, &case.want))
        .thought(thought))
}

/// Segments by address: whoever sorts them has changed nothing.
fn sorted((mut segments, at): Answer) -> Answer {
    segments.sort_by_key(|segment| segment.blocks.first().map(|block| block.start));
    (segments, at)
}
