//! The trace: every event on a time line, for Perfetto and chrome://tracing.
//!
//! Source: "Trace Event Format" (Google). Complete events (`"ph": "X"`) with microseconds, and a
//! flow arrow (`"s"` to `"f"`) from a call of the host to the work that it asked for. Times count
//! from the beginning of the profile, so that an `f64` holds every nanosecond of a hundred days.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use crate::device::Device;
use crate::error::Error;
use crate::json::JsonText;
use crate::profiler::event::{Event, Kind};
use crate::profiler::profile::Profile;

impl Profile {
    /// Writes the trace to a file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn export_chrome_trace(&self, path: &Path) -> Result<(), Error> {
        let written = std::fs::write(path, self.chrome_trace());
        written.map_err(|error| Error::file(path, format!("cannot write the trace: {error}")))
    }

    /// The trace as JSON.
    pub fn chrome_trace(&self) -> String {
        let lanes = Lanes::of(self.events());
        let mut lines = lanes.names();
        for (at, event) in self.events().iter().enumerate() {
            lines.push(lanes.complete(at, event));
            if let Some(cause) = event.cause {
                lines.push(lanes.flow("\"s\"", at, &self.events()[cause]));
                lines.push(lanes.flow("\"f\", \"bp\": \"e\"", at, event));
            }
        }
        let clock =
            self.modelled().map_or("measured".to_string(), |gpu| format!("modelled, {gpu}"));
        format!(
            "{{\"displayTimeUnit\": \"ns\", \"otherData\": {{\"clock\": {}}}, \"traceEvents\": \
             [\n{}\n]}}\n",
            JsonText(&clock),
            lines.join(",\n")
        )
    }
}

/// Where events stand: the host and each device are processes, threads and streams their threads.
struct Lanes {
    /// The host, then the devices in the order in which they come up.
    devices: Vec<Device>,
    /// Processes and threads.
    lanes: BTreeSet<(usize, usize)>,
}

impl Lanes {
    fn of(events: &[Event]) -> Lanes {
        let mut lanes = Lanes { devices: vec![Device::Cpu], lanes: BTreeSet::new() };
        for event in events {
            if !lanes.devices.contains(&event.device) {
                lanes.devices.push(event.device);
            }
            let process = lanes.process(event.device);
            lanes.lanes.insert((process, event.lane));
        }
        lanes
    }

    /// Counted from 1: chrome://tracing takes process 0 for the system.
    fn process(&self, device: Device) -> usize {
        self.devices.iter().position(|&it| it == device).map_or(0, |at| 1 + at)
    }

    /// What processes and threads are called and in which order they are shown.
    fn names(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (device, process) in self.devices.iter().zip(1..) {
            let name = format!("\"name\": {}", JsonText(&device.to_string()));
            lines.push(metadata("process_name", (process, 0), &name));
            lines.push(metadata("process_sort_index", (process, 0), &sort_index(process)));
        }
        for &(process, thread) in &self.lanes {
            let kind = if process == 1 { "thread" } else { "stream" };
            let name = format!("\"name\": \"{kind} {thread}\"");
            lines.push(metadata("thread_name", (process, thread), &name));
            lines.push(metadata("thread_sort_index", (process, thread), &sort_index(thread)));
        }
        lines
    }

    fn complete(&self, at: usize, event: &Event) -> String {
        let (process, thread) = (self.process(event.device), event.lane);
        let (start, length) = (micros(event.start_ns), micros(event.duration_ns()));
        format!(
            "{{\"ph\": \"X\", \"name\": {}, \"cat\": \"{}\", \"pid\": {process}, \"tid\": \
             {thread}, \"ts\": {start}, \"dur\": {length}, \"args\": {{{}}}}}",
            JsonText(&event.name),
            event.kind.category(),
            arguments(at, event)
        )
    }

    /// One end of an arrow from a call to the work that it asked for: where that event begins.
    fn flow(&self, phase: &str, id: usize, event: &Event) -> String {
        let (process, thread) = (self.process(event.device), event.lane);
        let at = micros(event.start_ns);
        format!(
            "{{\"ph\": {phase}, \"id\": {id}, \"name\": \"asks for\", \"cat\": \"ac2g\", \"pid\": \
             {process}, \"tid\": {thread}, \"ts\": {at}}}"
        )
    }
}

fn metadata(what: &str, (process, thread): (usize, usize), argument: &str) -> String {
    format!(
        "{{\"ph\": \"M\", \"name\": \"{what}\", \"pid\": {process}, \"tid\": {thread}, \"args\": \
         {{{argument}}}}}"
    )
}

fn sort_index(index: usize) -> String {
    format!("\"sort_index\": {index}")
}

/// What the viewer shows when an event is selected.
fn arguments(at: usize, event: &Event) -> String {
    let mut out = format!("\"External id\": {at}");
    if !event.module.is_empty() {
        let _ = write!(out, ", \"Module\": {}", JsonText(event.module));
    }
    if !event.shapes.is_empty() {
        let _ = write!(out, ", \"Input Dims\": {:?}", event.shapes);
    }
    let numbers = [("bytes", event.bytes), ("flops", event.flops)];
    for (name, number) in numbers.into_iter().filter(|(_, number)| *number > 0) {
        let _ = write!(out, ", \"{name}\": {number}");
    }
    let memory = [("allocated", event.allocated), ("device allocated", event.device_allocated)];
    for (name, bytes) in memory.into_iter().filter(|(_, bytes)| *bytes != 0) {
        let _ = write!(out, ", \"{name}\": {bytes}");
    }
    if let (Some(at), Kind::Op) = (event.at, event.kind) {
        let _ = write!(out, ", \"line\": {}", JsonText(&format!("{}:{}", at.file(), at.line())));
    }
    out
}

/// Nanoseconds as microseconds with three digits behind the point: from the integer, so that none
/// is lost.
fn micros(ns: u64) -> String {
    format!("{}.{:03}", ns / 1000, ns % 1000)
}
