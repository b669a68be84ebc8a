//! Lines in sets: what makes way when a set is full.

use crate::gpu::{L2_WAYS, LINE_SECTORS, SECTOR};

use super::Moved;
use super::trace::Run;

/// A cache with sets of [`L2_WAYS`] lines.
pub struct Sets {
    /// The lines of each set, the one used last first. A line is its number above [`FLAGS`] bits:
    /// four for the sectors that it has, four for those that have to be written back. Zero is none.
    lines: Vec<u64>,
    sets: u64,
    read: u64,
    written: u64,
    /// Sectors that would have to be written back now.
    waiting: u64,
}

const FLAGS: u32 = 8;

impl Sets {
    /// How many sets a cache of so many bytes has: an odd number, so that lines at the distance of
    /// a power of two do not all meet in a few of them.
    pub fn count(bytes: u64) -> u64 {
        let sets = bytes / (SECTOR * LINE_SECTORS * L2_WAYS as u64);
        sets.saturating_sub(1) | 1
    }

    /// An empty cache of about so many bytes.
    pub fn new(bytes: u64) -> Sets {
        let sets = Sets::count(bytes);
        let lines = vec![0; sets as usize * L2_WAYS];
        Sets { lines, sets, read: 0, written: 0, waiting: 0 }
    }

    /// Runs a request through.
    pub fn touch(&mut self, run: Run) {
        for (line, inner, count) in run.groups(LINE_SECTORS) {
            let sectors = ((1 << count) - 1) << inner;
            self.touch_line(line, sectors, run.kind().reads(), run.kind().writes());
        }
    }

    fn touch_line(&mut self, line: u64, sectors: u64, reads: bool, writes: bool) {
        let start = (line % self.sets) as usize * L2_WAYS;
        let set = &mut self.lines[start..start + L2_WAYS];
        let found = set.iter().position(|entry| entry >> FLAGS == line && *entry != 0);
        let mut entry = found.map_or(line << FLAGS, |at| set[at]);
        if found.is_none() {
            let back = u64::from((set[L2_WAYS - 1] >> 4 & 15).count_ones());
            self.written += back;
            self.waiting -= back;
        }
        let (lacking, fresh) = (sectors & !entry, sectors & !(entry >> 4));
        if reads {
            self.read += u64::from((lacking & 15).count_ones());
        }
        entry |= sectors;
        if writes {
            self.waiting += u64::from((fresh & 15).count_ones());
            entry |= sectors << 4;
        }
        set.copy_within(0..found.unwrap_or(L2_WAYS - 1), 1);
        set[0] = entry;
    }

    /// What has moved, if the launch ended now.
    pub fn moved(&self) -> Moved {
        Moved { read: self.read, written: self.written + self.waiting }
    }
}
