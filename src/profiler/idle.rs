//! Why a device had nothing to compute: each moment in which it stood idle is put down to one event
//! of the host that it waited for.
//!
//! A device that has work in its queue goes on by itself. It stands idle after the last kernel in
//! the queue until the next one comes, and what the host did meanwhile says why none was there:
//!
//! 1. A copy between host and device was under way.
//! 2. The host was in the driver for memory, or made a copy that nobody had asked for.
//! 3. The host had waited for the device, so that the queue had run empty. The whole gap is the price
//!    of that wait: a host that does not wait has the next launch ready by then.
//! 4. None of these: the host needs longer to ask for work than the device to do it. Then the kernel
//!    before the gap was too short to cover the launch of the next one.

use std::collections::HashSet;

use crate::device::Device;
use crate::device::driver::{HostMemory, Nanoseconds, Route};
use crate::profiler::event::{Call, Event, Kind};
use crate::profiler::profile::Profile;

/// Why a device was idle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// Numbers were on their way to the device, or many of them to the host.
    Transfer,
    /// The host had waited for the device.
    Waited,
    /// The host asked the driver for memory, or gave some back.
    Memory,
    /// The host was still asking.
    Launch,
}

/// Some time in which a device had nothing to compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Idle {
    pub why: Why,
    /// The event that it is put down to: a call of the host, or a copy of the device.
    pub event: usize,
    pub ns: Nanoseconds,
}

/// Up to so many bytes a copy to the host fetches a result that somebody waits for; with more, it
/// moves data. At 12 GB/s these take 5 us, half of what a copy costs before its first byte.
const RESULT_BYTES: u64 = 64 << 10;

type Span = (Nanoseconds, Nanoseconds);

impl Profile {
    /// All idle times of a device between the beginning of the profile and its last kernel. None of
    /// them overlap.
    pub(super) fn idle_times(&self, device: Device) -> Vec<Idle> {
        let events = self.events();
        let on_device = |at: &usize| events[*at].device == device;
        let mut work: Vec<usize> = (0..events.len()).filter(on_device).collect();
        work.sort_by_key(|&at| events[at].start_ns);
        let (computing, crossing): (Vec<usize>, Vec<usize>) =
            work.into_iter().partition(|&at| computes(&events[at]));
        let mut gaps = Gaps { profile: self, crossing, host: self.host_work(), done: [0; 2] };
        let mut idle = Vec::new();
        let mut busy_until = events.iter().map(|event| event.start_ns).min().unwrap_or(0);
        let mut last = None;
        for &next in &computing {
            let gap = (busy_until, events[next].start_ns);
            if gap.0 < gap.1 {
                gaps.explain(gap, last, next, &mut idle);
            }
            if busy_until <= events[next].end_ns {
                (busy_until, last) = (events[next].end_ns, Some(next));
            }
        }
        idle
    }

    /// The host's calls to drivers, and the copies that it made itself and nobody asked for, in
    /// the order in which they began.
    fn host_work(&self) -> Vec<usize> {
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
    pub(super) fn owners_of_device_work(&self) -> HashSet<usize> {
        let mut owners = HashSet::new();
        for at in (0..self.events().len()).filter(|&at| self.events()[at].kind.is_on_device()) {
            // Whoever is in the set already has all above it in the set.
            owners.extend(
                self.ancestors(at)
                    .skip(1)
                    .take_while(|above| !owners.contains(above))
                    .collect::<Vec<_>>(),
            );
        }
        owners
    }
}

/// Whether the work keeps the device computing: a copy over the bus does not.
fn computes(event: &Event) -> bool {
    event.kind == Kind::Kernel || event.name == Route::OnDevice.name()
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
        for &at in self.crossing[self.done[0]..].iter().take_while(begun) {
            let ns = rest.take(span_of(&events[at]));
            idle.push(Idle { why: why_crossing(&events[at]), event: at, ns });
        }
        let Some(launch) = events[next].cause else { return };
        let is_before = |&at: &usize| {
            let event = &events[at];
            event.lane == events[launch].lane && event.end_ns >= gap.0 && at < launch
        };
        let before = self.host[self.done[1]..].iter().take_while(begun).copied();
        let before: Vec<usize> = before.filter(is_before).collect();
        for &at in &before {
            match events[at].kind {
                Kind::Call(Call::Alloc | Call::Free) => {
                    let ns = rest.take(span_of(&events[at]));
                    idle.push(Idle { why: Why::Memory, event: at, ns });
                }
                Kind::Call(_) => {}
                // A copy on the host, which has a cost of its own.
                _ => drop(rest.take(span_of(&events[at]))),
            }
        }
        let waited = before.iter().rev().find_map(|&at| Some((at, self.why_waiting(at)?)));
        // At the very beginning nothing is late yet.
        let short = last.map(|last| (last, Why::Launch));
        if let Some((event, why)) = waited.or(short) {
            idle.push(Idle { why, event, ns: rest.length() });
        }
        idle.retain(|it| it.ns > 0);
    }

    /// The copy over the bus that the same operation has made.
    fn copy_beside(&self, call: usize) -> Option<usize> {
        let events = self.profile.events();
        let parent = events[call].parent?;
        let mut copies = self.crossing[self.done[0]..].iter().copied();
        copies.find(|&copy| events[copy].cause.and_then(|it| events[it].parent) == Some(parent))
    }

    /// Whether the host is behind when a call returns, since the device had to come to its end.
    fn why_waiting(&self, call: usize) -> Option<Why> {
        let pageable = Route::ToDevice(HostMemory::Pageable).name();
        let events = self.profile.events();
        match events[call].kind {
            // A copy that waits is one thing with its wait.
            Kind::Call(Call::Synchronize) => match self.copy_beside(call) {
                Some(copy) => Some(why_crossing(&events[copy])),
                None => Some(Why::Waited),
            },
            Kind::Call(Call::Free) => Some(Why::Memory),
            Kind::Call(Call::Copy) => {
                let mut copies = self.crossing[self.done[0]..].iter();
                let copy = &events[*copies.find(|&&at| events[at].cause == Some(call))?];
                match why_crossing(copy) {
                    Why::Transfer if copy.name != pageable => None,
                    why => Some(why),
                }
            }
            _ => None,
        }
    }
}

fn span_of(event: &Event) -> Span {
    (event.start_ns, event.end_ns)
}

fn why_crossing(copy: &Event) -> Why {
    let to_host = [HostMemory::Pageable, HostMemory::Pinned].map(|it| Route::ToHost(it).name());
    match to_host.contains(&copy.name.as_str()) && copy.bytes <= RESULT_BYTES {
        true => Why::Waited,
        false => Why::Transfer,
    }
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
