//! A profile: the events of a recording, and what follows from them.

use std::cmp::Reverse;

use crate::device::driver::Nanoseconds;
use crate::error::Error;
use crate::profiler::event::{Event, Kind};
use crate::profiler::recording::Recording;

/// The events of a recording, in the order in which they began; those of devices come last.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Profile {
    events: Vec<Event>,
    /// The GPU that was modelled, if the times are.
    modelled: Option<String>,
}

impl Profile {
    /// Of events that come from elsewhere. Their parents are found by time: the shortest span of
    /// the same thread that holds one; of two equal ones the earlier in the list holds the later.
    pub fn from_events(mut events: Vec<Event>) -> Profile {
        let mut order: Vec<usize> = (0..events.len()).collect();
        let place = |event: &Event| (event.lane, event.start_ns, Reverse(event.end_ns));
        order.sort_by_key(|&at| (events[at].kind.is_on_device(), place(&events[at])));
        let mut open: Vec<usize> = Vec::new();
        for at in order {
            let event = &events[at];
            let holds = |&outer: &usize| {
                let outer = &events[outer];
                outer.lane == event.lane && event.end_ns <= outer.end_ns
            };
            open.truncate(open.iter().rposition(holds).map_or(0, |last| last + 1));
            let parent = open.last().copied();
            if !events[at].kind.is_on_device() {
                events[at].parent = parent;
                open.push(at);
            }
        }
        Profile { events, modelled: None }
    }

    /// What a recording leaves.
    ///
    /// # Errors
    /// If a device has failed.
    pub(super) fn of(recording: Recording, modelled: Option<String>) -> Result<Profile, Error> {
        let mut events = recording.events;
        let hosts = events.len();
        events.extend(recording.pending.resolve()?);
        let mut profile = Profile { events: kept(events, hosts, &recording.turns), modelled };
        profile.count_flops_once();
        Ok(profile)
    }

    /// All events.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The simulated GPU whose clock told the times; `None` if they are measured.
    pub fn modelled(&self) -> Option<&str> {
        self.modelled.as_deref()
    }

    /// The time of an event without its direct parts.
    pub fn self_ns(&self, event: usize) -> Nanoseconds {
        self.self_times()[event]
    }

    /// The time of each event without its direct parts.
    pub fn self_times(&self) -> Vec<Nanoseconds> {
        let mut times: Vec<Nanoseconds> = self.events.iter().map(Event::duration_ns).collect();
        for event in &self.events {
            if let Some(parent) = event.parent {
                times[parent] = times[parent].saturating_sub(event.duration_ns());
            }
        }
        times
    }

    /// An event and all that it is a part of, from the inside out. What runs on a device is part of
    /// the call that asked for it.
    pub fn ancestors(&self, event: usize) -> impl Iterator<Item = usize> {
        let above = |&at: &usize| self.events[at].cause.or(self.events[at].parent);
        std::iter::successors(Some(event), above)
    }

    /// An operation that consists of others does no work of its own beside theirs.
    fn count_flops_once(&mut self) {
        for at in (0..self.events.len()).rev() {
            let counted = self.events[at].flops > 0 && self.events[at].kind == Kind::Op;
            let above: Vec<usize> = self.ancestors(at).skip(1).collect();
            if counted {
                above.into_iter().for_each(|above| self.events[above].flops = 0);
            }
        }
    }
}

/// The events that are to be kept, with their indices set right. `turns` says from which index on
/// events are kept and from which on not, in turns; work of a device goes with its call.
fn kept(events: Vec<Event>, hosts: usize, turns: &[usize]) -> Vec<Event> {
    let is_kept = |at: usize| turns.iter().filter(|&&turn| turn <= at).count() % 2 == 1;
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
