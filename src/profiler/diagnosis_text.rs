//! The words of a diagnosis.

use std::collections::BTreeSet;
use std::fmt;

use crate::profiler::diagnosis::{Diagnosis, Finding, Problem};
use crate::profiler::event::{Call, Event, Kind};
use crate::profiler::idle::is_pageable;
use crate::profiler::profile::Profile;
use crate::profiler::table::{memory, share, time};

impl Problem {
    /// Two or three words.
    pub fn name(self) -> &'static str {
        match self {
            Problem::HiddenCopy => "hidden copy",
            Problem::Synchronization => "synchronization",
            Problem::LaunchBound => "bound by launches",
            Problem::Transfer => "transfer",
            Problem::AllocatorStall => "allocator stall",
        }
    }

    /// What to do about it.
    fn advice(self) -> &'static str {
        match self {
            Problem::HiddenCopy => {
                "A call packs a tensor whose numbers lie in another order than it needs. Store \
                 them in that order, or pack them once, before the loop."
            }
            Problem::Synchronization => {
                "The host waits until the device is done, and then the device waits for the host. \
                 Read results later, and all at once."
            }
            Problem::LaunchBound => {
                "The device is done before the host has asked for more. Do the same in fewer and \
                 larger operations."
            }
            Problem::Transfer => {
                "The device computes nothing while these bytes are on their way. Copy what stays \
                 the same once"
            }
            Problem::AllocatorStall => {
                "The driver hands out memory, or takes it back, which waits for the device. Let \
                 the cache keep it: no `empty_cache` in a loop. In a first step this is normal; a \
                 schedule with warm-up leaves it out."
            }
        }
    }
}

impl Profile {
    /// What to do about a problem that these events are to blame for.
    pub(super) fn advice(&self, problem: Problem, blamed: &BTreeSet<usize>) -> String {
        let advice = problem.advice();
        let events: Vec<&Event> = blamed.iter().map(|&at| &self.events()[at]).collect();
        match problem {
            Problem::LaunchBound => format!("{advice} {}", self.kernels_and_calls(&events)),
            Problem::Transfer => format!("{advice}; {}", self.memory_and_sizes(&events)),
            Problem::Synchronization if events.iter().all(|event| is_load(event)) => {
                "A kernel is loaded when it is first needed, which waits for the device. In a \
                 first step this is normal; a schedule with warm-up leaves it out."
                    .to_string()
            }
            _ => advice.to_string(),
        }
    }

    /// What kernels and the calls that launch them take, on average.
    fn kernels_and_calls(&self, kernels: &[&Event]) -> String {
        let mean = |events: &[&Event]| {
            let sum: u64 = events.iter().map(|event| event.duration_ns()).sum();
            time(sum as f64 / events.len().max(1) as f64)
        };
        let calls: Vec<&Event> =
            kernels.iter().filter_map(|kernel| Some(&self.events()[kernel.cause?])).collect();
        let (ran, called) = (mean(kernels), mean(&calls));
        format!("Here a kernel takes {ran} and the host's call {called}, on average.")
    }

    /// From which memory copies went, and whether they look like the same one again and again. The
    /// blamed events are copies, and calls that waited for these.
    fn memory_and_sizes(&self, events: &[&Event]) -> String {
        let copies: Vec<&&Event> = events.iter().filter(|event| event.kind == Kind::Copy).collect();
        let mut advice = match copies.iter().any(|copy| is_pageable(copy)) {
            true => {
                "the host waits for a copy from pageable memory, and not for one from pinned \
                 memory (`pin_memory`, then `to_non_blocking`)."
            }
            false => "this memory is pinned, so that the host need not wait for it.",
        }
        .to_string();
        let first = copies.first().map_or(0, |copy| copy.bytes);
        if copies.len() > 1 && copies.iter().all(|copy| copy.bytes == first) {
            let (count, size) = (copies.len(), memory(first as i64));
            advice += &format!(" All {count} copies are of {size}.");
        }
        advice
    }
}

/// A path as on every system, so that two of them print the same, and without the folders that it
/// leaves again: `tests/../labs/main.rs` is what the compiler calls a file of another folder.
fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(['/', '\\']) {
        match parts.last() {
            Some(&last) if part == ".." && !last.is_empty() && last != ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

fn is_load(event: &Event) -> bool {
    event.kind == Kind::Call(Call::Load)
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let times = if self.count == 1 { "once" } else { "times" };
        let count = if self.count == 1 { String::new() } else { format!("{} ", self.count) };
        write!(f, "{}, {count}{times}", self.problem.name())?;
        if self.bytes > 0 {
            write!(f, ", {}", memory(self.bytes as i64))?;
        }
        match self.at {
            Some(at) => write!(f, ", at {}:{}", plain(at.file()), at.line())?,
            None => f.write_str(", at a line that is not known")?,
        }
        write!(f, ": {}", self.what)
    }
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let clock = match &self.modelled {
            Some(gpu) => format!("modelled, {gpu}"),
            None => "measured".to_string(),
        };
        writeln!(f, "Diagnosis of {} ({clock})", time(self.profiled_ns as f64))?;
        if self.findings.is_empty() {
            return writeln!(f, "Nothing costs one part in a hundred of it.");
        }
        for finding in &self.findings {
            let (cost, part) = (finding.cost_ns, share(finding.cost_ns, self.profiled_ns));
            writeln!(f, "{:>10}  {part:>6}  {finding}", time(cost as f64))?;
            for line in wrapped(&finding.advice) {
                writeln!(f, "{:INDENT$}{line}", "")?;
            }
        }
        Ok(())
    }
}

/// Where advice begins in a line, and how many letters of it a line has.
const INDENT: usize = 20;
const LETTERS: usize = 76;

fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("there is a first");
        match last.len() + 1 + word.len() {
            _ if last.is_empty() => last.push_str(word),
            length if length <= LETTERS => *last += &format!(" {word}"),
            _ => lines.push(word.to_string()),
        }
    }
    lines
}
