//! Random nested spans, and what they sum to by the definition: tick by tick.

use std::collections::BTreeMap;

use engine_room::profiler::{Event, GroupBy, Kind, Profile};
use engine_room::rng::Generator;

/// Calls, total and self time of a name.
pub type Times = BTreeMap<String, (u64, u64, u64)>;

/// Spans of a few threads, of a few names, in random order; with recursion, straight and mutual.
pub fn random_spans(generator: &mut Generator) -> Vec<Event> {
    let mut events = Vec::new();
    for thread in 0..1 + generator.below(3) {
        let mut start = generator.below(20) as u64;
        for _ in 0..1 + generator.below(4) {
            start = inside(&mut events, thread, start, 60, generator) + generator.below(3) as u64;
        }
    }
    let order = generator.permutation(events.len());
    order.into_iter().map(|at| events[at].clone()).collect()
}

/// One span from `start` on for at most `room` ticks, with its parts; returns its end.
fn inside(
    events: &mut Vec<Event>,
    thread: usize,
    start: u64,
    room: u64,
    generator: &mut Generator,
) -> u64 {
    let length = 1 + generator.below(room as usize) as u64;
    let name = ["a", "b", "c"][generator.below(3)];
    let span = Event::of_host(Kind::Range, name, thread).between(start, start + length);
    events.push(span);
    let mut at = start + 1 + generator.below(3) as u64;
    while at + 2 < start + length {
        at = inside(events, thread, at, start + length - at - 1, generator);
        at += 1 + generator.below(6) as u64;
    }
    start + length
}

/// A name's total: the ticks at which its thread is inside it, however deep. Its self time: those
/// at which it is the innermost, which began last.
pub fn by_ticks(events: &[Event]) -> Times {
    let mut times = Times::new();
    for event in events {
        times.entry(event.name.clone()).or_default().0 += 1;
    }
    let threads = events.iter().map(|event| event.lane).max().unwrap_or(0);
    let end = events.iter().map(|event| event.end_ns).max().unwrap_or(0);
    for (thread, tick) in (0..=threads).flat_map(|thread| (0..end).map(move |tick| (thread, tick)))
    {
        let now =
            |event: &&Event| event.lane == thread && event.start_ns <= tick && tick < event.end_ns;
        for (name, (_, total, _)) in &mut times {
            *total += u64::from(events.iter().filter(now).any(|event| event.name == *name));
        }
        let innermost = events.iter().filter(now).max_by_key(|event| event.start_ns);
        if let Some(innermost) = innermost {
            times.get_mut(&innermost.name).expect("it was counted").2 += 1;
        }
    }
    times
}

/// The same of a profile.
pub fn by_profile(profile: &Profile) -> Times {
    let rows = profile.key_averages(GroupBy::Name).rows;
    let times = |row: &engine_room::profiler::Average| {
        (row.count, row.cpu_time_total, row.self_cpu_time_total)
    };
    rows.iter().map(|row| (row.key.clone(), times(row))).collect()
}
