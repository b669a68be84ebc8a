//! A slow model of the modelled clock: it works from a list of everything that was ever done.

use std::ops::Range;

use engine_room::driver::{HostMemory, Route};

/// A copy that was given to the device: where it ran and from when to when.
pub struct Ran {
    pub stream: usize,
    pub route: Route,
    pub span: Range<u64>,
}

/// The published figures of a T4 and of its copies, in tenths of a GB/s (of a byte per
/// nanosecond), and in ns.
const PINNED: u64 = 120;
const MEMORY: u64 = 3200;
const STAGING: u64 = 164;
const CALL: u64 = 6_000;
const LATENCY: u64 = 4_000;

/// A T4 that remembers all that ran and all that streams were told to wait for.
#[derive(Default)]
pub struct SlowClock {
    pub host: u64,
    pub ran: Vec<Ran>,
    pub waits: Vec<(usize, u64)>,
}

fn at(bytes: u64, tenths: u64) -> u64 {
    (10 * bytes).div_ceil(tenths)
}

impl SlowClock {
    /// When a stream has nothing left to do or to wait for.
    pub fn idle(&self, stream: usize) -> u64 {
        let ends = self.ran.iter().filter(|ran| ran.stream == stream).map(|ran| ran.span.end);
        let waits = self.waits.iter().filter(|wait| wait.0 == stream).map(|wait| wait.1);
        ends.chain(waits).max().unwrap_or(0)
    }

    /// When all streams have nothing left to do.
    pub fn all_idle(&self) -> u64 {
        let ends = self.ran.iter().map(|ran| ran.span.end);
        ends.chain(self.waits.iter().map(|wait| wait.1)).max().unwrap_or(0)
    }

    /// When the engine of a direction is free; on the device there is none to wait for.
    fn engine(&self, route: Route) -> u64 {
        let same = |other: Route| match route {
            Route::ToDevice(_) => matches!(other, Route::ToDevice(_)),
            Route::ToHost(_) => matches!(other, Route::ToHost(_)),
            Route::OnDevice => false,
        };
        self.ran.iter().filter(|ran| same(ran.route)).map(|ran| ran.span.end).max().unwrap_or(0)
    }

    /// A copy; returns how long it takes once it has begun.
    pub fn copy(&mut self, route: Route, bytes: u64, stream: usize) -> u64 {
        self.host += CALL;
        let start = self.host.max(self.idle(stream)).max(self.engine(route));
        let crossing = at(bytes, PINNED);
        let (took, host) = match route {
            Route::OnDevice => (at(2 * bytes, MEMORY), self.host),
            Route::ToDevice(HostMemory::Pinned) | Route::ToHost(HostMemory::Pinned) => {
                (crossing, self.host)
            }
            // Piece after piece through a buffer of 64 KiB; the last one is only staged.
            Route::ToDevice(HostMemory::Pageable) => {
                let took = at(bytes, STAGING) + crossing;
                (took, start + took - at(bytes.min(65_536), PINNED))
            }
            Route::ToHost(HostMemory::Pageable) => {
                let took = at(bytes, STAGING) + crossing;
                (took, start + LATENCY + took)
            }
        };
        self.host = host;
        let span = start..start + LATENCY + took;
        self.ran.push(Ran { stream, route, span });
        LATENCY + took
    }
}
