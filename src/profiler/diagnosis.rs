//! The diagnosis: what slows a program down, what each fault costs, and the line that it stands in.
//!
//! A table of kernels says what takes long. It does not say what is not there: the copy that nobody
//! wrote, the wait that lets the device run dry, the launches that come too late. A diagnosis goes
//! through all the moments in which a device had nothing to compute, and through the copies that
//! nobody asked for, and sums them by cause and by line. No nanosecond of a device is counted twice.

use std::collections::{BTreeSet, HashMap};
use std::panic::Location;

use crate::device::Device;
use crate::device::driver::Nanoseconds;
use crate::profiler::event::Kind;
use crate::profiler::idle::Why;
use crate::profiler::profile::Profile;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Problem {
    /// A tensor was packed inside a call that looks like something else.
    HiddenCopy,
    /// The host waited for the device, whose queue ran empty by that.
    Synchronization,
    /// The device was done with a kernel before the host had asked for the next one.
    LaunchBound,
    /// Numbers went over the bus while the device had nothing to compute.
    Transfer,
    /// The driver was asked for memory or given some back.
    AllocatorStall,
}

/// A fault, in one line of the program.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Of which kind.
    pub problem: Problem,
    /// What would be gained if it were gone and nothing else changed. Of a hidden copy: what it takes
    /// on the device, or on the host if it is made there. Of all else: how long a device had
    /// nothing to compute because of it.
    pub cost_ns: Nanoseconds,
    /// How often.
    pub count: usize,
    /// Bytes that were copied.
    pub bytes: u64,
    /// The line: the innermost outside the engine. `None` if none is known.
    pub at: Option<&'static Location<'static>>,
    /// What ran there, by name, separated by commas.
    pub what: String,
}

/// All that costs at least [`LEAST_SHARE`] of the time, dearest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// What was found.
    pub findings: Vec<Finding>,
    /// From the first event of the profile to the last.
    pub profiled_ns: Nanoseconds,
    pub(super) modelled: Option<String>,
}

/// Below one part in a hundred of the time a fault is not worth a change.
pub const LEAST_SHARE: f64 = 0.01;

/// How many names a finding shows.
const NAMES: usize = 3;

/// A place in a program and a kind of fault.
type Key = (Problem, Option<(&'static str, u32)>);

/// A finding while it grows.
#[derive(Default)]
struct Sum {
    cost_ns: Nanoseconds,
    /// The operations that it happened in.
    operations: BTreeSet<usize>,
    names: Vec<String>,
    at: Option<&'static Location<'static>>,
}

impl Profile {
    /// What slows the program down.
    pub fn diagnosis(&self) -> Diagnosis {
        let mut sums: HashMap<Key, Sum> = HashMap::new();
        for (problem, event, cost_ns) in self.costs() {
            let at = self.line_of(event);
            let sum = sums.entry((problem, at.map(|at| (at.file(), at.line())))).or_default();
            sum.cost_ns += cost_ns;
            sum.at = at;
            let operation = self.operation_of(event);
            sum.operations.insert(operation);
            let name = self.name_of(operation);
            if !sum.names.contains(&name) {
                sum.names.push(name);
            }
        }
        let (start, end) = self.extent();
        let least = LEAST_SHARE * (end - start) as f64;
        let dear = sums.into_iter().filter(|(_, sum)| sum.cost_ns as f64 >= least);
        let bytes = self.copied_bytes();
        let mut findings: Vec<Finding> =
            dear.map(|((problem, _), sum)| sum.finding(problem, &bytes)).collect();
        findings.sort_by(|a, b| {
            let place = |it: &Finding| (it.problem, it.at.map(|at| (at.file(), at.line())));
            b.cost_ns.cmp(&a.cost_ns).then_with(|| place(a).cmp(&place(b)))
        });
        let modelled = self.modelled().map(str::to_string);
        Diagnosis { findings, profiled_ns: end - start, modelled }
    }

    /// All costs, each with the event that it is put down to.
    fn costs(&self) -> Vec<(Problem, usize, Nanoseconds)> {
        let mut costs = self.hidden_copies();
        for device in self.devices().into_iter().filter(|&device| device != Device::Cpu) {
            costs.extend(self.idle_times(device).into_iter().map(|idle| {
                let problem = match idle.why {
                    Why::Transfer => Problem::Transfer,
                    Why::Waited => Problem::Synchronization,
                    Why::Memory => Problem::AllocatorStall,
                    Why::Launch => Problem::LaunchBound,
                };
                (problem, idle.event, idle.ns)
            }));
        }
        costs
    }

    fn hidden_copies(&self) -> Vec<(Problem, usize, Nanoseconds)> {
        let events = self.events();
        let is_hidden = |at: &usize| events[*at].hidden_copy > 0;
        let on_devices = self.owners_of_device_work();
        let mut costs = Vec::new();
        for at in (0..events.len()).filter(|&at| events[at].kind.is_on_device()) {
            if let Some(copy) = self.ancestors(at).find(is_hidden) {
                costs.push((Problem::HiddenCopy, copy, events[at].duration_ns()));
            }
        }
        let on_host = (0..events.len()).filter(is_hidden).filter(|at| !on_devices.contains(at));
        costs.extend(on_host.map(|at| (Problem::HiddenCopy, at, events[at].duration_ns())));
        costs
    }

    /// The line of the program that an event comes from: the innermost that is not the engine's.
    fn line_of(&self, event: usize) -> Option<&'static Location<'static>> {
        let lines = self.ancestors(event).filter_map(|at| self.events()[at].at);
        lines.into_iter().find(|at| !is_of_engine(at))
    }

    /// The innermost operation, module or range that an event is a part of.
    fn operation_of(&self, event: usize) -> usize {
        let is_more = |&at: &usize| {
            let kind = self.events()[at].kind;
            !matches!(kind, Kind::Call(_)) && !kind.is_on_device()
        };
        self.ancestors(event).find(is_more).unwrap_or(event)
    }

    fn name_of(&self, operation: usize) -> String {
        let event = &self.events()[operation];
        match event.module {
            "" => event.name.clone(),
            module => format!("{} in {module}", event.name),
        }
    }

    /// Bytes of all copies over the bus and of hidden ones, by the operation that made them.
    fn copied_bytes(&self) -> HashMap<usize, u64> {
        let mut bytes = HashMap::new();
        for (at, event) in self.events().iter().enumerate() {
            if event.hidden_copy > 0 {
                bytes.insert(at, event.hidden_copy);
            } else if event.kind == Kind::Copy {
                *bytes.entry(self.operation_of(at)).or_default() += event.bytes;
            }
        }
        bytes
    }

    /// From the beginning of the first event to the end of the last.
    fn extent(&self) -> (Nanoseconds, Nanoseconds) {
        let starts = self.events().iter().map(|event| event.start_ns);
        let ends = self.events().iter().map(|event| event.end_ns);
        (starts.min().unwrap_or(0), ends.max().unwrap_or(0))
    }
}

impl Sum {
    fn finding(self, problem: Problem, bytes: &HashMap<usize, u64>) -> Finding {
        let mut what = self.names[..self.names.len().min(NAMES)].join(", ");
        if self.names.len() > NAMES {
            what += &format!(" and {} more", self.names.len() - NAMES);
        }
        let copied = self.operations.iter().filter_map(|at| bytes.get(at)).sum();
        let (cost_ns, count, at) = (self.cost_ns, self.operations.len(), self.at);
        Finding { problem, cost_ns, count, bytes: copied, at, what }
    }
}

/// Whether a line is one of this engine's sources. They are named as this file is.
fn is_of_engine(at: &Location) -> bool {
    let own = file!();
    let root = &own[..own.len() - "profiler/diagnosis.rs".len()];
    at.file().starts_with(root)
}
