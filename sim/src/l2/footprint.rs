//! The sectors of requests that look alike.

use super::trace::{Kind, Run, Trace};

/// Neighbouring sectors of a request: how far the first is beyond that of the lowest address, and
/// how many.
type Part = (u32, u32);

/// The sectors that a request of one shape touches, by where in a sector its lowest address lies.
#[derive(Debug, Default)]
pub(crate) struct Footprint {
    parts: [Vec<Part>; 32],
    /// Which of these are known.
    known: u32,
    /// The first sector of the allocation.
    base: u64,
}

impl Footprint {
    /// Begins with an allocation, given by its first sector, and a shape: the same, or one of which
    /// nothing is known.
    pub fn begin(&mut self, base: u64, same: bool) {
        self.base = base;
        self.known = if same { self.known } else { 0 };
    }

    /// Notes a request whose lowest address lies `inner` bytes from the start of the allocation,
    /// and whose lanes lie that far beyond it; returns how many sectors it touches.
    #[inline]
    pub fn note(&mut self, kind: Kind, inner: u64, lanes: &[u32; 32], trace: &mut Trace) -> u64 {
        let at = (inner % 32) as usize;
        if self.known >> at & 1 == 0 {
            parts(lanes.map(|lane| (lane + at as u32) >> 5), &mut self.parts[at]);
            self.known |= 1 << at;
        }
        let first = self.base + (inner >> 5);
        let mut sectors = 0;
        for &(beyond, count) in &self.parts[at] {
            trace.note(Run::new(kind, first + u64::from(beyond), count.into()));
            sectors += u64::from(count);
        }
        sectors
    }
}

/// Puts these sectors into runs.
fn parts(mut sectors: [u32; 32], to: &mut Vec<Part>) {
    to.clear();
    if !sectors.is_sorted() {
        sectors.sort_unstable();
    }
    for sector in sectors {
        match to.last_mut() {
            Some((first, count)) if sector < *first + *count => {}
            Some((first, count)) if sector == *first + *count => *count += 1,
            _ => to.push((sector, 1)),
        }
    }
}

/// Notes a request whose lanes lie anywhere, given by their sectors; returns how many these are.
pub(crate) fn scatter(kind: Kind, mut sectors: [u64; 32], trace: &mut Trace) -> u64 {
    sectors.sort_unstable();
    let mut count = 0;
    for same in sectors.chunk_by(|a, b| a == b) {
        trace.note(Run::new(kind, same[0], 1));
        count += 1;
    }
    count
}
