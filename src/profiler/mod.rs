//! The profiler: what a program spends its time on, by module, operation, call and kernel.
//!
//! A span is opened at the few doors that everything passes: a module's `call`, an operation's
//! `apply`, its backward pass, an optimizer's step, and the driver of a device. What a profile
//! shows is computed from these spans afterwards, and nothing changes them.

mod averages;
mod diagnosis;
mod diagnosis_text;
mod event;
mod idle;
mod line;
mod observed;
mod pending;
mod profile;
mod recording;
mod rounds;
mod schedule;
mod table;
mod trace;
mod work;

use std::borrow::Cow;
use std::time::Instant;

pub use averages::{Average, GroupBy, KeyAverages};
pub use diagnosis::{Diagnosis, Finding, LEAST_SHARE, Problem};
pub use event::{Call, Event, Kind};
pub use profile::Profile;
pub use schedule::{ProfilerAction, Schedule, Steps};
pub use table::SortBy;

pub(crate) use line::line_now;
pub(crate) use observed::observed;
pub(crate) use recording::{Span, is_on, span, span_at};
pub(crate) use work::{allocated, hidden_copy, unrecorded};

use crate::device::{Device, sim};
use crate::error::{Error, misuse};
use pending::{Pending, Watched};
use recording::{Clock, Wanted};

/// What to record, and when.
#[derive(Debug, Clone, Default)]
pub struct Profiler {
    devices: Vec<Device>,
    wanted: Wanted,
    schedule: Option<Schedule>,
}

/// Records all of `f` on the host and on `devices`, with shapes, memory and FLOPs.
///
/// ```
/// let (loss, profile) = profile(&[Device::Sim(0)], |p| {
///     let loss = step(&model, &batch);
///     p.step();
///     loss
/// })?;
/// println!("{}", profile.key_averages(GroupBy::Name).table(SortBy::SelfDeviceTime, 10));
/// ```
///
/// # Errors
/// If one of the devices has failed.
#[track_caller]
pub fn profile<T>(devices: &[Device], f: impl FnOnce(&Steps) -> T) -> Result<(T, Profile), Error> {
    let profiler = Profiler::new().record_shapes(true).profile_memory(true).with_flops(true);
    profiler.devices(devices).run(f)
}

impl Profiler {
    /// The host alone, and times alone.
    pub fn new() -> Profiler {
        Profiler::default()
    }

    /// Also the work of these devices. If a simulated GPU is among them, the host's time is that of
    /// the first one's clock too: *modelled*, what its calls take and how long it waits. What the
    /// host computes between them then takes no time, and two runs give one profile.
    pub fn devices(mut self, devices: &[Device]) -> Profiler {
        self.devices = devices.iter().copied().filter(|&device| device != Device::Cpu).collect();
        self
    }

    /// Also the shapes of operands.
    pub fn record_shapes(mut self, on: bool) -> Profiler {
        self.wanted.shapes = on;
        self
    }

    /// Also the bytes that are allocated and freed.
    pub fn profile_memory(mut self, on: bool) -> Profiler {
        self.wanted.memory = on;
        self
    }

    /// Also floating-point operations and bytes of operations, by formula.
    pub fn with_flops(mut self, on: bool) -> Profiler {
        self.wanted.flops = on;
        self
    }

    /// Only some of the steps, as [`Steps::step`] counts them.
    pub fn schedule(mut self, schedule: Schedule) -> Profiler {
        self.schedule = Some(schedule);
        self
    }

    /// Runs `f` and records.
    ///
    /// # Errors
    /// If one of the devices has failed.
    ///
    /// # Panics
    /// If a profile is being recorded already.
    #[track_caller]
    pub fn run<T>(self, f: impl FnOnce(&Steps) -> T) -> Result<(T, Profile), Error> {
        let clock_of = self.devices.iter().find_map(|device| match device {
            Device::Sim(n) => Some(*n),
            _ => None,
        });
        let mut pending = Pending::default();
        for &device in &self.devices {
            let origin = clock_of.map_or(0, |n| sim::clock(n).host_ns);
            pending.devices.push(Watched::begin(device, origin)?);
        }
        let clock = match clock_of {
            Some(n) => Clock::Modelled(n, sim::clock(n).host_ns),
            None => Clock::Measured(Instant::now()),
        };
        if !recording::start(clock, self.wanted, pending) {
            let message = "a profile is being recorded already; end that one first".to_string();
            misuse("profile", &[], message);
        }
        let recorded = Recorded;
        let steps = Steps::new(self.schedule);
        let result = f(&steps);
        drop(steps);
        let recording = recorded.end();
        Ok((result, Profile::of(recording, clock_of.map(|n| sim::clock(n).gpu.to_string()))?))
    }
}

/// Names the span of this thread until the guard is dropped (PyTorch's `record_function`).
#[track_caller]
pub fn record_function(name: impl Into<Cow<'static, str>>) -> Range {
    Range(span(Kind::Range, name))
}

/// A span that a program named itself; it ends when this is dropped.
#[must_use]
pub struct Range(#[allow(dead_code)] Span);

/// A recording that is on. Dropping it ends it, so that a panic does not leave it on.
struct Recorded;

impl Recorded {
    fn end(self) -> recording::Recording {
        recording::stop().expect("it was begun, and only this ends it")
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        recording::stop();
    }
}
