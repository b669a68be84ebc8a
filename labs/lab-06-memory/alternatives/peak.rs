//! Other right ways to find the peak: 6.3.

use engine_room::memory::Role;

use super::super::events::{ByRole, Event, Peak};
use super::{Other, other};

pub fn alternatives() -> Vec<Other> {
    vec![
        other("6.3", "all points, then the first highest", |table| table.peak = all_points),
        other("6.3", "running totals with max", |table| table.peak = with_totals),
    ]
}

fn after(mut live: ByRole, event: &Event) -> ByRole {
    match *event {
        Event::Alloc { bytes, role } => live[role as usize] += bytes,
        Event::Free { bytes, role } => live[role as usize] -= bytes,
        Event::ResetPeak => {}
    }
    live
}

fn all_points(before: &ByRole, events: &[Event]) -> Peak {
    let mut points = vec![*before];
    for event in events {
        let live = after(points[points.len() - 1], event);
        if *event == Event::ResetPeak {
            points.clear();
        }
        points.push(live);
    }
    let sums: Vec<u64> = points.iter().map(|point| point.iter().sum()).collect();
    let bytes = sums.iter().copied().max().expect("there is always a point");
    let at = sums.iter().position(|&sum| sum == bytes).expect("it is one of them");
    Peak { bytes, by_role: points[at] }
}

fn with_totals(before: &ByRole, events: &[Event]) -> Peak {
    let mut live = before.map(|bytes| bytes as i64);
    let mut total: i64 = live.iter().sum();
    let mut highest = total;
    let mut by_role = *before;
    for event in events {
        let change = |bytes: u64, role: Role, sign: i64| (role as usize, sign * bytes as i64);
        let (role, bytes) = match *event {
            Event::Alloc { bytes, role } => change(bytes, role, 1),
            Event::Free { bytes, role } => change(bytes, role, -1),
            Event::ResetPeak => {
                highest = i64::MIN;
                (0, 0)
            }
        };
        live[role] += bytes;
        total += bytes;
        if total > highest {
            by_role = live.map(|bytes| bytes as u64);
        }
        highest = highest.max(total);
    }
    Peak { bytes: highest as u64, by_role }
}
