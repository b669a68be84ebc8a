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
    /// Which corner it pays with, and which one it saves; none if it concerns all three.
    pub pays_saves: Option<(Corner, Corner)>,
}

use Corner::{Communication, Compute, Memory};

/// Every chapter's, in their order.
pub const TECHNIQUES: [Technique; 13] = [
    technique("01", "fewer bytes a number", None),
    technique("02", "share, not copy", Some((Communication, Memory))),
    technique("03", "keep results", Some((Memory, Compute))),
    technique("04", "keep m and v", Some((Memory, Compute))),
    technique("05", "write progress down", Some((Communication, Compute))),
    technique("06", "compute again", Some((Compute, Memory))),
    technique("07", "find the corner", None),
    technique("08", "work in tiles", Some((Memory, Communication))),
    technique("09", "fuse operations", Some((Compute, Communication))),
    technique("10", "split the batch", Some((Communication, Compute))),
    technique("10", "split the weights", Some((Communication, Memory))),
    technique("11", "quantise weights", Some((Compute, Memory))),
    technique("12", "choose among them", None),
];

const fn technique(
    chapter: &'static str,
    what: &'static str,
    pays_saves: Option<(Corner, Corner)>,
) -> Technique {
    Technique { chapter, what, pays_saves }
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
