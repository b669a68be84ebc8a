//! A profile: the events of a recording, and what follows from them.

use std::cmp::Reverse;

use crate::device::Device;
use crate::device::driver::Nanoseconds;
use crate::error::{Error, misuse};
use crate::profiler::event::{Event, Kind};
use crate::profiler::recording::Recording;

/// The events of a recording, in the order in which they began; those of devices come last.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Profile {
    events: Vec<Event>,
    /// The time of each without its direct parts.
    self_times: Vec<Nanoseconds>,
    /// The GPU that was modelled, if the times are.
    modelled: Option<String>,
}

impl Profile {
    /// Of events that come from elsewhere, in any order. Their parents are found by time, whatever
    /// they say themselves: the innermost span of the same thread in which one begins and does not
    /// outlast it. Of two equal ones the earlier in the list holds the later; where one ends, the
    /// next begins outside it. Spans of one thread that overlap in part lie side by side, as in
    /// PyTorch.
    ///
    /// # Panics
    /// If the cause of an event is none of the list's events of the host.
    #[track_caller]
    pub fn from_events(mut events: Vec<Event>) -> Profile {
        let host = |at: usize| events.get(at).is_some_and(|event| !event.kind.is_on_device());
        if let Some(event) = events.iter().find(|event| !event.cause.is_none_or(host)) {
            let (name, cause) = (&event.name, event.cause.unwrap_or_default());
            let message = format!(
                "the cause of event {name:?} is number {cause} in the list, and that is no event \
                 of the host; work of a device is asked for by a call of the host"
            );
            misuse("from_events", &[], message);
        }
        for (event, parent) in parents(&events) {
            events[event].parent = parent;
        }
        Profile::with_self_times(events, None)
    }

    /// What a recording leaves.
    ///
    /// # Errors
    /// If a device has failed.
    pub(super) fn of(recording: Recording, modelled: Option<String>) -> Result<Profile, Error> {
        let mut events = recording.events;
        let hosts = events.len();
        events.extend(recording.pending.resolve(&events)?);
        let mut events = kept(events, hosts, &recording.turns);
        count_flops_once(&mut events);
        Ok(Profile::with_self_times(events, modelled))
    }

    fn with_self_times(events: Vec<Event>, modelled: Option<String>) -> Profile {
        let mut self_times: Vec<Nanoseconds> = events.iter().map(Event::duration_ns).collect();
        for event in &events {
            if let Some(parent) = event.parent {
                self_times[parent] = self_times[parent].saturating_sub(event.duration_ns());
            }
        }
        Profile { events, self_times, modelled }
    }

    /// All events.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Where events ran, in the order in which the devices come up.
    pub(super) fn devices(&self) -> Vec<Device> {
        let mut devices = Vec::new();
        for event in &self.events {
            if !devices.contains(&event.device) {
                devices.push(event.device);
            }
        }
        devices
    }

    /// The simulated GPU whose clock told the times; `None` if they are measured.
    pub fn modelled(&self) -> Option<&str> {
        self.modelled.as_deref()
    }

    /// The time of an event without its direct parts.
    pub fn self_ns(&self, event: usize) -> Nanoseconds {
        self.self_times[event]
    }

    /// The time of each event without its direct parts.
    pub fn self_times(&self) -> &[Nanoseconds] {
        &self.self_times
    }

    /// An event and all that it is a part of, from the inside out. What runs on a device is part of
    /// the call that asked for it.
    pub fn ancestors(&self, event: usize) -> impl Iterator<Item = usize> {
        let above = |&at: &usize| self.events[at].above();
        std::iter::successors(Some(event), above)
    }
}

/// The parent of each event of the host.
fn parents(events: &[Event]) -> Vec<(usize, Option<usize>)> {
    let mut order: Vec<usize> = (0..events.len()).collect();
    order.retain(|&at| !events[at].kind.is_on_device());
    let place = |event: &Event| (event.lane, event.start_ns, Reverse(event.end_ns));
    order.sort_by_key(|&at| place(&events[at]));
    let mut open: Vec<usize> = Vec::new();
    let mut found = Vec::with_capacity(order.len());
    for at in order {
        let event = &events[at];
        let holds = |outer: &Event| {
            let begins_in = outer.lane == event.lane && event.start_ns < outer.end_ns;
            begins_in && event.end_ns <= outer.end_ns
        };
        while open.last().is_some_and(|&outer| !holds(&events[outer])) {
            open.pop();
        }
        found.push((at, open.last().copied()));
        open.push(at);
    }
    found
}

/// An operation that consists of others does no work of its own beside theirs. Events come after
/// what they are a part of.
fn count_flops_once(events: &mut [Event]) {
    let mut has_counted = vec![false; events.len()];
    for at in (0..events.len()).rev() {
        let event = &mut events[at];
        let counts = event.flops > 0 && event.kind == Kind::Op;
        if let Some(above) = event.above().filter(|_| counts || has_counted[at]) {
            has_counted[above] = true;
        }
        if has_counted[at] {
            event.flops = 0;
        }
    }
}

/// The events that are to be kept, with their indices set right. `turns` says from which index on
/// events are kept and from which on not, in turns; work of a device goes with its call.
fn kept(events: Vec<Event>, hosts: usize, turns: &[usize]) -> Vec<Event> {
    let is_kept = |at: usize| turns.partition_point(|&turn| turn <= at) % 2 == 1;
    let keep = |at: usize, event: &Event| match event.cause {
        Some(cause) if at >= hosts => is_kept(cause),
        _ => is_kept(at),
    };
    let mut places = Vec::with_capacity(events.len());
    let mut kept: Vec<Event> = Vec::new();
    for (at, mut event) in events.into_iter().enumerate() {
        let keep = keep(at, &event);
        places.push(keep.then_some(kept.len()));
        if keep {
            event.parent = event.parent.and_then(|parent| places[parent]);
            event.cause = event.cause.and_then(|cause| places[cause]);
            kept.push(event);
        }
    }
    kept
}
