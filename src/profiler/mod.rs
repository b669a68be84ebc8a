//! The profiler: what a program spends its time on, by module, operation, call and kernel.
//!
//! A span is opened at the few doors that everything passes: a module's `call`, an operation's
//! `apply`, its backward pass, an optimizer's step, and the driver of a device. What a profile
//! shows is computed from these spans afterwards, and nothing changes them.

mod averages;
mod clock;
mod diagnosis;
mod diagnosis_text;
mod event;
mod flame_graph;
mod flame_svg;
mod idle;
mod line;
mod observed;
mod pending;
mod profile;
mod recording;
mod roofline;
mod roofline_table;
mod roofs;
mod rounds;
mod schedule;
mod table;
mod trace;
mod work;

use std::borrow::Cow;

pub use averages::{Average, GroupBy, KeyAverages};
pub use diagnosis::{Diagnosis, Finding, LEAST_SHARE, Problem};
pub use event::{Call, Event, Kind};
pub use flame_graph::{FlameGraph, FlameTime, Frame};
pub use profile::Profile;
pub use roofline::{Bound, HELD, Roofline, RooflineRow, Source};
pub use roofs::{Roof, Roofs};
pub use schedule::{ProfilerAction, Schedule, Steps};
pub use table::SortBy;

pub(crate) use line::line_now;
pub(crate) use observed::observed;
pub(crate) use recording::{Span, is_on, span, span_at, span_named};
pub(crate) use work::{allocated, hidden_copy, unrecorded};

use crate::device::{Device, sim};
use crate::error::{Error, misuse};
use clock::Clock;
use pending::Watched;
use recording::{Recording, Wanted};

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

    /// Also the work of these devices. If they are simulated GPUs, the host's time is *modelled*,
    /// too: what its calls to them take and how long it waits. What the host computes between them
    /// then takes no time, and two runs give one profile.
    pub fn devices(mut self, devices: &[Device]) -> Profiler {
        self.devices.clear();
        for &device in devices.iter().filter(|&&device| device != Device::Cpu) {
            if !self.devices.contains(&device) {
                self.devices.push(device);
            }
        }
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
    ///
    /// # Panics
    /// If the schedule keeps no step.
    #[track_caller]
    pub fn schedule(mut self, schedule: Schedule) -> Profiler {
        if schedule.active == 0 {
            let message = "a schedule with `active: 0` keeps no step; let 1 or more be active";
            misuse("schedule", &[], message.to_string());
        }
        self.schedule = Some(schedule);
        self
    }

    /// Runs `f` and records: what all threads do meanwhile, each thread apart.
    ///
    /// # Errors
    /// If one of the devices has failed.
    ///
    /// # Panics
    /// If a profile is being recorded already, by this thread or another, or if simulated GPUs are
    /// to be profiled together with others.
    #[track_caller]
    pub fn run<T>(self, f: impl FnOnce(&Steps) -> T) -> Result<(T, Profile), Error> {
        let recorded = Recorded::begin(&self.devices, self.wanted)?;
        let steps = Steps::new(self.schedule);
        let result = f(&steps);
        drop(steps);
        let modelled = self.devices.iter().find_map(|device| match device {
            Device::Sim(n) => Some(sim::clock(*n).gpu.to_string()),
            _ => None,
        });
        let recording = recorded.end();
        Ok((result, Profile::of(recording, modelled)?))
    }
}

/// Names the span of this thread until the guard is dropped (PyTorch's `record_function`).
#[track_caller]
pub fn record_function(name: impl Into<Cow<'static, str>>) -> Range {
    Range { _span: span(Kind::Range, name) }
}

/// A span that a program named itself; it ends when this is dropped, at the latest with the span
/// that it began in.
#[must_use]
pub struct Range {
    _span: Span,
}

/// A recording that is on, by its number. Dropping it ends it, so that a panic does not leave it
/// on.
struct Recorded(u64);

impl Recorded {
    #[track_caller]
    fn begin(devices: &[Device], wanted: Wanted) -> Result<Recorded, Error> {
        for device in devices {
            device.own_driver().synchronize()?;
        }
        let Some(number) = recording::start(Clock::of(devices), wanted) else {
            let message = "a profile is being recorded already; end that one first".to_string();
            misuse("profile", &[], message);
        };
        let recorded = Recorded(number);
        for &device in devices {
            recording::watch(number, |clock| Watched::begin(device, clock))?;
        }
        Ok(recorded)
    }

    fn end(self) -> Recording {
        recording::stop(self.0).expect("it was begun, and only this ends it")
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        if let Some(recording) = recording::stop(self.0) {
            recording.pending.release();
        }
    }
}
