//! The memory of a simulated GPU: live allocations by address, with exact bounds.
//!
//! An access that does not lie within one live allocation is refused, and said what is near.
//! Between two allocations nothing lies for at least as many bytes as the first one has (up to
//! `WIDEST_GAP`), so that running past an end finds nothing there. Addresses are handed out
//! upwards, and again only when all have been, so that a use after free finds nothing either.
//! Fresh memory holds a pattern, so that reading it before writing shows.

mod cells;
mod shape;
#[cfg(target_arch = "x86_64")]
mod vector;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::ops::Range;

pub use cells::{Cell, Cells, Lanes, Vector};
pub use shape::Shape;

/// Every address is a multiple of this, and every allocation takes up a multiple of it: what
/// PyTorch's allocator rounds to.
const ALIGNMENT: u64 = 512;

/// The least and the most that lies free after an allocation.
const NARROWEST_GAP: u64 = 4 << 10;
const WIDEST_GAP: u64 = 16 << 20;

/// Bytes that a copy within the device moves at a time.
const PIECE: usize = 4096;

/// How many frees are remembered, to tell a use after free from a wild pointer.
const REMEMBERED: usize = 4096;

/// What fresh memory holds. As `f32` it reads -26,711,958: no zero that happens to be right.
pub const FRESH: u8 = 0xCB;

/// Why the memory refuses something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// So many bytes were asked for; so many are taken, of so many.
    OutOfMemory {
        /// Bytes asked for.
        requested: u64,
        /// Bytes taken.
        allocated: u64,
        /// Bytes that the GPU has.
        capacity: u64,
    },
    /// Anything else, in words.
    Fault(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Error::OutOfMemory { requested, allocated, capacity } => write!(
                f,
                "out of memory: {requested} bytes were asked for, {allocated} of {capacity} are \
                 taken"
            ),
            Error::Fault(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Error {}

/// One live allocation.
pub struct Allocation {
    /// Its first address.
    pub start: u64,
    /// Its bytes.
    pub cells: Cells,
}

impl Allocation {
    /// One past its last address.
    #[inline]
    pub fn end(&self) -> u64 {
        self.start + self.cells.len() as u64
    }
}

/// The memory of one device.
pub struct Memory {
    /// The addresses that may be handed out.
    window: Range<u64>,
    /// Where the search for a place begins.
    next: u64,
    capacity: u64,
    /// Bytes taken up, each allocation rounded up to [`ALIGNMENT`].
    allocated: u64,
    /// First addresses and bytes of what takes up memory.
    runs: BTreeMap<u64, u64>,
    live: BTreeMap<u64, Allocation>,
    /// What was freed last, oldest first.
    freed: VecDeque<Range<u64>>,
}

fn gap(bytes: u64) -> u64 {
    bytes.clamp(NARROWEST_GAP, WIDEST_GAP)
}

impl Memory {
    /// An empty memory that hands out addresses of the window, both ends of which are aligned.
    pub fn new(window: Range<u64>, capacity: u64) -> Memory {
        let (runs, live, freed) = (BTreeMap::new(), BTreeMap::new(), VecDeque::new());
        Memory { next: window.start, window, capacity, allocated: 0, runs, live, freed }
    }

    /// How many bytes the GPU has.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Lets the GPU have so many bytes. What is live stays, even if it is more than that.
    pub fn set_capacity(&mut self, bytes: u64) {
        self.capacity = bytes;
    }

    /// Makes room for so many bytes; for none, the null address.
    pub fn alloc(&mut self, bytes: u64) -> Result<u64, Error> {
        if bytes == 0 {
            return Ok(0);
        }
        let start = self.reserve(bytes)?;
        self.lend(start, bytes).or_else(|error| self.free(start).and(Err(error)))?;
        Ok(start)
    }

    /// Takes up so many bytes, of which nothing may be accessed before it is lent.
    pub fn reserve(&mut self, bytes: u64) -> Result<u64, Error> {
        let free = self.capacity.saturating_sub(self.allocated);
        let size = bytes.checked_next_multiple_of(ALIGNMENT).filter(|size| *size <= free);
        let Some(size) = size else {
            let (allocated, capacity) = (self.allocated, self.capacity);
            return Err(Error::OutOfMemory { requested: bytes, allocated, capacity });
        };
        let with_gap = size.checked_add(gap(size));
        let Some(start) = with_gap.and_then(|size| self.place(size)) else {
            return Err(Error::Fault(format!("no run of addresses is left for {bytes} bytes")));
        };
        self.runs.insert(start, size);
        self.allocated += size;
        self.next = start + size + gap(size);
        Ok(start)
    }

    /// Makes a piece of what is reserved accessible, with fresh bytes in it. Pieces may lie side by
    /// side, so running past the end of one is found unless the next one is lent too.
    pub fn lend(&mut self, at: u64, bytes: u64) -> Result<(), Error> {
        let run = self.runs.range(..=at).next_back();
        let left = run.map_or(0, |(start, size)| (start + size).saturating_sub(at));
        let lent = |end| self.live.range(..end).next_back().is_some_and(|(_, it)| it.end() > at);
        if bytes > left || lent(at + bytes) {
            let say = format!("lend: {bytes} bytes at {at:#x} are not reserved, or lent already");
            return Err(Error::Fault(say));
        }
        let Some(cells) = usize::try_from(bytes).ok().and_then(Cells::zeroed) else {
            return Err(Error::Fault(format!("the host itself has no {bytes} bytes for it")));
        };
        cells.fill(0, cells.len(), FRESH);
        self.live.insert(at, Allocation { start: at, cells });
        Ok(())
    }

    /// Nothing that was lent at an address may be accessed any more.
    pub fn take_back(&mut self, at: u64) {
        let Some(piece) = self.live.remove(&at) else { return };
        // Remembered, to tell a use after free from a wild pointer.
        if self.freed.len() == REMEMBERED {
            self.freed.pop_front();
        }
        self.freed.push_back(piece.start..piece.end());
    }

    /// The next free run of addresses, or the first one when the end is reached.
    fn place(&self, size: u64) -> Option<u64> {
        self.run_from(self.next, size).or_else(|| self.run_from(self.window.start, size))
    }

    fn run_from(&self, from: u64, size: u64) -> Option<u64> {
        let mut at = from;
        for (&start, &bytes) in self.runs.range(from..) {
            if start - at >= size {
                break;
            }
            at = start + bytes + gap(bytes);
        }
        (self.window.end.saturating_sub(at) >= size).then_some(at)
    }

    /// Gives an allocation back; the null address is none, and fine.
    pub fn free(&mut self, address: u64) -> Result<(), Error> {
        if address == 0 {
            return Ok(());
        }
        let Some(bytes) = self.runs.remove(&address) else {
            return Err(Error::Fault(format!(
                "free({address:#x}): no live allocation begins there, so it was freed before or \
                 never allocated; {}",
                self.near(address, 1)
            )));
        };
        self.allocated -= bytes;
        while let Some((&at, _)) = self.live.range(address..address + bytes).next() {
            self.take_back(at);
        }
        Ok(())
    }

    /// Copies device memory out, into all of `bytes`, on behalf of `op`.
    pub fn read(&self, op: &str, address: u64, bytes: &mut [u8]) -> Result<(), Error> {
        if let Some((cells, offset)) = self.inside(op, address, bytes.len() as u64)? {
            cells.read(offset, bytes);
        }
        Ok(())
    }

    /// Copies `bytes` into device memory, on behalf of `op`.
    pub fn write(&self, op: &str, address: u64, bytes: &[u8]) -> Result<(), Error> {
        if let Some((cells, offset)) = self.inside(op, address, bytes.len() as u64)? {
            cells.write(offset, bytes);
        }
        Ok(())
    }

    /// Copies between two ranges of device memory that do not overlap, on behalf of `op`.
    pub fn copy(&self, op: &str, to: u64, from: u64, bytes: u64) -> Result<(), Error> {
        let source = self.inside(op, from, bytes)?;
        let target = self.inside(op, to, bytes)?;
        let (Some((source, read)), Some((target, written))) = (source, target) else {
            return Ok(());
        };
        if to.abs_diff(from) < bytes {
            let say = format!("{op}: {bytes} bytes at {from:#x} overlap those at {to:#x}");
            return Err(Error::Fault(say));
        }
        let mut piece = [0; PIECE];
        for done in (0..bytes as usize).step_by(PIECE) {
            let piece = &mut piece[..(bytes as usize - done).min(PIECE)];
            source.read(read + done, piece);
            target.write(written + done, piece);
        }
        Ok(())
    }

    /// The allocation that holds a range, and where in it the range begins; none for no bytes.
    fn inside(&self, op: &str, at: u64, bytes: u64) -> Result<Option<(&Cells, usize)>, Error> {
        if bytes == 0 {
            return Ok(None);
        }
        let found = self.find(at).filter(|found| found.end() - at >= bytes);
        let Some(found) = found else {
            let near = self.near(at, bytes);
            return Err(Error::Fault(format!(
                "{op}: {bytes} bytes at {at:#x} do not lie within a live allocation; {near}"
            )));
        };
        Ok(Some((&found.cells, (at - found.start) as usize)))
    }

    /// Where the live allocations lie, from the lowest on.
    pub fn live(&self) -> impl Iterator<Item = Range<u64>> {
        self.live.values().map(|allocation| allocation.start..allocation.end())
    }

    /// The allocation that an address lies in.
    pub fn find(&self, address: u64) -> Option<&Allocation> {
        let (_, below) = self.live.range(..=address).next_back()?;
        (address < below.end()).then_some(below)
    }

    /// The allocation that an address lay in, before it was freed: the last one that did.
    pub fn freed(&self, address: u64) -> Option<Range<u64>> {
        self.freed.iter().rev().find(|range| range.contains(&address)).cloned()
    }

    /// What is nearest to a range, in words.
    pub fn near(&self, at: u64, bytes: u64) -> String {
        let below = self.live.range(..=at).next_back();
        let above = self.live.range(at..).next();
        let both = [below, above].into_iter().flatten();
        let both = both.map(|(&start, block)| (start, block.cells.len() as u64));
        let distance = |&(start, len): &(u64, u64)| {
            start.saturating_sub(at).max(at.saturating_sub(start + len))
        };
        match both.min_by_key(distance) {
            None => "nothing is allocated".to_string(),
            Some((start, len)) => describe(start, len, at, bytes),
        }
    }
}

/// Whether the lanes of a request can be accessed some at a time.
#[cfg(target_arch = "x86_64")]
fn vectors_are_there() -> bool {
    vector::are_there()
}

#[cfg(not(target_arch = "x86_64"))]
fn vectors_are_there() -> bool {
    false
}

/// Where the range at `at` lies, seen from an allocation.
fn describe(start: u64, len: u64, at: u64, bytes: u64) -> String {
    let block = format!("the nearest allocation has {len} bytes at {start:#x}");
    if at < start {
        return format!("{block}, which begins {} bytes later", start - at);
    }
    let offset = at - start;
    match offset.checked_add(bytes) {
        _ if offset >= len => format!("{block}, which ends {} bytes before", offset - len),
        Some(end) if end <= len => format!("{block}, and the address is {offset} bytes into it"),
        _ => format!("{block}, which ends after the first {} of them", len - offset),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window of four allocations with their gaps is used up at once, which a real one never is.
    #[test]
    fn addresses_are_handed_out_again_only_when_all_have_been() {
        let base = 0x7f00_0000_0000;
        let unit = ALIGNMENT + NARROWEST_GAP;
        let mut memory = Memory::new(base..base + 4 * unit, u64::MAX);
        let at = |number: u64| Ok(base + number * unit);
        assert_eq!([memory.alloc(1), memory.alloc(512)], [at(0), at(1)]);
        memory.free(base).unwrap();
        assert_eq!(memory.alloc(512), at(2), "not the place that was freed just now");
        assert_eq!([memory.alloc(7), memory.alloc(512)], [at(3), at(0)], "the end is reached");
        assert!(matches!(memory.alloc(1), Err(Error::Fault(_))), "all four are live");
    }
}
