//! The *modelled* clock: when the host and each stream would be done, had the work run on a GPU.
//!
//! The bytes of a copy move at once; this file only says when they would have moved. Times are pure
//! functions of the calls made, in whole nanoseconds, and no real clock is read. A call moves the
//! host's time on; a copy begins when the host has asked for it, its stream has come to it, and the
//! copy engine of its direction is free. A GPU has an engine for each direction (`deviceQuery`
//! counts three in all on a T4 and on an H100), so a copy to the device and one to the host
//! overlap, and two of one direction do not.

use super::gpus::{COPY_CALL, COPY_LATENCY, Figures, QUERY, STAGING, STAGING_BUFFER};
use crate::device::driver::{HostMemory, Nanoseconds, Route};

/// When each party would be done, since the device was made.
pub(super) struct Timeline {
    host: Nanoseconds,
    /// When the work put into each stream so far would be done.
    streams: Vec<Nanoseconds>,
    /// When the copy engines to the device and to the host would be free.
    engines: [Nanoseconds; 2],
    /// What counts as zero for whoever reads the clock.
    origin: Nanoseconds,
}

/// The parts of the time that one copy takes.
struct Cost {
    latency: Nanoseconds,
    /// The host copying between pageable memory and the staging buffer.
    staging: Nanoseconds,
    /// The bytes crossing PCI Express, or the memory of the device.
    moving: Nanoseconds,
    /// How much of `moving` is left when the host has staged the last piece.
    last_piece: Nanoseconds,
}

/// `bytes` at so many bytes per second, rounded up.
fn duration(bytes: u64, bandwidth: u64) -> Nanoseconds {
    let exact = (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(bandwidth));
    u64::try_from(exact).unwrap_or(u64::MAX)
}

impl Cost {
    fn of(figures: &Figures, route: Route, bytes: u64) -> Cost {
        let bandwidth = match route {
            // Each byte is read and written.
            Route::OnDevice => figures.memory / 2,
            Route::ToDevice(_) | Route::ToHost(_) => figures.pinned,
        };
        let staging = match route {
            Route::ToDevice(HostMemory::Pageable) | Route::ToHost(HostMemory::Pageable) => {
                duration(bytes, STAGING)
            }
            _ => 0,
        };
        Cost {
            latency: COPY_LATENCY,
            staging,
            moving: duration(bytes, bandwidth),
            last_piece: duration(bytes.min(STAGING_BUFFER), bandwidth),
        }
    }

    fn total(&self) -> Nanoseconds {
        self.latency + self.staging + self.moving
    }

    /// From the start of a pageable copy to the moment when the host has nothing left to stage.
    fn until_staged(&self) -> Nanoseconds {
        self.staging + self.moving - self.last_piece
    }
}

impl Timeline {
    pub(super) fn new() -> Timeline {
        Timeline { host: 0, streams: vec![0], engines: [0; 2], origin: 0 }
    }

    pub(super) fn add_stream(&mut self) -> usize {
        self.streams.push(0);
        self.streams.len() - 1
    }

    pub(super) fn has_stream(&self, stream: usize) -> bool {
        stream < self.streams.len()
    }

    /// The host's time since the clock was set to zero.
    pub(super) fn host(&self) -> Nanoseconds {
        self.host - self.origin
    }

    /// When all work would be done, since the clock was set to zero.
    pub(super) fn device(&self) -> Nanoseconds {
        self.latest().saturating_sub(self.origin)
    }

    fn latest(&self) -> Nanoseconds {
        self.streams.iter().copied().max().unwrap_or(0)
    }

    /// Puts a copy into a stream and says how long it would take once it has begun.
    pub(super) fn copy(
        &mut self,
        figures: &Figures,
        route: Route,
        bytes: u64,
        stream: usize,
    ) -> Nanoseconds {
        self.host += COPY_CALL;
        let cost = Cost::of(figures, route, bytes);
        let engine = match route {
            Route::ToDevice(_) => Some(0),
            Route::ToHost(_) => Some(1),
            Route::OnDevice => None,
        };
        let free = engine.map_or(0, |engine| self.engines[engine]);
        let start = self.host.max(self.streams[stream]).max(free);
        let end = start + cost.total();
        self.streams[stream] = end;
        if let Some(engine) = engine {
            self.engines[engine] = end;
        }
        match route {
            Route::ToDevice(HostMemory::Pageable) => self.host = start + cost.until_staged(),
            Route::ToHost(HostMemory::Pageable) => self.host = end,
            _ => {}
        }
        cost.total()
    }

    /// The time at which an event recorded now would be done: an idle stream reaches it at once.
    pub(super) fn record(&self, stream: usize) -> Nanoseconds {
        self.streams[stream].max(self.host)
    }

    /// Lets a stream wait for an event.
    pub(super) fn wait(&mut self, stream: usize, event: Nanoseconds) {
        self.streams[stream] = self.streams[stream].max(event);
    }

    /// Whether the host's time has reached the event. Asking takes time, as it does on a GPU.
    pub(super) fn is_done(&mut self, event: Nanoseconds) -> bool {
        self.host += QUERY;
        self.has_passed(event)
    }

    pub(super) fn has_passed(&self, event: Nanoseconds) -> bool {
        event <= self.host
    }

    pub(super) fn synchronize_stream(&mut self, stream: usize) {
        self.host = self.host.max(self.streams[stream]);
    }

    pub(super) fn synchronize(&mut self) {
        self.host = self.host.max(self.latest());
    }

    /// Waits for everything and counts from zero again. Events from before stay done.
    pub(super) fn reset(&mut self) {
        self.synchronize();
        self.origin = self.host;
    }
}
