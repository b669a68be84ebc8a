//! What threads do together: barriers of a block, exchanges between the lanes of a warp.

use super::atomic::Rule;

/// A barrier of the block (§9.7.14.3).
#[derive(Debug)]
pub struct Barrier {
    /// The register with its number.
    pub id: u32,
    /// The register with the count of threads, if not all of the block.
    pub count: Option<u32>,
    /// Whether to wait, or only to arrive.
    pub waits: bool,
    /// What is made of the predicates of all threads.
    pub reduction: Option<Reduction>,
    /// Whether all lanes of a warp must execute it together.
    pub aligned: bool,
}

/// What a barrier makes of the predicates of all threads.
#[derive(Debug, Clone, Copy)]
pub struct Reduction {
    /// What.
    pub vote: Vote,
    /// The predicate of each thread: the register, and all ones to negate it.
    pub source: (u32, u32),
    /// The register for the result: a predicate, or 32 bits for [`Vote::Count`].
    pub target: u32,
}

/// What is made of predicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vote {
    /// Whether all hold.
    All,
    /// Whether one holds.
    Any,
    /// Whether all are the same.
    Uniform,
    /// The mask of the lanes in which it holds.
    Ballot,
    /// How many hold.
    Count,
}

/// An exchange between the lanes of a warp.
#[derive(Debug)]
pub struct Exchange {
    /// What is exchanged.
    pub rule: Swap,
    /// The register with the mask of the lanes that take part; none: those that are there.
    pub members: Option<u32>,
    /// The result, and a second one: the predicate of `shfl` and `match`.
    pub target: u32,
    /// As above.
    pub second: u32,
    /// The sources, and all ones if the first is a predicate to negate.
    pub sources: [u32; 3],
    /// As above.
    pub flip: u32,
}

/// What lanes exchange (§9.7.9.6, §9.7.13.8 to 11).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the ISA's")]
pub enum Swap {
    ShuffleUp,
    ShuffleDown,
    ShuffleButterfly,
    ShuffleIndex,
    Vote(Vote),
    /// The lanes that have the same value: of 64 bits, or of 32.
    MatchAny {
        wide: bool,
    },
    /// All members if they have the same value.
    MatchAll {
        wide: bool,
    },
    Reduce(Rule),
    /// One lane, and a predicate that is true in it.
    Elect,
    /// Only waits.
    Barrier,
}
