//! The diagnosis: what slows a program down, what each fault costs, and the line that it stands in.
//!
//! A table of kernels says what takes long. It does not say what is not there: the copy that nobody
//! wrote, the wait that lets the device run dry, the launches that come too late. A diagnosis goes
//! through all the moments in which a device had nothing to compute, and through the copies that
//! nobody asked for, and sums them by cause and by line. No nanosecond of a device is counted
//! twice.

use std::collections::{BTreeSet, HashMap};
use std::panic::Location;

use crate::device::Device;
use crate::device::driver::Nanoseconds;
use crate::profiler::event::{Event, Kind};
use crate::profiler::idle::{Idle, computes, problem_of_host};
use crate::profiler::profile::Profile;
use crate::profiler::rounds::Rounds;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Problem {
    /// A tensor was packed inside a call that looks like something else. Costs what the kernels of
    /// that take; if the host packs it, as much of that time as no device computes in.
    HiddenCopy,
    /// The host waited for the device, whose queue ran empty by that: in `synchronize`, in reading
    /// up to 64 KiB of results, in loading kernels. Costs the time from when the device was done
    /// until it had work again, not that of the wait, in which it worked. At the end of a program
    /// that is nothing.
    Synchronization,
    /// The device was done with a kernel before the host had asked for the next one. Costs the time
    /// until that came.
    LaunchBound,
    /// Numbers went over the bus while the device had nothing to compute. Costs that time and,
    /// where the host waited for the copy, the time until the device had work again.
    Transfer,
    /// The driver was asked for memory or given some back, which waits for the device. Costs the
    /// time in these calls in which the device had nothing to compute and, after giving back, the
    /// time until it had work again.
    AllocatorStall,
}

/// A fault, in one line of the program.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Of which kind.
    pub problem: Problem,
    /// The time that is put down to it; see [`Problem`]. No nanosecond is in two findings, so that
    /// costs can be added. Of several devices it is the average.
    pub cost_ns: Nanoseconds,
    /// How often.
    pub count: usize,
    /// Bytes that were copied.
    pub bytes: u64,
    /// The line: the innermost outside the engine. A backward pass belongs to the line of the
    /// forward pass. `None` if none is known.
    pub at: Option<&'static Location<'static>>,
    /// What ran there, by name, separated by commas.
    pub what: String,
    /// What to do about it.
    pub advice: String,
}

/// All that costs at least [`LEAST_SHARE`] of the time, dearest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// What was found.
    pub findings: Vec<Finding>,
    /// The time of the profile: from its first event to its last. With a schedule, that of each
    /// round, without what was let pass between them.
    pub profiled_ns: Nanoseconds,
    pub(super) modelled: Option<String>,
}

/// Below one part in a hundred of the time a fault is not worth a change: that is less than the
/// clock of a GPU, and so every time, differs from run to run, and no program is without gaps.
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
    /// The events that the time is put down to.
    events: BTreeSet<usize>,
    at: Option<&'static Location<'static>>,
}

impl Profile {
    /// What slows the program down. A first step pays for what later ones find ready: kernels that
    /// are loaded, memory that is asked for. A [`Schedule`](crate::profiler::Schedule) with warm-up
    /// leaves it out.
    ///
    /// Where no device computes, the host's own time counts: hidden copies and calls for memory.
    pub fn diagnosis(&self) -> Diagnosis {
        let rounds = Rounds::of(self);
        let (costs, devices) = self.costs(&rounds);
        let mut sums: HashMap<Key, Sum> = HashMap::new();
        for Idle { problem, event, ns } in costs {
            let at = self.line_of(event);
            let sum = sums.entry((problem, at.map(|at| (at.file(), at.line())))).or_default();
            sum.cost_ns += ns;
            sum.at = at;
            sum.operations.insert(self.operation_of(event));
            sum.events.insert(event);
        }
        let profiled_ns = rounds.total_ns();
        let mut findings: Vec<Finding> = Vec::new();
        for ((problem, _), mut sum) in sums {
            sum.cost_ns /= devices;
            if sum.cost_ns as f64 >= LEAST_SHARE * profiled_ns as f64 && sum.cost_ns > 0 {
                findings.push(self.finding(problem, &sum));
            }
        }
        findings.sort_by(|a, b| {
            let place = |it: &Finding| (it.problem, it.at.map(|at| (at.file(), at.line())));
            b.cost_ns.cmp(&a.cost_ns).then_with(|| place(a).cmp(&place(b)))
        });
        let modelled = self.modelled().map(str::to_string);
        Diagnosis { findings, profiled_ns, modelled }
    }

    /// All costs, each with the event that it is put down to, and over how many devices they are
    /// to be averaged.
    fn costs(&self, rounds: &Rounds) -> (Vec<Idle>, u64) {
        let (mut costs, mut count) = (Vec::new(), 0);
        for device in self.devices() {
            let is_own = |event: &&Event| event.device == device && computes(event);
            if device == Device::Cpu || !self.events().iter().any(|event| is_own(&event)) {
                continue;
            }
            count += 1;
            costs.extend(self.hidden_copies(device));
            costs.extend(self.idle_times(device, rounds));
        }
        match count {
            0 => (self.host_times(), 1),
            count => (costs, count),
        }
    }

    /// The time in which a device makes hidden copies, in several streams or in one.
    fn hidden_copies(&self, device: Device) -> Vec<Idle> {
        let events = self.events();
        let mut copies = Vec::new();
        for (work, event) in events.iter().enumerate() {
            if event.device == device && computes(event) {
                let is_hidden = |at: &usize| events[*at].hidden_copy > 0;
                copies.extend(self.ancestors(work).find(is_hidden).map(|copy| (work, copy)));
            }
        }
        copies.sort_by_key(|&(work, _)| events[work].start_ns);
        let copies = copies.iter().map(|&(work, copy)| (&events[work], Problem::HiddenCopy, copy));
        each_moment_once(copies)
    }

    /// The host's own time, where no device computes: a moment belongs to what began first.
    fn host_times(&self) -> Vec<Idle> {
        let events = self.events();
        let own = self.host_work().into_iter();
        let own = own.filter_map(|at| Some((&events[at], problem_of_host(&events[at])?, at)));
        each_moment_once(own)
    }

    /// The operation that an event is a part of, as the program called it: the outermost one in the
    /// innermost module or range. Where there is none, that module or range.
    fn operation_of(&self, event: usize) -> usize {
        let kind = |at: &usize| self.events()[*at].kind;
        let is_more = |at: &usize| !matches!(kind(at), Kind::Call(_)) && !kind(at).is_on_device();
        let around: Vec<usize> = self.ancestors(event).filter(is_more).collect();
        let is_operation = |at: &&usize| matches!(kind(at), Kind::Op | Kind::Backward);
        let operation = around.iter().take_while(is_operation).last().or(around.first());
        operation.copied().unwrap_or(event)
    }

    fn name_of(&self, operation: usize) -> String {
        let event = &self.events()[operation];
        match event.module {
            "" => event.name.clone(),
            module => format!("{} in {module}", event.name),
        }
    }

    fn finding(&self, problem: Problem, sum: &Sum) -> Finding {
        let mut names: Vec<String> = Vec::new();
        for &operation in &sum.operations {
            let name = self.name_of(operation);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let mut what = names[..names.len().min(NAMES)].join(", ");
        if names.len() > NAMES {
            what += &format!(" and {} more", names.len() - NAMES);
        }
        Finding {
            problem,
            cost_ns: sum.cost_ns,
            count: sum.operations.len(),
            bytes: sum.events.iter().map(|&at| copied(&self.events()[at])).sum(),
            at: sum.at,
            what,
            advice: self.advice(problem, &sum.events),
        }
    }
}

/// Bytes of a hidden copy, or of one over the bus.
fn copied(event: &Event) -> u64 {
    if event.kind == Kind::Copy { event.bytes } else { event.hidden_copy }
}

impl Diagnosis {
    /// The findings of one kind, the dearest first.
    pub fn of(&self, problem: Problem) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| finding.problem == problem)
    }
}

/// The time of each event, as far as it is in none of those before; in the order of their starts.
fn each_moment_once<'a>(events: impl Iterator<Item = (&'a Event, Problem, usize)>) -> Vec<Idle> {
    let (mut from, mut times) = (0, Vec::new());
    for (span, problem, event) in events {
        let ns = span.end_ns.saturating_sub(span.start_ns.max(from));
        from = from.max(span.end_ns);
        times.extend((ns > 0).then_some(Idle { problem, event, ns }));
    }
    times
}
