//! The memory of a simulated GPU: live allocations by address, with exact bounds.
//!
//! Contract: an access that does not lie within one live allocation is refused and said what is
//! near. Addresses are handed out upwards and again only when all have been, so that a use after
//! free finds nothing there. Fresh memory holds a pattern, so that reading it before writing shows.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::device::driver::DevicePtr;

/// Every address is a multiple of this, and every allocation takes up a multiple of it: what
/// PyTorch's allocator rounds to.
const ALIGNMENT: u64 = 512;

/// What fresh memory holds. As `f32` it reads -26,711,958: no zero that happens to be right.
const FRESH: u8 = 0xCB;

/// Why the memory refuses something.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// So much was asked for, so much is taken.
    OutOfMemory { requested: u64, allocated: u64 },
    /// Anything else, in words.
    Fault(String),
}

fn fault<T>(message: String) -> Result<T, Refusal> {
    Err(Refusal::Fault(message))
}

pub(super) struct Memory {
    /// The addresses that may be handed out.
    window: Range<u64>,
    /// Where the search for a place begins.
    next: u64,
    capacity: u64,
    /// Bytes taken up, each allocation rounded up to [`ALIGNMENT`].
    allocated: u64,
    live: BTreeMap<u64, Vec<u8>>,
}

fn rounded(bytes: u64) -> u64 {
    bytes.next_multiple_of(ALIGNMENT)
}

impl Memory {
    /// An empty memory; both ends of the window are aligned.
    pub(super) fn new(window: Range<u64>, capacity: u64) -> Memory {
        Memory { next: window.start, window, capacity, allocated: 0, live: BTreeMap::new() }
    }

    pub(super) fn capacity(&self) -> u64 {
        self.capacity
    }

    /// What is live stays, even if it is more than that.
    pub(super) fn set_capacity(&mut self, bytes: u64) {
        self.capacity = bytes;
    }

    pub(super) fn alloc(&mut self, bytes: u64) -> Result<DevicePtr, Refusal> {
        if bytes == 0 {
            return Ok(DevicePtr::NULL);
        }
        let free = self.capacity.saturating_sub(self.allocated);
        let fits = |size: &u64| *size <= free;
        let Some(size) = bytes.checked_next_multiple_of(ALIGNMENT).filter(fits) else {
            let allocated = self.allocated;
            return Err(Refusal::OutOfMemory { requested: bytes, allocated });
        };
        let Some(at) = self.place(size) else {
            return fault(format!("no run of addresses is left for {bytes} bytes"));
        };
        self.live.insert(at, fresh(bytes)?);
        self.allocated += size;
        self.next = at + size;
        Ok(DevicePtr(at))
    }

    /// The next free run of addresses, or the first one when the end is reached.
    fn place(&self, size: u64) -> Option<u64> {
        self.gap(self.next, size).or_else(|| self.gap(self.window.start, size))
    }

    /// The first gap of `size` bytes at or after `from`, where an allocation ends or none is.
    fn gap(&self, from: u64, size: u64) -> Option<u64> {
        let mut at = from;
        for (&start, bytes) in self.live.range(from..) {
            if start - at >= size {
                break;
            }
            at = start + rounded(bytes.len() as u64);
        }
        (self.window.end - at >= size).then_some(at)
    }

    pub(super) fn free(&mut self, ptr: DevicePtr) -> Result<(), Refusal> {
        if ptr == DevicePtr::NULL {
            return Ok(());
        }
        let Some(bytes) = self.live.remove(&ptr.0) else {
            let near = self.near(ptr.0, 1);
            return fault(format!(
                "free({ptr}): no live allocation begins there, so it was freed before or never \
                 allocated; {near}"
            ));
        };
        self.allocated -= rounded(bytes.len() as u64);
        Ok(())
    }

    /// The bytes of a range, on behalf of `op`.
    pub(super) fn read(&self, op: &str, ptr: DevicePtr, bytes: u64) -> Result<&[u8], Refusal> {
        let (start, range) = self.find(op, ptr, bytes)?;
        Ok(self.live.get(&start).map_or(&[], |block| &block[range]))
    }

    /// The bytes of a range, to be written on behalf of `op`.
    pub(super) fn write(
        &mut self,
        op: &str,
        ptr: DevicePtr,
        bytes: u64,
    ) -> Result<&mut [u8], Refusal> {
        let (start, range) = self.find(op, ptr, bytes)?;
        Ok(self.live.get_mut(&start).map_or(&mut [], |block| &mut block[range]))
    }

    /// Copies between two ranges that do not overlap.
    pub(super) fn copy(
        &mut self,
        to: DevicePtr,
        from: DevicePtr,
        bytes: u64,
    ) -> Result<(), Refusal> {
        let op = "copy_on_device";
        let (source, read) = self.find(op, from, bytes)?;
        let (target, written) = self.find(op, to, bytes)?;
        if bytes > 0 && to.0.abs_diff(from.0) < bytes {
            return fault(format!("{op}: {bytes} bytes at {from} overlap those at {to}"));
        }
        let mut block = self.live.remove(&target).unwrap_or_default();
        if source == target {
            block.copy_within(read, written.start);
        } else if let Some(source) = self.live.get(&source) {
            block[written].copy_from_slice(&source[read]);
        }
        if bytes > 0 {
            self.live.insert(target, block);
        }
        Ok(())
    }

    /// The allocation that holds a range, and where in it the range lies.
    fn find(&self, op: &str, ptr: DevicePtr, bytes: u64) -> Result<(u64, Range<usize>), Refusal> {
        if bytes == 0 {
            return Ok((DevicePtr::NULL.0, 0..0));
        }
        let below = self.live.range(..=ptr.0).next_back();
        let end = ptr.0.checked_add(bytes);
        match (below, end) {
            (Some((&start, block)), Some(end)) if end <= start + block.len() as u64 => {
                Ok((start, (ptr.0 - start) as usize..(end - start) as usize))
            }
            _ => {
                let near = self.near(ptr.0, bytes);
                fault(format!(
                    "{op}: {bytes} bytes at {ptr} do not lie within a live allocation; {near}"
                ))
            }
        }
    }

    /// What is nearest to a range, in words.
    fn near(&self, at: u64, bytes: u64) -> String {
        let below = self.live.range(..=at).next_back();
        let above = self.live.range(at..).next();
        let both = [below, above].into_iter().flatten();
        let both = both.map(|(&start, block)| (start, block.len() as u64));
        let distance = |&(start, len): &(u64, u64)| {
            start.saturating_sub(at).max(at.saturating_sub(start + len))
        };
        match both.min_by_key(distance) {
            None => "nothing is allocated".to_string(),
            Some((start, len)) => describe(start, len, at, bytes),
        }
    }
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

/// New memory of the host. What the host lacks the simulated GPU lacks too.
fn fresh(bytes: u64) -> Result<Vec<u8>, Refusal> {
    let lacking = || Refusal::Fault(format!("the host itself has no {bytes} bytes for it"));
    let len = usize::try_from(bytes).map_err(|_| lacking())?;
    let mut block = Vec::new();
    block.try_reserve_exact(len).map_err(|_| lacking())?;
    block.resize(len, FRESH);
    Ok(block)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window of four units is used up at once, which a real one never is.
    #[test]
    fn addresses_are_handed_out_again_only_when_all_have_been() {
        let base = 0x7f00_0000_0000;
        let mut memory = Memory::new(base..base + 4 * ALIGNMENT, u64::MAX);
        let at = |unit: u64| Ok(DevicePtr(base + unit * ALIGNMENT));
        assert_eq!([memory.alloc(1), memory.alloc(513)], [at(0), at(1)]);
        memory.free(DevicePtr(base)).unwrap();
        assert_eq!(memory.alloc(512), at(3), "not the place that was freed just now");
        assert_eq!(memory.alloc(512), at(0), "the end is reached");
        assert!(matches!(memory.alloc(1), Err(Refusal::Fault(_))), "all four are live");
    }
}
