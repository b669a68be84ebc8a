//! How the addresses of one request of a warp lie to each other.
//!
//! An instruction that runs again, in another warp or with another loop counter, mostly accesses
//! the same shape somewhere else. So what follows from the shape is worked out once, and a request
//! is recognised by one comparison of all lanes.

/// The addresses of the 32 lanes of a request, seen from the lowest one.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    /// Lane by lane; a lane that takes no part has the address of one that does. Each is a
    /// multiple of `bytes`.
    offsets: [u32; 32],
    /// One past the last byte of the highest lane. It fits in an `i32`.
    reach: u32,
    /// Bytes that each lane touches from its address on, which are aligned to their number.
    bytes: u32,
    /// What each 8 lanes can be read and written by, once [`Shape::prepare`] has looked.
    steps: [Step; 4],
}

/// How the addresses of 8 lanes follow each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Step {
    /// Nobody has looked, or this processor has no vectors for it: lane by lane.
    #[default]
    Scalar,
    /// All are the same.
    Same,
    /// Each is so many bytes beyond the one before: 4 or 8.
    Run(u32),
    /// In any way.
    Any,
}

impl Shape {
    /// The lowest of these addresses and the shape of a request of `bytes` bytes a lane, a power
    /// of two; `None` if an address is not a multiple of that, or if they lie too far apart for
    /// one allocation of less than 2 GiB.
    #[inline]
    pub fn of(addresses: &[u64; 32], bytes: u32) -> Option<(u64, Shape)> {
        let (mut low, mut high, mut bits) = (u64::MAX, 0, 0);
        for &address in addresses {
            low = low.min(address);
            high = high.max(address);
            bits |= address;
        }
        let reach = (high - low).checked_add(bytes.into()).filter(|end| *end <= i32::MAX as u64)?;
        if bits & u64::from(bytes - 1) != 0 {
            return None;
        }
        let mut offsets = [0; 32];
        for lane in 0..32 {
            offsets[lane] = (addresses[lane] - low) as u32;
        }
        Some((low, Shape { offsets, reach: reach as u32, bytes, steps: [Step::Scalar; 4] }))
    }

    /// Finds out how vectors can do this, if the processor has them.
    pub fn prepare(&mut self) {
        if super::vectors_are_there() {
            for (step, lanes) in self.steps.iter_mut().zip(self.offsets.as_chunks().0) {
                *step = Step::of(lanes);
            }
        }
    }

    /// The lowest address, if these registers of 64 bits lie to each other in this shape, in the
    /// lanes of a mask that is not empty.
    #[inline(always)]
    pub fn fits_wide(&self, registers: &[u64; 32], mask: u32) -> Option<u64> {
        let first = mask.trailing_zeros() as usize & 31;
        let low = registers[first].wrapping_sub(self.offsets[first].into());
        let differ =
            |lane: usize| registers[lane].wrapping_sub(low) ^ u64::from(self.offsets[lane]);
        let mut differs = 0;
        if mask == u32::MAX {
            for lane in 0..32 {
                differs |= differ(lane);
            }
        } else {
            for lane in 0..32 {
                differs |= differ(lane) & u64::from(mask >> lane & 1).wrapping_neg();
            }
        }
        (differs == 0).then_some(low)
    }

    /// As [`Shape::fits_wide`], of registers of 32 bits.
    #[inline(always)]
    pub fn fits_narrow(&self, registers: &[u32; 32], mask: u32) -> Option<u32> {
        let first = mask.trailing_zeros() as usize & 31;
        let low = registers[first].wrapping_sub(self.offsets[first]);
        let differ = |lane: usize| registers[lane].wrapping_sub(low) ^ self.offsets[lane];
        let mut differs = 0;
        if mask == u32::MAX {
            for lane in 0..32 {
                differs |= differ(lane);
            }
        } else {
            for lane in 0..32 {
                differs |= differ(lane) & (mask >> lane & 1).wrapping_neg();
            }
        }
        (differs == 0).then_some(low)
    }

    /// Whether another request has the same shape.
    pub fn is_like(&self, other: &Shape) -> bool {
        self.offsets == other.offsets && self.bytes == other.bytes
    }

    /// The addresses, of which `low` is the lowest.
    pub fn addresses(&self, low: u64) -> [u64; 32] {
        let mut addresses = [low; 32];
        for (lane, address) in addresses.iter_mut().enumerate() {
            *address = low.wrapping_add(self.offsets[lane].into());
        }
        addresses
    }

    /// The distance of each lane from the lowest address.
    #[inline(always)]
    pub fn offsets(&self) -> &[u32; 32] {
        &self.offsets
    }

    /// The distance of the end of the highest lane from the lowest address.
    #[inline(always)]
    pub fn reach(&self) -> u32 {
        self.reach
    }

    /// Whether a request whose lowest address is `low` touches nothing from `end` on.
    #[inline(always)]
    pub fn ends_by(&self, low: u64, end: u32) -> bool {
        low.checked_add(self.reach.into()).is_some_and(|reach| reach <= end.into())
    }

    /// Bytes that each lane touches.
    #[inline(always)]
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// How each 8 lanes are to be read and written.
    #[inline(always)]
    pub(super) fn steps(&self) -> &[Step; 4] {
        &self.steps
    }
}

impl Step {
    fn of(lanes: &[u32; 8]) -> Step {
        let by = lanes[1].wrapping_sub(lanes[0]);
        let even = lanes.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == by);
        match by {
            0 if even => Step::Same,
            4 | 8 if even => Step::Run(by),
            _ => Step::Any,
        }
    }
}
