//! Which sectors there are: live memory, one allocation after the other.
//!
//! The simulator's addresses have wide gaps, to find accesses beyond an end. The cache does not see
//! them, as that of a chip sees pages of physical memory.

use crate::memory::Memory;

/// Sectors that an allocation begins at a multiple of: 2 KiB.
pub(super) const UNIT: u64 = 64;

/// Where each allocation is among all sectors.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// The first address of each allocation, from the lowest on, and its first sector.
    starts: Vec<(u64, u64)>,
    /// How many sectors there are.
    sectors: u64,
}

impl Layout {
    /// The layout of what is live.
    pub fn of(memory: &Memory) -> Layout {
        let mut layout = Layout::default();
        for range in memory.live() {
            layout.starts.push((range.start, layout.sectors));
            layout.sectors += (range.end - range.start).div_ceil(32).next_multiple_of(UNIT);
        }
        layout
    }

    /// How many sectors there are.
    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    /// The sector of an address, which lies in live memory.
    pub fn sector(&self, address: u64) -> u64 {
        let after = self.starts.partition_point(|start| start.0 <= address);
        match after.checked_sub(1).and_then(|at| self.starts.get(at)) {
            Some((start, first)) => first + ((address - start) >> 5),
            None => 0,
        }
    }
}
