//! What is known of an access to memory from the times that it was executed before.

use crate::counters::{Traffic, conflicts, sectors};
use crate::decode::code::{Address, Base, Space};
use crate::memory::{Allocation, Shape};

use super::lanes;

/// What one host thread knows of an instruction that accesses memory, and has counted.
#[derive(Clone, Default)]
pub(super) struct Habit<'a> {
    /// How the addresses lay to each other the last time.
    pub shape: Shape,
    /// The lanes that took part then.
    seen: u32,
    /// The same lanes, if the shape has been prepared; else none.
    ready: u32,
    /// The allocation that it went to.
    pub memory: Option<&'a Allocation>,
    /// What was counted.
    pub tally: Tally,
}

/// What an access has moved so far, and what a request of the prepared shape adds to it.
#[derive(Clone, Default)]
pub(super) struct Tally {
    /// So far.
    pub traffic: Traffic,
    /// Passes over the banks beyond the first.
    conflicts: u64,
    /// Sectors, by where in one the lowest address lies; 0 is not known yet.
    sectors: [u8; 32],
}

impl<'a> Habit<'a> {
    /// The allocation that it went to the last time, if this address is in it.
    pub fn remembered(&self, address: u64) -> Option<&'a Allocation> {
        self.memory.filter(|found| (found.start..found.end()).contains(&address))
    }

    /// The lowest address of a request, if it has the shape that was prepared.
    #[inline(always)]
    pub fn recognises(&self, registers: &[u64], address: &Address, mask: u32) -> Option<u64> {
        if self.ready != mask {
            return None;
        }
        match address.base {
            Base::Wide(slot) => {
                let low = self.shape.fits_wide(lanes::wide(registers, slot), mask)?;
                Some(low.wrapping_add(address.offset))
            }
            Base::Narrow(slot) => {
                let low = self.shape.fits_narrow(lanes::narrow(registers, slot), mask)?;
                let low = low.wrapping_add(address.offset as u32);
                // Beyond 32 bits the addresses of the lanes would begin at zero again.
                low.checked_add(self.shape.reach()).map(|_| low.into())
            }
            Base::Zero => Some(address.offset),
            Base::Frame => None,
        }
    }

    /// Prepares for a shape that has come twice in a row.
    pub fn learn(&mut self, shape: Shape, mask: u32) {
        let again = self.seen == mask && self.shape.is_like(&shape);
        (self.shape, self.seen, self.ready) = (shape, mask, 0);
        if again {
            self.shape.prepare();
            self.ready = mask;
            self.tally.conflicts = conflicts(&self.shape.addresses(0), mask, self.shape.bytes());
            self.tally.sectors = [0; 32];
        }
    }
}

impl Tally {
    /// Counts a request of the prepared shape.
    #[inline(always)]
    pub fn count(&mut self, shape: &Shape, low: u64, space: Space) {
        match space {
            Space::Shared => self.traffic.count_shared(self.conflicts),
            Space::Global | Space::Generic => {
                let known = &mut self.sectors[low as usize % 32];
                if *known == 0 {
                    *known = sectors(&shape.addresses(low)) as u8;
                }
                self.traffic.count_global(u64::from(*known));
            }
            _ => {}
        }
    }

    /// Counts a request of any shape.
    pub fn count_anew(&mut self, shape: &Shape, low: u64, mask: u32, space: Space) {
        let addresses = || shape.addresses(low);
        match space {
            Space::Shared if shape.reach() <= 32 * 4 => self.traffic.count_shared(0),
            Space::Shared => {
                self.traffic.count_shared(conflicts(&addresses(), mask, shape.bytes()));
            }
            Space::Global | Space::Generic => self.traffic.count_global(sectors(&addresses())),
            _ => {}
        }
    }
}
