//! Work of devices that a recording has seen asked for, and when it ran.
//!
//! A simulated GPU says so at once. NVIDIA's driver does not: there an event is recorded before and
//! after each piece of work, and the times between them are read when the device has come past
//! them all. Around a launch into an idle stream such a pair also holds the launch's own latency.

use crate::device::Device;
use crate::device::driver::{Driver, Event as Mark, Nanoseconds, Ran, Stream};
use crate::error::Error;
use crate::profiler::event::{Event, Kind};

/// A device whose work is recorded.
pub(super) struct Watched {
    pub device: Device,
    /// A mark at the beginning of the recording, and the host's time then, if the device does not
    /// say itself when something ran.
    pub base: Option<(Mark, Nanoseconds)>,
    /// What a device that says so called its beginning.
    pub origin: Nanoseconds,
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
    Known(Ran),
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
    /// Begins to watch a device: waits until it is idle.
    ///
    /// # Errors
    /// If the device has failed.
    pub fn begin(device: Device, origin: Nanoseconds) -> Result<Watched, Error> {
        let driver = device.own_driver();
        driver.synchronize()?;
        let says_itself = matches!(device, Device::Sim(_));
        let base = match says_itself {
            true => None,
            false => {
                let mark = driver.record(driver.default_stream())?;
                driver.synchronize()?;
                Some((mark, 0))
            }
        };
        Ok(Watched { device, base, origin })
    }
}

impl Pending {
    /// Whether the work of a device is recorded.
    pub fn watches(&self, device: Device) -> bool {
        self.devices.iter().any(|watched| watched.device == device)
    }

    /// The events of all work, after waiting for the devices.
    ///
    /// # Errors
    /// If a device has failed.
    pub fn resolve(self) -> Result<Vec<Event>, Error> {
        let mut events = Vec::new();
        for watched in &self.devices {
            watched.device.own_driver().synchronize()?;
        }
        for work in self.work {
            let Some(watched) = self.devices.iter().find(|it| it.device == work.device) else {
                continue;
            };
            let (start, end) = watched.times(work.device.own_driver(), work.time)?;
            events.push(Event {
                device: work.device,
                cause: Some(work.cause),
                module: work.module,
                bytes: work.bytes,
                l2_bytes: work.l2_bytes,
                flops: work.flops,
                ..Event::of_host(work.kind, &work.name, work.stream.id).between(start, end)
            });
        }
        for watched in self.devices {
            if let Some((mark, _)) = watched.base {
                watched.device.own_driver().release(mark);
            }
        }
        Ok(events)
    }
}

impl Watched {
    fn times(&self, driver: &dyn Driver, time: Time) -> Result<(u64, u64), Error> {
        match (time, &self.base) {
            (Time::Known(ran), _) => {
                let since = |ns: Nanoseconds| ns.saturating_sub(self.origin);
                Ok((since(ran.start_ns), since(ran.end_ns)))
            }
            (Time::Between(from, to), Some((base, at))) => {
                let start = at + driver.elapsed(base, &from)?;
                let end = start + driver.elapsed(&from, &to)?;
                driver.release(from);
                driver.release(to);
                Ok((start, end))
            }
            (Time::Between(..), None) => Ok((0, 0)),
        }
    }
}
