//! 7.4: what a learner may have thought of times, places and arrows.

use super::super::trace::Event;
use super::thoughts::Known;
use super::trace_read::{At, Complete};
use super::trace_words as words;

/// One thing about a time that is thought otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Time {
    Right,
    Nanoseconds,
    Milliseconds,
    Seconds,
    Whole,
    RoundedEnds,
    Unpadded,
    Rounded(usize),
    Absolute,
    FloatsSubtracted,
    FloatNanosecondsSubtracted,
    OfFirstInList,
    OfFirstSigned,
    OfProcess,
    OfLane,
    DurIsEnd,
    Single,
}

/// One thing about a place that is thought otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    Right,
    OneProcess,
    OneForAllDevices,
    DeviceZeroIsHost,
    FromZero,
    Exchanged,
    LaneIsProcess,
    LaneIsEvent,
    NoLane,
}

/// One thing about the ends of an arrow that is thought otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ends {
    Right,
    Backwards,
    BothAtWork,
    BothAtCause,
    AtWorksTime,
    AtCausesTime,
    EndOfCause,
    EndOfWork,
}

fn earliest<'a>(events: impl Iterator<Item = &'a Event>) -> u64 {
    events.map(|event| event.start_ns).min().unwrap_or(0)
}

/// `ts` and `dur` of an event, in microseconds.
pub fn times(events: &[Event], at: usize, thought: Time) -> (f64, f64) {
    let event = &events[at];
    let base = match thought {
        Time::OfFirstInList => events[0].start_ns,
        Time::OfProcess => earliest(events.iter().filter(|it| it.device == event.device)),
        Time::OfLane => {
            let same = |it: &&Event| (it.device, it.lane) == (event.device, event.lane);
            earliest(events.iter().filter(same))
        }
        _ => earliest(events.iter()),
    };
    let (start, length) = (event.start_ns.saturating_sub(base), event.end_ns - event.start_ns);
    let exact = |ns: u64| ns as f64 / 1000.0;
    let unpadded = |ns: u64| read(&format!("{}.{}", ns / 1000, ns % 1000));
    let single = |ns: u64| read(&(ns as f32 / 1000.0).to_string());
    let rounded = |ns: u64, digits: usize| read(&format!("{:.digits$}", exact(ns)));
    match thought {
        Time::Nanoseconds => (start as f64, length as f64),
        Time::Milliseconds => (exact(start) / 1e3, exact(length) / 1e3),
        Time::Seconds => (exact(start) / 1e6, exact(length) / 1e6),
        Time::Whole => ((start / 1000) as f64, (length / 1000) as f64),
        Time::RoundedEnds => {
            let whole = (event.end_ns - base) / 1000 - start / 1000;
            ((start / 1000) as f64, whole as f64)
        }
        Time::Unpadded => (unpadded(start), unpadded(length)),
        Time::Rounded(digits) => (rounded(start, digits), rounded(length, digits)),
        Time::Absolute => (exact(event.start_ns), exact(event.end_ns) - exact(event.start_ns)),
        Time::FloatsSubtracted => {
            (exact(event.start_ns) - exact(base), exact(event.end_ns) - exact(event.start_ns))
        }
        Time::FloatNanosecondsSubtracted => (
            (event.start_ns as f64 - base as f64) / 1000.0,
            (event.end_ns as f64 - event.start_ns as f64) / 1000.0,
        ),
        Time::OfFirstSigned => {
            let start = event.start_ns as i64 - events[0].start_ns as i64;
            (start as f64 / 1000.0, exact(length))
        }
        Time::DurIsEnd => (exact(start), exact(event.end_ns - base)),
        Time::Single => (single(start), single(length)),
        _ => (exact(start), exact(length)),
    }
}

fn read(text: &str) -> f64 {
    text.parse().unwrap_or(f64::NAN)
}

/// Whether a reader takes two numbers of microseconds for the same nanosecond.
pub fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 2e-4 + 1e-15 * b.abs()
}

/// `pid` and `tid` of an event.
pub fn place(events: &[Event], at: usize, thought: Place) -> (u64, u64) {
    let (device, lane) = (events[at].device.map(|it| it as u64), events[at].lane as u64);
    let process = device.map_or(1, |device| device + 2);
    match thought {
        Place::Right => (process, lane),
        Place::OneProcess => (1, lane),
        Place::OneForAllDevices => (if device.is_some() { 2 } else { 1 }, lane),
        Place::DeviceZeroIsHost => (device.map_or(1, |device| device + 1), lane),
        Place::FromZero => (process - 1, lane),
        Place::Exchanged => (lane, process),
        Place::LaneIsProcess => (process, process),
        Place::LaneIsEvent => (process, at as u64),
        Place::NoLane => (process, 0),
    }
}

/// Both ends of the arrow to an event.
pub fn ends(events: &[Event], cause: usize, at: usize, thought: Ends) -> [At; 2] {
    let end = |place_of: usize, ns: u64| {
        let (pid, tid) = place(events, place_of, Place::Right);
        At { pid, tid, ts: (ns - earliest(events.iter())) as f64 / 1000.0 }
    };
    let (asks, runs) = (&events[cause], &events[at]);
    match thought {
        Ends::Right => [end(cause, asks.start_ns), end(at, runs.start_ns)],
        Ends::Backwards => [end(at, runs.start_ns), end(cause, asks.start_ns)],
        Ends::BothAtWork => [end(at, asks.start_ns), end(at, runs.start_ns)],
        Ends::BothAtCause => [end(cause, asks.start_ns), end(cause, runs.start_ns)],
        Ends::AtWorksTime => [end(cause, runs.start_ns), end(at, runs.start_ns)],
        Ends::AtCausesTime => [end(cause, asks.start_ns), end(at, asks.start_ns)],
        Ends::EndOfCause => [end(cause, asks.end_ns), end(at, runs.start_ns)],
        Ends::EndOfWork => [end(cause, asks.start_ns), end(at, runs.end_ns)],
    }
}

/// The events of a run, and for each what the learner wrote for it.
pub type Written<'a> = (&'a [Event], Vec<&'a Complete>);

/// What is compared of a pair of numbers and what the learner wrote.
type Column<'a, Pair, Said> = &'a dyn Fn(Pair, &Complete) -> Said;

/// Whether each of both times is that of a thought, or else right, for all events.
pub fn are_times(runs: &[Written], thought: Time) -> bool {
    let is_near = |want: f64, got: f64, thought: Time| {
        // As coarse as the number that held it.
        let slack = match thought {
            Time::Absolute => 0.6,
            Time::Single => 1.2e-7 * got.abs(),
            _ => 0.0,
        };
        is_close(want, got) || (want - got).abs() <= slack
    };
    let all = |of: Column<(f64, f64), (f64, f64)>, thought| {
        runs.iter().all(|(events, seen)| {
            seen.iter().enumerate().all(|(at, seen)| {
                let (want, got) = of(times(events, at, thought), seen);
                is_near(want, got, thought)
            })
        })
    };
    let columns: [Column<(f64, f64), (f64, f64)>; 2] =
        [&|want, seen| (want.0, seen.at.ts), &|want, seen| (want.1, seen.dur)];
    columns.iter().all(|of| all(of, thought) || all(of, Time::Right))
}

/// The same for both numbers of a place.
pub fn are_places(runs: &[Written], thought: Place) -> bool {
    let all = |same: Column<(u64, u64), bool>, thought| {
        runs.iter().all(|(events, seen)| {
            seen.iter().enumerate().all(|(at, seen)| same(place(events, at, thought), seen))
        })
    };
    let columns: [Column<(u64, u64), bool>; 2] =
        [&|want, seen| want.0 == seen.at.pid, &|want, seen| want.1 == seen.at.tid];
    columns.iter().all(|same| all(same, thought) || all(same, Place::Right))
}

pub const TIMES: &[Known<Time>] = &[
    (Time::Nanoseconds, "7.4-nanoseconds", words::UNIT),
    (Time::Milliseconds, "7.4-milliseconds", words::UNIT),
    (Time::Seconds, "7.4-seconds", words::UNIT),
    (Time::DurIsEnd, "7.4-dur-is-end", words::DUR),
    (Time::OfFirstInList, "7.4-first-in-list", words::FIRST_IN_LIST),
    (Time::OfFirstSigned, "7.4-negative", words::FIRST_IN_LIST),
    (Time::OfProcess, "7.4-own-clock-of-process", words::ONE_CLOCK),
    (Time::OfLane, "7.4-own-clock-of-lane", words::ONE_CLOCK),
    (Time::Whole, "7.4-whole-microseconds", words::WHOLE),
    (Time::RoundedEnds, "7.4-rounded-ends", words::ROUNDED_ENDS),
    (Time::Rounded(0), "7.4-rounded", words::WHOLE),
    (Time::Rounded(1), "7.4-one-digit", words::WHOLE),
    (Time::Rounded(2), "7.4-two-digits", words::WHOLE),
    (Time::Unpadded, "7.4-unpadded", words::UNPADDED),
    (Time::FloatsSubtracted, "7.4-floats-subtracted", words::FLOATS),
    (Time::FloatNanosecondsSubtracted, "7.4-float-nanoseconds", words::FLOATS),
    (Time::Absolute, "7.4-absolute", words::ABSOLUTE),
    (Time::Single, "7.4-single", words::SINGLE),
];

pub const PLACES: &[Known<Place>] = &[
    (Place::OneProcess, "7.4-one-process", words::ONE_PROCESS),
    (Place::OneForAllDevices, "7.4-one-for-all-devices", words::ALL_DEVICES),
    (Place::DeviceZeroIsHost, "7.4-device-zero-is-host", words::DEVICE_ZERO),
    (Place::FromZero, "7.4-from-zero", words::FROM_ZERO),
    (Place::LaneIsProcess, "7.4-lane-is-process", words::LANE),
    (Place::Exchanged, "7.4-exchanged", words::EXCHANGED),
    (Place::LaneIsEvent, "7.4-lane-is-event", words::LANE),
    (Place::NoLane, "7.4-no-lane", words::LANE),
];

pub const ENDS: &[Known<Ends>] = &[
    (Ends::Backwards, "7.4-backwards", words::BACKWARDS),
    (Ends::BothAtWork, "7.4-both-at-work", words::BOTH),
    (Ends::BothAtCause, "7.4-both-at-cause", words::BOTH),
    (Ends::AtWorksTime, "7.4-at-works-time", words::UPRIGHT),
    (Ends::AtCausesTime, "7.4-at-causes-time", words::UPRIGHT),
    (Ends::EndOfCause, "7.4-end-of-cause", words::AT_END),
    (Ends::EndOfWork, "7.4-end-of-work", words::AT_END),
];
