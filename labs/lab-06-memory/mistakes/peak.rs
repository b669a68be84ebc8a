//! Wrong ways to find the peak: 6.3.

use super::super::events::{ByRole, Event, Peak};
use super::super::solution::peak as right;
use super::{Wrong, wrong};

pub fn mistakes() -> Vec<Wrong> {
    let mut all = of_the_reset();
    all.extend(of_the_roles());
    all.extend(of_the_start());
    all
}

fn peak(diagnosis: &'static str, name: &'static str, peak: fn(&ByRole, &[Event]) -> Peak) -> Wrong {
    wrong("6.3", diagnosis, name, |table| table.peak = peak)
}

fn step(live: &mut ByRole, event: &Event) {
    match *event {
        Event::Alloc { bytes, role } => live[role as usize] += bytes,
        Event::Free { bytes, role } => live[role as usize] -= bytes,
        Event::ResetPeak => {}
    }
}

fn sum(by_role: ByRole) -> Peak {
    Peak { bytes: by_role.iter().sum(), by_role }
}

fn live_after(before: &ByRole, events: &[Event]) -> ByRole {
    let mut live = *before;
    events.iter().for_each(|event| step(&mut live, event));
    live
}

/// Each role's own highest point since the last reset.
fn own_peaks(before: &ByRole, events: &[Event]) -> ByRole {
    let mut live = *before;
    let mut own = live;
    for event in events {
        step(&mut live, event);
        for role in 0..5 {
            own[role] = if *event == Event::ResetPeak { 0 } else { own[role] }.max(live[role]);
        }
    }
    own
}

/// The peak where nothing can go below 0, and where a reset may free everything.
fn saturating(mut live: ByRole, events: &[Event], reset_frees: bool) -> Peak {
    let mut peak = sum(live);
    for event in events {
        match *event {
            Event::Alloc { bytes, role } => live[role as usize] += bytes,
            Event::Free { bytes, role } => {
                live[role as usize] = live[role as usize].saturating_sub(bytes);
            }
            Event::ResetPeak => {
                live = if reset_frees { [0; 5] } else { live };
                peak = sum(live);
            }
        }
        if live.iter().sum::<u64>() > peak.bytes {
            peak = sum(live);
        }
    }
    peak
}

fn of_the_reset() -> Vec<Wrong> {
    vec![
        peak("6.3-reset-to-zero", "from 0", |before, events| {
            let mut live = *before;
            let mut peak = sum(live);
            for event in events {
                step(&mut live, event);
                if *event == Event::ResetPeak {
                    peak = sum([0; 5]);
                } else if live.iter().sum::<u64>() > peak.bytes {
                    peak = sum(live);
                }
            }
            peak
        }),
        peak("6.3-reset-ignored", "no reset", |before, events| {
            let kept: Vec<Event> =
                events.iter().copied().filter(|event| *event != Event::ResetPeak).collect();
            right(before, &kept)
        }),
        peak("6.3-below-zero", "live starts anew, too", |before, events| {
            let mut live = *before;
            let mut peak = sum(live);
            for event in events {
                step(&mut live, event);
                if *event == Event::ResetPeak {
                    live = [0; 5];
                    peak = sum(live);
                }
                if live.iter().sum::<u64>() > peak.bytes {
                    peak = sum(live);
                }
            }
            peak
        }),
    ]
}

fn of_the_roles() -> Vec<Wrong> {
    vec![
        peak("6.3-own-peaks", "each role's own peak", |before, events| Peak {
            by_role: own_peaks(before, events),
            ..right(before, events)
        }),
        peak("6.3-sum-of-peaks", "the sum of all peaks", |before, events| {
            sum(own_peaks(before, events))
        }),
        peak("6.3-last-of-equal", "at least as high", |before, events| {
            let mut live = *before;
            let mut peak = sum(live);
            for event in events {
                step(&mut live, event);
                if *event == Event::ResetPeak || live.iter().sum::<u64>() >= peak.bytes {
                    peak = sum(live);
                }
            }
            peak
        }),
        peak("6.3-roles-now", "the roles at the end", |before, events| Peak {
            by_role: live_after(before, events),
            ..right(before, events)
        }),
        peak("6.3-live-now", "memory_allocated", |before, events| sum(live_after(before, events))),
    ]
}

fn of_the_start() -> Vec<Wrong> {
    vec![
        peak("6.3-before-ignored", "from an empty device", |_, events| {
            saturating([0; 5], events, false)
        }),
        peak("6.3-start-ignored", "a first peak of 0", |before, events| {
            let mut live = *before;
            let mut peak = sum([0; 5]);
            for event in events {
                step(&mut live, event);
                if *event == Event::ResetPeak || live.iter().sum::<u64>() > peak.bytes {
                    peak = sum(live);
                }
            }
            peak
        }),
        peak("6.3-sum-of-all", "every allocation", |before, events| {
            let mut live = *before;
            let mut peak = sum(live);
            for event in events {
                if let Event::Alloc { bytes, role } = *event {
                    live[role as usize] += bytes;
                    peak = sum(live);
                }
                if *event == Event::ResetPeak {
                    peak = sum(live);
                }
            }
            peak
        }),
    ]
}
