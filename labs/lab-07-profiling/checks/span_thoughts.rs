//! 7.1: what a learner may have thought.

use std::cmp::Reverse;

use super::super::spans::{Span, Times};
use super::thoughts::Known;

/// One thing that is thought otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Thought {
    Right,
    AllDescendants,
    ThreadsIgnored,
    NextOfAnyThread,
    Outermost,
    NotTouching,
    NotAtStart,
    NotAtEnd,
    EqualsApart,
    EqualsReversed,
    EqualsEachOther,
    LastOfEquals,
    NextOnThread,
    LatestBegun,
    ByName,
    OfOwnNameKept,
    SelfOfParts,
    LastPart,
    FirstPart,
    LongestPart,
    SumOfParts,
    SelfIsTotal,
    TotalIsSelf,
    EndIncluded,
    SummedByName,
    ByStart,
}

use Thought::*;

/// Total and self time; below 0 where a wrong thought subtracts too much.
pub type Signed = (i128, i128);

/// Whether the learner's numbers are these, where a subtraction may have stopped at 0 or begun
/// anew.
pub fn is_same(want: &[Signed], got: &[Times]) -> bool {
    let same = |want: i128, got: u64| want.max(0) == i128::from(got) || want as u64 == got;
    let pairs = || want.iter().zip(got);
    want.len() == got.len()
        && pairs().all(|(&(total, own), it)| same(total, it.total_ns) && same(own, it.self_ns))
}

pub fn formula(spans: &[Span], thought: Thought) -> Vec<Signed> {
    let more = u64::from(thought == EndIncluded);
    let total = |at: usize| i128::from(spans[at].end_ns - spans[at].start_ns + more);
    let mut times: Vec<Signed> = (0..spans.len()).map(|at| (total(at), total(at))).collect();
    let mut parts: Vec<Vec<usize>> = vec![Vec::new(); spans.len()];
    for at in 0..spans.len() {
        for parent in parents(spans, at, thought) {
            parts[parent].push(at);
        }
    }
    for at in 0..spans.len() {
        let counted: i128 = match thought {
            SelfOfParts => parts[at].iter().map(|&part| times[part].1).sum(),
            LastPart => parts[at].last().map_or(0, |&part| total(part)),
            FirstPart => parts[at].first().map_or(0, |&part| total(part)),
            LongestPart => parts[at].iter().map(|&part| total(part)).max().unwrap_or(0),
            SelfIsTotal => 0,
            _ => parts[at].iter().map(|&part| total(part)).sum(),
        };
        times[at].1 = if thought == SumOfParts { counted } else { times[at].1 - counted };
    }
    match thought {
        TotalIsSelf => times.iter().map(|&(_, own)| (own, own)).collect(),
        SummedByName => summed_by_name(spans, &times),
        ByStart => {
            let mut order: Vec<usize> = (0..spans.len()).collect();
            order.sort_by_key(|&at| (spans[at].start_ns, Reverse(spans[at].end_ns)));
            order.into_iter().map(|at| times[at]).collect()
        }
        _ => times,
    }
}

fn summed_by_name(spans: &[Span], times: &[Signed]) -> Vec<Signed> {
    let of = |name: &str| {
        let same = spans.iter().zip(times).filter(|(span, _)| span.name == name);
        same.fold((0, 0), |sum, (_, it)| (sum.0 + it.0, sum.1 + it.1))
    };
    spans.iter().map(|span| of(&span.name)).collect()
}

/// The spans that this one is subtracted from.
fn parents(spans: &[Span], at: usize, thought: Thought) -> Vec<usize> {
    let length = |of: &usize| spans[*of].end_ns - spans[*of].start_ns;
    let around = || (0..spans.len()).filter(|&outer| holds(spans, outer, at, thought));
    let shortest = around().min_by_key(length);
    let named = |parent: usize| spans.iter().rposition(|it| it.name == spans[parent].name);
    let parent = match thought {
        AllDescendants => return around().collect(),
        NextOfAnyThread => {
            (at + 1..spans.len()).find(|&outer| spans[outer].start_ns <= spans[at].start_ns)
        }
        NextOnThread => (at + 1..spans.len()).find(|&it| spans[it].thread == spans[at].thread),
        EqualsReversed | LastOfEquals => around().rev().min_by_key(length),
        Outermost => around().max_by_key(length),
        LatestBegun => {
            let begun = |outer: &usize| {
                let (a, b) = (&spans[*outer], &spans[at]);
                a.thread == b.thread && a.start_ns < b.start_ns
            };
            (0..spans.len()).filter(begun).max_by_key(|&outer| spans[outer].start_ns)
        }
        ByName => shortest.and_then(named),
        OfOwnNameKept => shortest.filter(|&parent| spans[parent].name != spans[at].name),
        _ => shortest,
    };
    parent.into_iter().collect()
}

/// Whether a span is around another one.
fn holds(spans: &[Span], outer: usize, inner: usize, thought: Thought) -> bool {
    let (a, b) = (&spans[outer], &spans[inner]);
    let equal = (a.start_ns, a.end_ns) == (b.start_ns, b.end_ns);
    let around = match thought {
        NotTouching => a.start_ns < b.start_ns && b.end_ns < a.end_ns,
        NotAtStart => a.start_ns < b.start_ns && b.end_ns <= a.end_ns,
        NotAtEnd => a.start_ns <= b.start_ns && b.end_ns < a.end_ns,
        _ => a.start_ns <= b.start_ns && b.end_ns <= a.end_ns,
    };
    let is_outer = match thought {
        EqualsApart => !equal,
        EqualsReversed => !equal || outer < inner,
        EqualsEachOther => true,
        _ => !equal || inner < outer,
    };
    let together = a.thread == b.thread || thought == ThreadsIgnored;
    outer != inner && together && around && is_outer
}

/// All of them, the plainest first.
pub fn known() -> Vec<Known<Thought>> {
    let known = |thought, (key, words): (&'static str, &'static str)| (thought, key, words);
    vec![
        known(SelfIsTotal, ("7.1-self-is-total", TOTAL_WORDS)),
        known(AllDescendants, DESCENDANTS),
        known(ThreadsIgnored, THREADS),
        known(NextOfAnyThread, THREADS),
        known(Outermost, ("7.1-outermost", OUTERMOST_WORDS)),
        known(NotTouching, ("7.1-borders", BORDER_WORDS)),
        known(NotAtStart, ("7.1-borders-start", BORDER_WORDS)),
        known(NotAtEnd, ("7.1-borders-end", BORDER_WORDS)),
        known(EqualsApart, ("7.1-equals-apart", EQUAL_WORDS)),
        known(EqualsReversed, ("7.1-equals-reversed", EQUAL_WORDS)),
        known(EqualsEachOther, ("7.1-equals-each-other", EQUAL_WORDS)),
        known(LastOfEquals, ("7.1-last-of-equals", LAST_WORDS)),
        known(NextOnThread, ("7.1-next-in-list", NEXT_WORDS)),
        known(LatestBegun, SIBLING),
        known(ByName, NAMES),
        known(OfOwnNameKept, ("7.1-own-name-kept", RECURSION_WORDS)),
        known(SelfOfParts, ("7.1-self-of-parts", PARTS_WORDS)),
        known(LastPart, ("7.1-last-part", ONE_PART_WORDS)),
        known(FirstPart, ("7.1-first-part", ONE_PART_WORDS)),
        known(LongestPart, ("7.1-longest-part", ONE_PART_WORDS)),
        known(SumOfParts, ("7.1-sum-of-parts", SUM_WORDS)),
        known(TotalIsSelf, ("7.1-total-is-self", TOTAL_IS_SELF_WORDS)),
        known(EndIncluded, ("7.1-end-included", END_WORDS)),
        known(SummedByName, ("7.1-summed-by-name", ONE_A_NAME.1)),
        known(ByStart, ("7.1-order", ORDER_WORDS)),
    ]
}

/// A key and the words for it.
type Says = (&'static str, &'static str);

pub const DESCENDANTS: Says = (
    "7.1-all-descendants",
    "Every span inside was subtracted. What lies within a part is in the part's total already, so \
     it went off twice. Subtract direct parts only: those of which this span is the parent.",
);
pub const THREADS: Says = (
    "7.1-threads",
    "A span was subtracted from one of another thread. Two threads run side by side: what one does \
     while the other is in a call takes nothing of that call's time.",
);
pub const SIBLING: Says = (
    "7.1-sibling",
    "A span was subtracted from one that had ended before. The span that began last is not the one \
     that is open: it holds another one only if it also ends no earlier.",
);
pub const NAMES: Says = (
    "7.1-by-name",
    "The parent was looked up by its name. A name comes again, in a loop and in a function that \
     calls itself; a span is told by its place in the list.",
);
pub const NEGATIVE: Says = (
    "7.1-below-zero",
    "A subtraction went below 0, so a span lost more than its direct parts. These lie inside it \
     and beside each other on its thread, and are together at most as long as it is.",
);
pub const ONE_A_NAME: Says = (
    "7.1-one-a-name",
    "The times were summed by name. Here every span has times of its own, in the order of the \
     list. The sums are the next exercise.",
);
const TOTAL_WORDS: &str = "The self time is the total. What a part of the span takes is the part's \
    time, and goes off.";
const OUTERMOST_WORDS: &str = "Parts were subtracted from the outermost span around them. The \
    parent is the shortest one: the call that really made them.";
const BORDER_WORDS: &str = "A part that begins or ends at the same nanosecond as the span around \
    it was not taken for its part. Clocks are coarse: to begin no earlier and to end no later is \
    enough.";
const EQUAL_WORDS: &str = "Two spans of a thread have the same start and the same end. The one \
    that is earlier in the list was closed first, so it is the inner one: the later one is its \
    parent, and not the reverse.";
const LAST_WORDS: &str = "Several spans of the same length are around one, and it was subtracted \
    from the last of them. The first in the list was closed first, so it is the one nearest.";
const NEXT_WORDS: &str = "A span was subtracted from the next one of its thread. That one has \
    closed next, and may have begun later: two parts of one call stand one behind the other. The \
    parent also has to begin no later.";
const RECURSION_WORDS: &str = "A span was not subtracted from its parent because both have the \
    same name. For self times a call that a function makes to itself is a part like any other.";
const PARTS_WORDS: &str = "The self times of the parts were subtracted, and not their totals. A \
    part takes all of its time away from the span around it, also what its own parts used.";
const ONE_PART_WORDS: &str = "Only one of the parts was subtracted. All of them go off, one after \
    the other.";
const SUM_WORDS: &str = "This is the time of the parts. The self time is what is left of the total \
    without it.";
const TOTAL_IS_SELF_WORDS: &str = "The total became smaller along with the self time. The total is \
    from the start to the end, parts included.";
const END_WORDS: &str = "Every span is one nanosecond too long. It ends at `end_ns`: from 10 to 30 \
    it takes 20.";
const ORDER_WORDS: &str = "The times are right and stand in the order in which the spans began. \
    They belong in the order of the list.";
