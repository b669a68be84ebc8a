//! Work of devices that a recording has seen asked for, and when it ran.
//!
//! A simulated GPU says so at once. NVIDIA's driver does not: there an event is recorded before and
//! after each piece of work, and the times between them are read when the device has come past
//! them all. Around a launch into an idle stream such a pair also holds the launch's own latency.

use std::collections::BTreeMap;

use crate::device::Device;
use crate::device::driver::{Event as Mark, Nanoseconds, Stream};
use crate::error::Error;
use crate::profiler::clock::Clock;
use crate::profiler::event::{Event, Kind};

/// How far behind a mark times are read. CUDA gives them in `f32` milliseconds, which a second
/// later still tell 60 ns apart.
const FAR: Nanoseconds = 1_000_000_000;

/// A device whose work is recorded.
pub(super) struct Watched {
    device: Device,
    /// A mark at the beginning of the recording, and the host's time then, if the device does not
    /// say itself when something ran.
    base: Option<(Mark, Nanoseconds)>,
}

/// A piece of work.
pub(super) struct Work {
    pub device: Device,
    pub stream: Stream,
    pub kind: Kind,
    pub name: String,
    pub module: &'static str,
    /// The event of the call that asked for it.
    pub cause: usize,
    pub bytes: u64,
    pub l2_bytes: u64,
    pub flops: u64,
    pub time: Time,
}

/// When it ran.
pub(super) enum Time {
    /// From when to when, by the clock of the recording.
    Known(Nanoseconds, Nanoseconds),
    /// Between two marks in its stream.
    Between(Mark, Mark),
}

/// All of it.
#[derive(Default)]
pub(super) struct Pending {
    pub devices: Vec<Watched>,
    pub work: Vec<Work>,
}

impl Watched {
    /// Begins to watch a device, which is idle.
    ///
    /// # Errors
    /// If the device has failed.
    pub fn begin(device: Device, clock: &mut Clock) -> Result<Watched, Error> {
        let base = match device {
            Device::Sim(_) => None,
            _ => {
                let driver = device.own_driver();
                Some((driver.record(driver.default_stream())?, clock.now()))
            }
        };
        Ok(Watched { device, base })
    }

    /// The events of this device's work, which is done.
    fn resolve(self, work: Vec<Work>, hosts: &[Event]) -> Result<Vec<Event>, Error> {
        let mut marks = Marks::new(self.device, self.base);
        let mut events = Vec::new();
        for work in work {
            let (start, end) = marks.times(work.stream, work.time)?;
            events.push(Event {
                device: work.device,
                cause: Some(work.cause),
                module: work.module,
                bytes: work.bytes,
                l2_bytes: work.l2_bytes,
                flops: work.flops,
                ..Event::of_host(work.kind, work.name, work.stream.id).between(start, end)
            });
        }
        marks.release();
        set_clock(&mut events, hosts);
        Ok(events)
    }
}

/// Two clocks are read one after the other, so they are set by a few microseconds wrong. No work
/// begins before it is asked for: that says by how much at least.
fn set_clock(events: &mut [Event], hosts: &[Event]) {
    let early = |event: &Event| {
        let asked = event.cause.map_or(0, |cause| hosts[cause].start_ns);
        asked.saturating_sub(event.start_ns)
    };
    let shift = events.iter().map(early).max().unwrap_or(0);
    for event in events {
        event.start_ns += shift;
        event.end_ns += shift;
    }
}

impl Pending {
    /// Whether the work of a device is recorded.
    pub fn watches(&self, device: Device) -> bool {
        self.devices.iter().any(|watched| watched.device == device)
    }

    /// The events of all work, after waiting for the devices. `hosts` are the host's.
    ///
    /// # Errors
    /// If a device has failed.
    pub fn resolve(self, hosts: &[Event]) -> Result<Vec<Event>, Error> {
        let mut events = Vec::new();
        let mut left = self.work;
        for watched in self.devices {
            watched.device.own_driver().synchronize()?;
            let own;
            (own, left) = left.into_iter().partition(|work| work.device == watched.device);
            events.extend(watched.resolve(own, hosts)?);
        }
        Ok(events)
    }

    /// Gives the marks of all work back unread.
    pub fn release(self) {
        for work in self.work {
            if let Time::Between(from, to) = work.time {
                let driver = work.device.own_driver();
                driver.release(from);
                driver.release(to);
            }
        }
        for watched in self.devices {
            if let Some((mark, _)) = watched.base {
                watched.device.own_driver().release(mark);
            }
        }
    }
}

/// Reads the times of marks.
struct Marks {
    device: Device,
    base: Option<(Mark, Nanoseconds)>,
    /// What the times of a stream are counted from, once the beginning lies far behind.
    anchors: BTreeMap<usize, (Mark, Nanoseconds)>,
    /// When the last work of a stream ended.
    ends: BTreeMap<usize, Nanoseconds>,
}

impl Marks {
    fn new(device: Device, base: Option<(Mark, Nanoseconds)>) -> Marks {
        Marks { device, base, anchors: BTreeMap::new(), ends: BTreeMap::new() }
    }

    fn times(&mut self, stream: Stream, time: Time) -> Result<(Nanoseconds, Nanoseconds), Error> {
        let (from, to) = match time {
            Time::Known(start, end) => return Ok((start, end)),
            Time::Between(from, to) => (from, to),
        };
        let driver = self.device.own_driver();
        let Some((anchor, at)) = self.anchors.get(&stream.id).or(self.base.as_ref()) else {
            return Ok((0, 0));
        };
        let (at, last) = (*at, self.ends.get(&stream.id).copied().unwrap_or(0));
        // What a stream holds runs in order; only rounding can say otherwise.
        let start = last.max(at + driver.elapsed(anchor, &from)?);
        let end = start + driver.elapsed(&from, &to)?;
        self.ends.insert(stream.id, end);
        driver.release(from);
        let unneeded = match end - at > FAR {
            true => self.anchors.insert(stream.id, (to, end)).map(|(mark, _)| mark),
            false => Some(to),
        };
        unneeded.into_iter().for_each(|mark| driver.release(mark));
        Ok((start, end))
    }

    fn release(self) {
        let driver = self.device.own_driver();
        self.anchors.into_values().chain(self.base).for_each(|(mark, _)| driver.release(mark));
    }
}
