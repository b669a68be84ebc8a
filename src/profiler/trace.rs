//! The trace: every event on a time line, for Perfetto and chrome://tracing.
//!
//! Source: "Trace Event Format" (Google). Complete events (`"ph": "X"`) with microseconds, and a
//! flow arrow (`"s"` to `"f"`) from a call of the host to the work that it asked for. Times count
//! from the beginning of the profile, so that an `f64` holds every nanosecond.

use std::fmt::Write;
use std::io;
use std::path::Path;

use crate::device::Device;
use crate::error::Error;
use crate::profiler::event::{Event, Kind};
use crate::profiler::profile::Profile;

/// The process that stands for the host. Devices come behind it.
const HOST: usize = 1;

impl Profile {
    /// Writes the trace to a file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn export_chrome_trace(&self, path: &Path) -> Result<(), Error> {
        std::fs::write(path, self.chrome_trace()).map_err(|error: io::Error| Error::Device {
            device: path.display().to_string(),
            message: format!("the trace cannot be written: {error}"),
        })
    }

    /// The trace as JSON.
    pub fn chrome_trace(&self) -> String {
        let mut lines = self.names();
        for (at, event) in self.events().iter().enumerate() {
            lines.push(self.complete(at, event));
            if let Some(cause) = event.cause {
                lines.extend(self.arrow(at, &self.events()[cause], event));
            }
        }
        let clock =
            self.modelled().map_or("measured".to_string(), |gpu| format!("modelled, {gpu}"));
        format!(
            "{{\"displayTimeUnit\": \"ns\", \"otherData\": {{\"clock\": {}}}, \"traceEvents\": \
             [\n{}\n]}}\n",
            text(&clock),
            lines.join(",\n")
        )
    }

    /// The devices of the profile, in the order in which they come up.
    pub(super) fn devices(&self) -> Vec<Device> {
        let mut devices = Vec::new();
        for event in self.events() {
            if !devices.contains(&event.device) {
                devices.push(event.device);
            }
        }
        devices
    }

    fn process(&self, device: Device) -> usize {
        let on_devices = self.devices();
        let mut others = on_devices.iter().filter(|&&it| it != Device::Cpu);
        match device {
            Device::Cpu => HOST,
            device => others.position(|&it| it == device).map_or(HOST, |place| HOST + 1 + place),
        }
    }

    /// What processes are called.
    fn names(&self) -> Vec<String> {
        let name = |device: &Device| {
            let (process, name) = (self.process(*device), device.to_string());
            format!(
                "{{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": {process}, \"tid\": 0, \
                 \"args\": {{\"name\": {}}}}}",
                text(&name)
            )
        };
        self.devices().iter().map(name).collect()
    }

    fn complete(&self, at: usize, event: &Event) -> String {
        let (process, thread) = (self.process(event.device), event.lane);
        let (start, length) = (micros(event.start_ns), micros(event.duration_ns()));
        format!(
            "{{\"ph\": \"X\", \"name\": {}, \"cat\": \"{}\", \"pid\": {process}, \"tid\": \
             {thread}, \"ts\": {start}, \"dur\": {length}, \"args\": {{{}}}}}",
            text(&event.name),
            event.kind.category(),
            arguments(at, event)
        )
    }

    /// From the call to the work.
    fn arrow(&self, id: usize, call: &Event, work: &Event) -> [String; 2] {
        let end = |phase: &str, event: &Event| {
            let (process, thread) = (self.process(event.device), event.lane);
            format!(
                "{{\"ph\": \"{phase}\", \"id\": {id}, \"name\": \"asks for\", \"cat\": \"ac2g\", \
                 \"pid\": {process}, \"tid\": {thread}, \"ts\": {}, \"bp\": \"e\"}}",
                micros(event.start_ns)
            )
        };
        [end("s", call), end("f", work)]
    }
}

/// What the viewer shows when an event is selected.
fn arguments(at: usize, event: &Event) -> String {
    let mut out = format!("\"External id\": {at}");
    if !event.module.is_empty() {
        let _ = write!(out, ", \"Module\": {}", text(event.module));
    }
    if !event.shapes.is_empty() {
        let _ = write!(out, ", \"Input Dims\": {:?}", event.shapes);
    }
    let numbers = [("bytes", event.bytes), ("flops", event.flops)];
    for (name, number) in numbers.into_iter().filter(|(_, number)| *number > 0) {
        let _ = write!(out, ", \"{name}\": {number}");
    }
    if event.allocated != 0 {
        let _ = write!(out, ", \"allocated\": {}", event.allocated);
    }
    if let (Some(at), Kind::Op) = (event.at, event.kind) {
        let _ = write!(out, ", \"line\": {}", text(&format!("{}:{}", at.file(), at.line())));
    }
    out
}

/// Nanoseconds as microseconds with three digits behind the point: from the integer, so that none
/// is lost.
fn micros(ns: u64) -> String {
    format!("{}.{:03}", ns / 1000, ns % 1000)
}

/// A string of JSON (RFC 8259, section 7). The angle bracket is escaped too, so that a trace can
/// stand inside a page.
fn text(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() || c == '<' => drop(write!(out, "\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
