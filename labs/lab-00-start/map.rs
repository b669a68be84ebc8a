//! The map of the book: on which side of the triangle each chapter's technique moves the bill.
//!
//! The corners are memory (bytes held), compute (operations done) and communication (bytes moved).

/// A corner of the triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corner {
    /// Bytes that are held.
    Memory,
    /// Operations that are done.
    Compute,
    /// Bytes that are moved, between memories, devices and disks.
    Communication,
}

/// Something that a chapter teaches to do.
pub struct Technique {
    /// The chapter's number.
    pub chapter: &'static str,
    /// What is done, in a few words.
    pub what: &'static str,
    /// What it does to the bill.
    pub bill: Bill,
}

/// What a technique saves, and what it pays with.
#[derive(Clone, Copy)]
pub enum Bill {
    /// It pays with the first corner and saves at the second.
    Moves(Corner, Corner),
    /// It may save at any corner, and the price is none of the three.
    Outside(&'static str),
}

use Bill::{Moves, Outside};
use Corner::{Communication, Compute, Memory};

/// Every chapter's, in their order.
pub const TECHNIQUES: [Technique; 13] = [
    technique("01", "fewer bytes a number", Outside("exactness")),
    technique("02", "share, not copy", Moves(Communication, Memory)),
    technique("03", "keep results", Moves(Memory, Compute)),
    technique("04", "keep m and v", Moves(Memory, Compute)),
    technique("05", "write progress down", Moves(Communication, Compute)),
    technique("06", "compute again", Moves(Compute, Memory)),
    technique("07", "find the corner", Outside("your time")),
    technique("08", "work in tiles", Moves(Memory, Communication)),
    technique("09", "fuse operations", Moves(Compute, Communication)),
    technique("10", "split the batch", Moves(Communication, Compute)),
    technique("10", "split the weights", Moves(Communication, Memory)),
    technique("11", "quantise weights", Moves(Compute, Memory)),
    technique("12", "choose among them", Outside("your time")),
];

const fn technique(chapter: &'static str, what: &'static str, bill: Bill) -> Technique {
    Technique { chapter, what, bill }
}

impl Corner {
    /// All three: at the top, on the left, on the right.
    pub const ALL: [Corner; 3] = [Memory, Compute, Communication];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Memory => "memory",
            Compute => "compute",
            Communication => "communication",
        }
    }

    /// What runs out there.
    pub fn meaning(self) -> &'static str {
        match self {
            Memory => "bytes held",
            Compute => "operations done",
            Communication => "bytes moved",
        }
    }
}
