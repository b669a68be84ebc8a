//! The rounds of a schedule: what was let pass between two of them is no time of the profile.

use crate::device::driver::Nanoseconds;
use crate::profiler::event::{Event, Kind};
use crate::profiler::profile::Profile;

/// From when to when each round went, and which events it holds. Without a schedule all of a
/// profile is one round.
pub(super) struct Rounds {
    spans: Vec<(Nanoseconds, Nanoseconds)>,
    of_events: Vec<usize>,
}

impl Rounds {
    /// Those of a profile. Steps whose numbers follow one another are of one round.
    pub fn of(profile: &Profile) -> Rounds {
        let events = profile.events();
        let (mut starts, mut last) = (Vec::new(), None);
        for step in events.iter().filter(|event| event.kind == Kind::Step) {
            let number = number_of(step);
            if last.is_none_or(|last: u64| number != last + 1) {
                starts.push(step.start_ns);
            }
            last = Some(number);
        }
        // What a device does belongs to the round in which it was asked for.
        let asked = |event: &Event| event.cause.map_or(event, |cause| &events[cause]).start_ns;
        let round = |event| starts.iter().rposition(|&start| start <= asked(event)).unwrap_or(0);
        let of_events: Vec<usize> = events.iter().map(round).collect();
        Rounds { spans: spans(events, &of_events), of_events }
    }

    /// The round of an event.
    pub fn of_event(&self, event: usize) -> usize {
        self.of_events[event]
    }

    /// When a round began.
    pub fn start(&self, round: usize) -> Nanoseconds {
        self.spans[round].0
    }

    /// The time of all rounds together.
    pub fn total_ns(&self) -> Nanoseconds {
        self.spans.iter().map(|(start, end)| end - start).sum()
    }
}

/// The number of a step, which its name ends in.
fn number_of(step: &Event) -> u64 {
    step.name.rsplit('#').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// From the beginning of a round's first event to the end of its last. Where a device still works
/// when the next round begins, that one begins later: no time is in two rounds.
fn spans(events: &[Event], of_events: &[usize]) -> Vec<(Nanoseconds, Nanoseconds)> {
    let count = of_events.iter().max().map_or(0, |&last| last + 1);
    let mut spans = vec![(Nanoseconds::MAX, 0); count];
    for (event, &round) in events.iter().zip(of_events) {
        let (start, end) = &mut spans[round];
        (*start, *end) = (event.start_ns.min(*start), event.end_ns.max(*end));
    }
    let mut from = 0;
    for (start, end) in &mut spans {
        *end = (*end).max(from);
        *start = (*start).clamp(from, *end);
        from = *end;
    }
    spans
}
