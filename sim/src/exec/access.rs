//! Loads, stores and atomics of a warp: where their lanes go, what is checked, what is counted.
//!
//! The fast path recognises a request: if its addresses lie to each other as the last time, one
//! comparison of the lowest and the highest one with the bounds of the memory is all that is to
//! check, and what is to count is known. Any other request is worked out anew, and lane by lane
//! where its lanes go to different memories, or nowhere.

use crate::counters::{conflicts, least_sectors};
use crate::decode::code::{Access, Address, Base, Space};
use crate::l2::{Kind, scatter};
use crate::memory::{Cell, Cells, Lanes, Shape, Vector};

use super::core::Core;
use super::habit::{Place, Spread};
use super::lanes::{self, lanes_of};
use super::warp::Warp;

/// What is done at an address.
pub(super) trait Act {
    /// The word for it in a message.
    const NAME: &'static str;
    /// What it does to the cache.
    const KIND: Kind;

    /// Does it, in the lanes of the mask.
    fn apply(&self, lanes: &Lanes, access: &Access, registers: &mut [u64], mask: u32);

    /// What takes its place in lanes that cannot, if nobody is told.
    fn skip(&self, access: &Access, registers: &mut [u64], mask: u32);
}

/// Memory into registers.
pub(super) struct Read;

/// Registers into memory.
pub(super) struct Write;

impl Act for Read {
    const NAME: &'static str = "read";
    const KIND: Kind = Kind::Load;

    #[inline(always)]
    fn apply(&self, lanes: &Lanes, access: &Access, registers: &mut [u64], mask: u32) {
        if access.bytes != 4 || access.wide {
            return read_other(lanes, access, registers, mask);
        }
        for part in 0..access.count {
            let to = access.registers[part as usize];
            if mask == u32::MAX {
                u32::load_all(lanes, part, lanes::narrow_mut(registers, to));
            } else if lanes.are_prepared() {
                let mut all = [0; 32];
                u32::load_all(lanes, part, &mut all);
                lanes::write_narrow(registers, to, mask, |lane| all[lane]);
            } else {
                lanes::write_narrow(registers, to, mask, |lane| lanes.load(lane, part));
            }
        }
    }

    fn skip(&self, access: &Access, registers: &mut [u64], mask: u32) {
        for &to in &access.registers[..access.count as usize] {
            match access.wide {
                true => lanes::write_wide(registers, to, mask, |_| 0),
                false => lanes::write_narrow(registers, to, mask, |_| 0),
            }
        }
    }
}

/// What is not 32 bits into a register of 32.
#[inline(never)]
fn read_other(lanes: &Lanes, access: &Access, registers: &mut [u64], mask: u32) {
    let whole = access.bytes == 8 && access.wide && mask == u32::MAX;
    for part in 0..access.count {
        let to = access.registers[part as usize];
        let place = (to, part, mask);
        match (access.bytes, access.signed) {
            _ if whole => u64::load_all(lanes, part, lanes::wide_mut(registers, to)),
            (1, false) => read::<u8>(lanes, access.wide, registers, place, u64::from),
            (1, true) => read::<u8>(lanes, access.wide, registers, place, |v| v as i8 as u64),
            (2, false) => read::<u16>(lanes, access.wide, registers, place, u64::from),
            (2, true) => read::<u16>(lanes, access.wide, registers, place, |v| v as i16 as u64),
            (4, false) => read::<u32>(lanes, access.wide, registers, place, u64::from),
            (4, true) => read::<u32>(lanes, access.wide, registers, place, |v| v as i32 as u64),
            _ => read::<u64>(lanes, access.wide, registers, place, |v| v),
        }
    }
}

/// Any number into a register of 32 or 64 bits.
#[inline(always)]
fn read<T: Cell>(
    lanes: &Lanes,
    wide: bool,
    registers: &mut [u64],
    (to, part, mask): (u32, u32, u32),
    convert: impl Fn(T) -> u64,
) {
    let value = |lane| convert(lanes.load(lane, part));
    match wide {
        true => lanes::write_wide(registers, to, mask, value),
        false => lanes::write_narrow(registers, to, mask, |lane| value(lane) as u32),
    }
}

impl Act for Write {
    const NAME: &'static str = "write";
    const KIND: Kind = Kind::Store;

    #[inline(always)]
    fn apply(&self, lanes: &Lanes, access: &Access, registers: &mut [u64], mask: u32) {
        if access.bytes != 4 || access.wide || mask != u32::MAX {
            return write_other(lanes, access, registers, mask);
        }
        for part in 0..access.count {
            let from = lanes::narrow(registers, access.registers[part as usize]);
            u32::store_all(lanes, part, from);
        }
    }

    fn skip(&self, _: &Access, _: &mut [u64], _: u32) {}
}

/// What is not 32 bits in every lane.
#[inline(never)]
fn write_other(lanes: &Lanes, access: &Access, registers: &[u64], mask: u32) {
    for part in 0..access.count {
        let from = access.registers[part as usize];
        if access.wide {
            let from = lanes::wide(registers, from);
            match access.bytes {
                1 => write(lanes, part, mask, |lane| from[lane] as u8),
                2 => write(lanes, part, mask, |lane| from[lane] as u16),
                4 => write(lanes, part, mask, |lane| from[lane] as u32),
                _ if mask == u32::MAX => u64::store_all(lanes, part, from),
                _ => write(lanes, part, mask, |lane| from[lane]),
            }
        } else {
            let from = lanes::narrow(registers, from);
            match access.bytes {
                1 => write(lanes, part, mask, |lane| from[lane] as u8),
                2 => write(lanes, part, mask, |lane| from[lane] as u16),
                _ => write(lanes, part, mask, |lane| from[lane]),
            }
        }
    }
}

#[inline(always)]
fn write<T: Cell>(lanes: &Lanes, part: u32, mask: u32, value: impl Fn(usize) -> T) {
    for lane in 0..32 {
        if mask == u32::MAX || mask >> lane & 1 != 0 {
            lanes.store(lane, part, value(lane));
        }
    }
}

/// What an access needs to know of where it is executed.
#[derive(Clone, Copy)]
pub(super) struct Site {
    /// The instruction.
    pub pc: u32,
    /// The frame in local memory.
    pub base: u32,
    /// As above.
    pub top: u32,
}

/// The addresses lane by lane; lanes that are switched off have that of one that is not.
#[inline(always)]
fn addresses(registers: &[u64], address: &Address, base: u32, mask: u32) -> [u64; 32] {
    let mut all = [0; 32];
    match address.base {
        Base::Zero => all = [address.offset; 32],
        Base::Frame => all = [address.offset.wrapping_add(u64::from(base)); 32],
        Base::Narrow(slot) => {
            let from = lanes::narrow(registers, slot);
            for lane in 0..32 {
                all[lane] = from[lane].wrapping_add(address.offset as u32).into();
            }
        }
        Base::Wide(slot) => {
            let from = lanes::wide(registers, slot);
            for lane in 0..32 {
                all[lane] = from[lane].wrapping_add(address.offset);
            }
        }
    }
    if mask == u32::MAX { all } else { only(&all, mask) }
}

/// The addresses of the lanes in a mask that is not empty; the others get that of one of these.
#[inline(always)]
fn only(addresses: &[u64; 32], mask: u32) -> [u64; 32] {
    let mut kept = [addresses[mask.trailing_zeros() as usize & 31]; 32];
    for lane in 0..32 {
        if mask >> lane & 1 != 0 {
            kept[lane] = addresses[lane];
        }
    }
    kept
}

impl Core<'_> {
    /// Performs an access in the lanes of a mask that is not empty; returns the lanes that could
    /// not, which have been reported.
    #[inline(always)]
    pub fn access<A: Act>(
        &mut self,
        warp: &mut Warp,
        site: Site,
        access: &Access,
        mask: u32,
        act: &A,
    ) -> u32 {
        let habit = &mut self.habits[access.number as usize];
        if let Some(low) = habit.recognises(&warp.registers, &access.address, site.base, mask) {
            let inner = low.wrapping_sub(habit.window);
            let lanes = match &habit.place {
                Place::Memory(found) => found.cells.lanes(inner, &habit.shape),
                Place::Shared => self.here.shared.lanes(inner, &habit.shape).map(Lanes::alone),
                Place::Param => self.params.lanes(inner, &habit.shape),
                Place::Local(spread) => {
                    let same = spread.stride == warp.local_bytes;
                    let inside = same && habit.shape.ends_by(inner, site.top);
                    spread.lanes(&warp.local, inner).filter(|_| inside)
                }
                Place::Nowhere => None,
            };
            if let Some(lanes) = lanes {
                act.apply(&lanes, access, &mut warp.registers, mask);
                habit.count(access.space, low, A::KIND, &mut self.here.trace);
                return 0;
            }
        }
        self.anew(warp, site, access, mask, act)
    }

    /// An access that looks different from the last one; lane by lane if its lanes go to several
    /// places.
    #[inline(never)]
    fn anew<A: Act>(
        &mut self,
        warp: &mut Warp,
        site: Site,
        access: &Access,
        mask: u32,
        act: &A,
    ) -> u32 {
        let size = access.bytes * access.count;
        let addresses = addresses(&warp.registers, &access.address, site.base, mask);
        let Some((low, shape)) = Shape::of(&addresses, size) else {
            return self.slowly(warp, site, access, mask, &addresses, act);
        };
        let habit = &mut self.habits[access.number as usize];
        let (space, inner) = access.space.of(low);
        let place = match space {
            Space::Shared => Place::Shared,
            Space::Param => Place::Param,
            Space::Local if shape.ends_by(inner, site.top) => {
                Spread::of(&shape, mask, warp.local_bytes).map_or(Place::Nowhere, Place::Local)
            }
            Space::Local => Place::Nowhere,
            _ => {
                let found = habit.remembered(low).or_else(|| self.memory.find(low));
                found.map_or(Place::Nowhere, Place::Memory)
            }
        };
        let lanes = match &place {
            Place::Memory(found) => found.cells.lanes(low - found.start, &shape),
            Place::Shared => self.here.shared.lanes(inner, &shape).map(Lanes::alone),
            Place::Param => self.params.lanes(inner, &shape),
            Place::Local(spread) => spread.lanes(&warp.local, inner),
            Place::Nowhere => None,
        };
        let Some(lanes) = lanes else {
            return self.slowly(warp, site, access, mask, &addresses, act);
        };
        act.apply(&lanes, access, &mut warp.registers, mask);
        habit.learn(shape, mask, (place, low - inner), self.layout);
        habit.count(access.space, low, A::KIND, &mut self.here.trace);
        0
    }

    /// An access lane by lane: lanes may go to different places, and some to none.
    #[inline(never)]
    fn slowly<A: Act>(
        &mut self,
        warp: &mut Warp,
        site: Site,
        access: &Access,
        mask: u32,
        addresses: &[u64; 32],
        act: &A,
    ) -> u32 {
        let (mut failed, mut global, mut shared) = (0, 0u32, 0u32);
        for lane in lanes_of(mask) {
            let only = 1 << lane;
            let (space, address) = access.space.of(addresses[lane]);
            match self.one(warp, site, access, (space, address, lane), act) {
                true if space == Space::Global => global |= only,
                true if space == Space::Shared => shared |= only,
                true => {}
                false => failed |= only,
            }
        }
        self.count_slowly(access, addresses, (global, shared), A::KIND);
        if !self.check {
            act.skip(access, &mut warp.registers, failed);
            return 0;
        }
        for lane in lanes_of(failed) {
            let at = addresses[lane];
            let (kind, say) = self.fault::<A>(access, at, site);
            self.report(kind, site.pc, (warp.number, 1 << lane), Some(at), |_| say);
        }
        failed
    }

    /// The access of one lane, if it can be made.
    fn one<A: Act>(
        &self,
        warp: &mut Warp,
        site: Site,
        access: &Access,
        (space, address, lane): (Space, u64, usize),
        act: &A,
    ) -> bool {
        let size = u64::from(access.bytes * access.count);
        let local = (&warp.local, warp.local_bytes);
        let found = self.locate(local, site, (space, address, lane), size);
        let Some((cells, base, address)) = found else { return false };
        let Some((_, shape)) = Shape::of(&[address; 32], size as u32) else { return false };
        let Some(lanes) = cells.lanes(address.wrapping_sub(base), &shape) else { return false };
        act.apply(&lanes, access, &mut warp.registers, 1 << lane);
        true
    }

    /// Where a lane's access to one kind of memory goes: the bytes, the address of their first
    /// one, and the address among these.
    pub fn locate<'s>(
        &'s self,
        (local, local_bytes): (&'s Cells, u32),
        site: Site,
        (space, address, lane): (Space, u64, usize),
        size: u64,
    ) -> Option<(&'s Cells, u64, u64)> {
        Some(match space {
            Space::Global | Space::Constant | Space::Generic => {
                let found = self.memory.find(address)?;
                (&found.cells, found.start, address)
            }
            Space::Shared => (&self.here.shared, 0, address),
            Space::Param => (self.params, 0, address),
            Space::Local => {
                let end = address.checked_add(size)?;
                let own = lane as u64 * u64::from(local_bytes);
                (end <= u64::from(site.top)).then_some((local, 0, address + own))?
            }
        })
    }

    fn count_slowly(
        &mut self,
        access: &Access,
        addresses: &[u64; 32],
        (global, shared): (u32, u32),
        kind: Kind,
    ) {
        let traffic = &mut self.habits[access.number as usize].traffic;
        let size = access.bytes * access.count;
        if global != 0 {
            let addresses = only(addresses, global);
            let sectors = addresses.map(|address| self.layout.sector(address));
            let count = scatter(kind, sectors, &mut self.here.trace);
            traffic.count_global(count, least_sectors(addresses, size));
        }
        if shared != 0 {
            traffic.count_shared(conflicts(&only(addresses, shared), shared, size));
        }
    }
}
