//! Why a device had nothing to compute: each moment in which it stood idle is put down to one event
//! of the host that it waited for.
//!
//! A device that has work in its queue goes on by itself. It stands idle after the last kernel in
//! the queue until the next one comes, and what the host did meanwhile says why none was there:
//!
//! 1. A copy between host and device was under way.
//! 2. The host was in the driver for memory or to load kernels, or made a copy that nobody had
//!    asked for.
//! 3. The host had waited for the device, so that the queue had run empty. The whole gap is the
//!    price of that wait: a host that does not wait has the next launch ready by then. Of several
//!    waits it is the last one's, since the launch comes after that. A wait that began when the
//!    device was idle already cost nothing, unless one before had made it so.
//! 4. None of these: the host needs longer to ask for work than the device to do it. Then the
//!    kernel before the gap was too short to cover the launch of the next one. But if that launch
//!    was made long before, the gap is the device's own, and nobody's fault.

use std::collections::HashSet;

use crate::device::Device;
use crate::device::driver::{HostMemory, Nanoseconds, Route};
use crate::profiler::diagnosis::Problem;
use crate::profiler::event::{Call, Event, Kind};
use crate::profiler::profile::Profile;
use crate::profiler::rounds::Rounds;

/// Some time in which a device had nothing to compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Idle {
    pub problem: Problem,
    /// The event that it is put down to: a call of the host, or a copy of the device.
    pub event: usize,
    pub ns: Nanoseconds,
}

/// Up to so many bytes a copy to the host fetches a result that somebody waits for; with more, it
/// moves data. At 12 GB/s these take 5 us, half of what a copy costs before its first byte.
const RESULT_BYTES: u64 = 64 << 10;

/// How long a launch may be on its way to a device that waits for it: twice what a simulated GPU
/// takes ([`LAUNCH_LATENCY`](crate::device::sim::LAUNCH_LATENCY)), and a little more.
const ON_ITS_WAY: Nanoseconds = 10_000;

type Span = (Nanoseconds, Nanoseconds);

impl Profile {
    /// All idle times of a device between the beginning of a round and its last kernel, those of
    /// each round. None of them overlap.
    pub(super) fn idle_times(&self, device: Device, rounds: &Rounds) -> Vec<Idle> {
        let events = self.events();
        let on_device = |at: &usize| events[*at].device == device;
        let mut work: Vec<usize> = (0..events.len()).filter(on_device).collect();
        work.sort_by_key(|&at| events[at].start_ns);
        let (computing, crossing): (Vec<usize>, Vec<usize>) =
            work.into_iter().partition(|&at| computes(&events[at]));
        let mut gaps = Gaps { profile: self, crossing, host: self.host_work(), done: [0; 2] };
        let mut idle = Vec::new();
        let (mut busy_until, mut last): (Nanoseconds, Option<usize>) = (0, None);
        for &next in &computing {
            let round = rounds.of_event(next);
            if last.is_none_or(|last| rounds.of_event(last) != round) {
                (busy_until, last) = (busy_until.max(rounds.start(round)), None);
            }
            let gap = (busy_until, events[next].start_ns);
            if gap.0 < gap.1 {
                gaps.explain(gap, last, next, &mut idle);
            }
            if last.is_none() || busy_until <= events[next].end_ns {
                (busy_until, last) = (busy_until.max(events[next].end_ns), Some(next));
            }
        }
        idle
    }

    /// The host's calls to drivers, and the copies that it made itself and nobody asked for, in
    /// the order in which they began.
    pub(super) fn host_work(&self) -> Vec<usize> {
        let events = self.events();
        let has_device: HashSet<usize> = self.owners_of_device_work();
        let wanted = |at: &usize| match events[*at].kind {
            Kind::Call(_) => true,
            _ => events[*at].hidden_copy > 0 && !has_device.contains(at),
        };
        let mut found: Vec<usize> = (0..events.len()).filter(wanted).collect();
        found.sort_by_key(|&at| events[at].start_ns);
        found
    }

    /// All events of the host that a device did something for.
    fn owners_of_device_work(&self) -> HashSet<usize> {
        let mut owners = HashSet::new();
        for at in (0..self.events().len()).filter(|&at| self.events()[at].kind.is_on_device()) {
            // Whoever is in the set already has all above it in the set.
            for above in self.ancestors(at).skip(1) {
                if !owners.insert(above) {
                    break;
                }
            }
        }
        owners
    }
}

/// Whether the work keeps the device computing: a copy over the bus does not.
pub(super) fn computes(event: &Event) -> bool {
    event.kind == Kind::Kernel || (event.kind == Kind::Copy && !crosses(event))
}

/// Whether it is a copy over the bus.
fn crosses(event: &Event) -> bool {
    let mut routes = Route::ALL.iter().filter(|&&route| route != Route::OnDevice);
    event.kind == Kind::Copy && routes.any(|route| route.name() == event.name)
}

/// What the time is put down to that the host spends in an event and no device computes in.
pub(super) fn problem_of_host(event: &Event) -> Option<Problem> {
    match event.kind {
        Kind::Call(Call::Alloc | Call::Free) => Some(Problem::AllocatorStall),
        Kind::Call(Call::Load) => Some(Problem::Synchronization),
        Kind::Call(_) => None,
        _ => Some(Problem::HiddenCopy),
    }
}

/// What is needed to explain a gap.
struct Gaps<'a> {
    profile: &'a Profile,
    /// Copies between host and device, by their start.
    crossing: Vec<usize>,
    /// What the host did, by its start.
    host: Vec<usize>,
    /// How many of `crossing` and of `host` ended before all gaps that are left.
    done: [usize; 2],
}

impl Gaps<'_> {
    /// Shares out a gap between the kernels `last`, if there was one, and `next`.
    fn explain(&mut self, gap: Span, last: Option<usize>, next: usize, idle: &mut Vec<Idle>) {
        let events = self.profile.events();
        let ended = |&at: &usize| events[at].end_ns < gap.0;
        self.done[0] += self.crossing[self.done[0]..].iter().take_while(|at| ended(at)).count();
        self.done[1] += self.host[self.done[1]..].iter().take_while(|at| ended(at)).count();
        let mut rest = Rest(vec![gap]);
        let begun = |&&at: &&usize| events[at].start_ns < gap.1;
        let crossing: Vec<usize> =
            self.crossing[self.done[0]..].iter().take_while(begun).copied().collect();
        for &at in &crossing {
            let ns = rest.take(span_of(&events[at]));
            idle.push(Idle { problem: self.problem_of_copy(at), event: at, ns });
        }
        let Some(launch) = events[next].cause else { return };
        let is_before = |&at: &usize| {
            let event = &events[at];
            let is_earlier = (event.start_ns, at) < (events[launch].start_ns, launch);
            event.lane == events[launch].lane && event.end_ns >= gap.0 && is_earlier
        };
        let before = self.host[self.done[1]..].iter().take_while(begun).copied();
        let before: Vec<usize> = before.filter(is_before).collect();
        for &at in &before {
            if let Some(problem) = problem_of_host(&events[at]) {
                idle.push(Idle { problem, event: at, ns: rest.take(span_of(&events[at])) });
            }
        }
        let ns = rest.length();
        match self.waited(gap.0, &before, &crossing) {
            Some((problem, event)) => idle.push(Idle { problem, event, ns }),
            // At the very beginning nothing is late yet.
            None if events[launch].end_ns + ON_ITS_WAY >= gap.0 => {
                idle.extend(last.map(|event| Idle { problem: Problem::LaunchBound, event, ns }));
            }
            None => {}
        }
        idle.retain(|it| it.ns > 0);
    }

    /// The last call of `before` that waits for the device, if one of them found it busy.
    fn waited(
        &self,
        busy_until: Nanoseconds,
        before: &[usize],
        crossing: &[usize],
    ) -> Option<(Problem, usize)> {
        let events = self.profile.events();
        let found_busy = |&at: &usize| {
            let start = events[at].start_ns;
            let is_ahead = |&copy: &usize| {
                let asked = events[copy].cause.map(|cause| events[cause].start_ns);
                asked.is_some_and(|asked| asked <= start) && events[copy].end_ns > start
            };
            start < busy_until || crossing.iter().any(is_ahead)
        };
        let waits = before.iter().filter_map(|&at| Some((at, self.blamed(at, crossing)?)));
        let waits: Vec<(usize, usize)> = waits.collect();
        let any = waits.iter().any(|(at, _)| found_busy(at));
        let &(_, event) = waits.last().filter(|_| any)?;
        let problem = match events[event].kind {
            Kind::Copy => self.problem_of_copy(event),
            _ => problem_of_host(&events[event]).unwrap_or(Problem::Synchronization),
        };
        Some((problem, event))
    }

    /// What is to blame if the host is behind when a call returns, since the device had to come to
    /// its end: the call, or the copy that it waits for. `None` if it does not wait.
    fn blamed(&self, call: usize, crossing: &[usize]) -> Option<usize> {
        let events = self.profile.events();
        match events[call].kind {
            // A copy that waits is one thing with its wait.
            Kind::Call(Call::Synchronize) => {
                let parent = events[call].parent;
                let is_beside = |&copy: &usize| {
                    let cause = events[copy].cause;
                    parent.is_some() && cause.and_then(|it| events[it].parent) == parent
                };
                crossing.iter().copied().find(is_beside).or(Some(call))
            }
            Kind::Call(Call::Free | Call::Load) => Some(call),
            Kind::Call(Call::Copy) => {
                let own = crossing.iter().copied().find(|&at| events[at].cause == Some(call));
                own.filter(|&copy| is_pageable(&events[copy]))
            }
            _ => None,
        }
    }

    /// Whether a copy over the bus fetches a result that the host waits for, or moves data.
    fn problem_of_copy(&self, copy: usize) -> Problem {
        let event = &self.profile.events()[copy];
        let to_host = [HostMemory::Pageable, HostMemory::Pinned].map(|it| Route::ToHost(it).name());
        match to_host.contains(&event.name.as_str()) && event.bytes <= RESULT_BYTES {
            true => Problem::Synchronization,
            false => Problem::Transfer,
        }
    }
}

fn span_of(event: &Event) -> Span {
    (event.start_ns, event.end_ns)
}

/// Whether the host waits in the call that copies.
pub(super) fn is_pageable(copy: &Event) -> bool {
    let memory = HostMemory::Pageable;
    [Route::ToDevice(memory), Route::ToHost(memory)].iter().any(|it| it.name() == copy.name)
}

/// The parts of a gap that nothing explains yet.
struct Rest(Vec<Span>);

impl Rest {
    /// Takes out what lies within a span, and says how long that was.
    fn take(&mut self, (start, end): Span) -> Nanoseconds {
        let before = self.length();
        let parts = self.0.iter().flat_map(|&(from, to)| {
            [(from, to.min(start)), (from.max(end), to)].into_iter().filter(|(from, to)| from < to)
        });
        self.0 = parts.collect();
        before - self.length()
    }

    fn length(&self) -> Nanoseconds {
        self.0.iter().map(|(from, to)| to - from).sum()
    }
}
