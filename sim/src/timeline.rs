//! The *modelled* time line: when the host and each stream would be done, had the work run on a
//! GPU.
//!
//! Kernels run and bytes move at once; this file only says when they would have. Times are pure
//! functions of the calls made, in whole nanoseconds, and no real clock is read. A call moves the
//! host's time on; what it asks for begins when the host has asked, its stream has come to it, and
//! what it runs on is free:
//!
//! - A copy over PCI Express runs on the copy engine of its direction. A GPU has one for each
//!   (`deviceQuery` counts three in all on a T4 and on an H100), so a copy to the device and one to
//!   the host overlap, and two of one direction do not.
//! - A kernel runs on as many multiprocessors as it has blocks, on all of them if it has more; see
//!   [`Timeline::launch`].
//! - A copy within the device waits for its stream alone.

mod multiprocessors;

use crate::gpu::{
    COPY_CALL, COPY_LATENCY, Figures, LAUNCH, LAUNCH_LATENCY, QUERY, STAGING, STAGING_BUFFER,
};

use multiprocessors::Multiprocessors;

/// A span of modelled time, or a moment since the beginning of the time line.
pub type Nanoseconds = u64;

/// Between which memories a copy goes. Pinned memory of the host is what the copy engine fetches
/// by itself; anything else goes through a staging buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Route {
    /// From the host to the device.
    ToDevice {
        /// Whether the host's memory is pinned.
        pinned: bool,
    },
    /// From the device to the host.
    ToHost {
        /// Whether the host's memory is pinned.
        pinned: bool,
    },
    /// Within the memory of the device.
    OnDevice,
}

/// When each party would be done, since the device was made.
#[derive(Debug, Clone)]
pub struct Timeline {
    host: Nanoseconds,
    /// When the work put into each stream so far would be done.
    streams: Vec<Nanoseconds>,
    /// When the copy engines to the device and to the host would be free.
    engines: [Nanoseconds; 2],
    multiprocessors: Multiprocessors,
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
            Route::ToDevice { .. } | Route::ToHost { .. } => figures.pinned,
        };
        let staging = match route {
            Route::ToDevice { pinned: false } | Route::ToHost { pinned: false } => {
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

impl Default for Timeline {
    fn default() -> Timeline {
        Timeline::new()
    }
}

impl Timeline {
    /// A time line at zero, with stream 0.
    pub fn new() -> Timeline {
        let multiprocessors = Multiprocessors::default();
        Timeline { host: 0, streams: vec![0], engines: [0; 2], multiprocessors, origin: 0 }
    }

    /// One more stream; returns its number.
    pub fn add_stream(&mut self) -> usize {
        self.streams.push(0);
        self.streams.len() - 1
    }

    /// Whether there is a stream of that number. All functions that take one need it to exist.
    pub fn has_stream(&self, stream: usize) -> bool {
        stream < self.streams.len()
    }

    /// The host's time since the clock was set to zero.
    pub fn host(&self) -> Nanoseconds {
        self.host - self.origin
    }

    /// When the clock was set to zero, since the device was made.
    pub fn origin(&self) -> Nanoseconds {
        self.origin
    }

    /// When all work would be done, since the clock was set to zero.
    pub fn device(&self) -> Nanoseconds {
        self.latest().saturating_sub(self.origin)
    }

    fn latest(&self) -> Nanoseconds {
        self.streams.iter().copied().max().unwrap_or(0)
    }

    /// Puts a copy into a stream and says from when to when it would run, since the clock was
    /// set to zero.
    pub fn copy(
        &mut self,
        figures: &Figures,
        route: Route,
        bytes: u64,
        stream: usize,
    ) -> (Nanoseconds, Nanoseconds) {
        self.host += COPY_CALL;
        let cost = Cost::of(figures, route, bytes);
        let engine = match route {
            Route::ToDevice { .. } => Some(0),
            Route::ToHost { .. } => Some(1),
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
            Route::ToDevice { pinned: false } => self.host = start + cost.until_staged(),
            Route::ToHost { pinned: false } => self.host = end,
            _ => {}
        }
        (start - self.origin, end - self.origin)
    }

    /// Puts a kernel of so many blocks into a stream that would run for `ns` once it has begun, and
    /// says from when to when it would, since the clock was set to zero.
    ///
    /// The call takes [`LAUNCH`] of the host's time, and the kernel is ready [`LAUNCH_LATENCY`]
    /// later or when its stream has come to it. It then takes min(blocks, multiprocessors) of them,
    /// from the first moment on from which so many are free for as long as it runs. So kernels of
    /// different streams run one after the other, unless one leaves multiprocessors free that
    /// suffice for the other. (A GPU is less strict: it starts single blocks of the second kernel
    /// as blocks of the first end, and lets both share a multiprocessor.)
    pub fn launch(
        &mut self,
        figures: &Figures,
        blocks: u64,
        ns: Nanoseconds,
        stream: usize,
    ) -> (Nanoseconds, Nanoseconds) {
        self.host += LAUNCH;
        let ready = (self.host + LAUNCH_LATENCY).max(self.streams[stream]);
        self.multiprocessors.forget_before(self.host);
        let all = u64::from(figures.multiprocessors);
        let start = self.multiprocessors.take(ready, ns, blocks.min(all), all);
        self.streams[stream] = start + ns;
        (start - self.origin, start + ns - self.origin)
    }

    /// The time at which an event recorded now would be done: an idle stream reaches it at once.
    pub fn record(&self, stream: usize) -> Nanoseconds {
        self.streams[stream].max(self.host)
    }

    /// Lets a stream wait for an event.
    pub fn wait(&mut self, stream: usize, event: Nanoseconds) {
        self.streams[stream] = self.streams[stream].max(event);
    }

    /// Whether the host's time has reached the event. Asking takes time, as it does on a GPU.
    pub fn is_done(&mut self, event: Nanoseconds) -> bool {
        self.host += QUERY;
        self.has_passed(event)
    }

    /// Whether the host's time has reached the event, asked by nobody on the time line.
    pub fn has_passed(&self, event: Nanoseconds) -> bool {
        event <= self.host
    }

    /// Lets the host wait for a stream.
    pub fn synchronize_stream(&mut self, stream: usize) {
        self.host = self.host.max(self.streams[stream]);
    }

    /// Lets the host wait for all streams.
    pub fn synchronize(&mut self) {
        self.host = self.host.max(self.latest());
    }

    /// Waits for everything and counts from zero again. Events from before stay done.
    pub fn reset(&mut self) {
        self.synchronize();
        self.origin = self.host;
    }
}
