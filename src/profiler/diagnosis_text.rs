//! The words of a diagnosis.

use std::fmt;

use crate::profiler::diagnosis::{Diagnosis, Finding, Problem};
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
    pub fn advice(self) -> &'static str {
        match self {
            Problem::HiddenCopy => {
                "A call packs a tensor whose numbers lie in another order than it needs. Store them in \
                 that order, or pack them once, before the loop."
            }
            Problem::Synchronization => {
                "The host waits until the device is done, and then the device waits for the host. Read \
                 results later, and all at once."
            }
            Problem::LaunchBound => {
                "The device is done before the host has asked for more. Do the same in fewer and \
                 larger operations."
            }
            Problem::Transfer => {
                "The device computes nothing while these bytes are on their way. Copy what stays the \
                 same once; copy the rest from pinned memory while the device computes."
            }
            Problem::AllocatorStall => {
                "The driver hands out memory, or takes it back, which waits for the device. Let the \
                 cache keep it: no `empty_cache` in a loop. In a first step this is normal."
            }
        }
    }
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
            Some(at) => write!(f, ", at {}:{}", at.file(), at.line())?,
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
            writeln!(f, "{:20}{}", "", finding.problem.advice())?;
        }
        Ok(())
    }
}
