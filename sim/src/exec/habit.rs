//! What is known of an access to memory from the times that it was executed before.

use crate::counters::{Traffic, conflicts, least_sectors};
use crate::decode::code::{Address, Base, Space};
use crate::l2::{Footprint, Kind, Layout, Trace};
use crate::memory::{Allocation, Cells, Lanes, Shape};

use super::lanes;

/// What one host thread knows of an instruction that accesses memory, and has counted.
#[derive(Default)]
pub(super) struct Habit<'a> {
    /// How the addresses lay to each other the last time.
    pub shape: Shape,
    /// The lanes that took part then.
    mask: u32,
    /// The same lanes if the shape has been prepared, else none.
    ready: u32,
    /// Where it went.
    pub place: Place<'a>,
    /// The address at which that place begins.
    pub window: u64,
    /// What was counted.
    pub traffic: Traffic,
    /// Passes over the banks, by where in a word of one the lowest address lies; 0: not known yet.
    passes: [u16; 4],
    /// The fewest sectors that the bytes of this shape could lie in; 0: not known yet.
    least: u64,
    /// The sectors of this shape there.
    footprint: Footprint,
}

/// Where a request goes to, all lanes together.
#[derive(Default)]
pub(super) enum Place<'a> {
    /// There is no such place.
    #[default]
    Nowhere,
    /// Within one allocation.
    Memory(&'a Allocation),
    /// Shared memory.
    Shared,
    /// Parameters.
    Param,
    /// Local memory.
    Local(Box<Spread>),
}

/// A request to local memory: each lane has its own, one after the other.
pub(super) struct Spread {
    /// The bytes of one lane.
    pub stride: u32,
    /// How the lanes lie to each other among all.
    shape: Shape,
    /// How far the lowest lane is beyond the lowest address.
    beyond: u64,
}

impl Spread {
    /// The request of a shape by the lanes of a mask that is not empty.
    pub fn of(shape: &Shape, mask: u32, stride: u32) -> Option<Box<Spread>> {
        let mut addresses = shape.addresses(0);
        for (lane, address) in (0..).zip(&mut addresses) {
            let own = if mask >> lane & 1 != 0 { lane } else { mask.trailing_zeros() };
            *address += u64::from(own * stride);
        }
        let (beyond, mut shape) = Shape::of(&addresses, shape.bytes())?;
        shape.prepare();
        Some(Box::new(Spread { stride, shape, beyond }))
    }

    /// The lanes whose lowest address is `inner`.
    #[inline]
    pub fn lanes<'s>(&'s self, local: &'s Cells, inner: u64) -> Option<Lanes<'s>> {
        local.lanes(inner.wrapping_add(self.beyond), &self.shape).map(Lanes::alone)
    }
}

impl<'a> Habit<'a> {
    /// The allocation that it went to the last time, if this address is in it.
    pub fn remembered(&self, address: u64) -> Option<&'a Allocation> {
        match self.place {
            Place::Memory(found) if (found.start..found.end()).contains(&address) => Some(found),
            _ => None,
        }
    }

    /// The lowest address of a request, if it has the shape that was prepared.
    #[inline(always)]
    pub fn recognises(
        &self,
        registers: &[u64],
        address: &Address,
        frame: u32,
        mask: u32,
    ) -> Option<u64> {
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
            Base::Frame => Some(address.offset.wrapping_add(frame.into())),
        }
    }

    /// Notes a request, and prepares for its shape if that has come twice in a row.
    pub fn learn(
        &mut self,
        shape: Shape,
        mask: u32,
        (place, window): (Place<'a>, u64),
        layout: &Layout,
    ) {
        let again = self.mask == mask && self.shape.is_like(&shape);
        (self.shape, self.mask, self.ready) = (shape, mask, 0);
        (self.place, self.window) = (place, window);
        if let Place::Memory(found) = &self.place {
            self.window = found.start;
            self.footprint.begin(layout.sector(found.start), again);
        }
        if again {
            self.shape.prepare();
            self.ready = mask;
        }
        self.passes = [0; 4];
        self.least = if again { self.least } else { 0 };
    }

    /// Counts a request, of the shape that came last, to the place that came last. What goes
    /// through the constant cache touches no sectors.
    #[inline(always)]
    pub fn count(&mut self, space: Space, low: u64, kind: Kind, trace: &mut Trace) {
        match self.place {
            Place::Shared => {
                let known = &mut self.passes[low as usize % 4];
                if *known == 0 {
                    let (addresses, bytes) = (self.shape.addresses(low), self.shape.bytes());
                    *known = 1 + conflicts(&addresses, self.mask, bytes) as u16;
                }
                self.traffic.count_shared(u64::from(*known) - 1);
            }
            Place::Memory(_) if space != Space::Constant => self.count_global(low, kind, trace),
            _ => {}
        }
    }

    /// Not inlined, so that the loop around accesses to shared memory stays small.
    #[inline(never)]
    fn count_global(&mut self, low: u64, kind: Kind, trace: &mut Trace) {
        let inner = low.wrapping_sub(self.window);
        let sectors = self.footprint.note(kind, inner, self.shape.offsets(), trace);
        if self.least == 0 {
            self.least = least_sectors(self.shape.addresses(low), self.shape.bytes());
        }
        self.traffic.count_global(sectors, self.least);
    }
}
