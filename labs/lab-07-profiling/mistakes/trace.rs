//! Wrong answers to 7.4: times, places, and the text as a whole.

use super::super::trace::Event;
use super::trace_style::{RIGHT, Style, earliest, exact, quoted};
use super::{Wrong, trace_arrows, trace_names, wrong};

pub fn mistakes() -> Vec<Wrong> {
    let mut all = of_the_text();
    all.extend(trace_names::mistakes());
    all.extend(of_events());
    all.extend(of_times());
    all.extend(of_places());
    all.extend(trace_arrows::mistakes());
    all
}

/// A wrong answer to 7.4.
pub fn trace(diagnosis: &'static str, name: &'static str, write: fn(&[Event]) -> String) -> Wrong {
    wrong("7.4", diagnosis, name, |table| table.chrome_trace = write)
}

fn of_the_text() -> Vec<Wrong> {
    vec![
        trace("7.4-trailing-comma", "a comma behind each", |events| {
            let whole = |objects: Vec<String>| {
                let each: String = objects.iter().map(|it| format!("{it},\n")).collect();
                format!("{{\"traceEvents\": [\n{each}]}}")
            };
            Style { whole, ..RIGHT }.write(events)
        }),
        trace("7.4-no-commas", "lines", |events| {
            let whole =
                |objects: Vec<String>| format!("{{\"traceEvents\": [{}]}}", objects.join("\n"));
            Style { whole, ..RIGHT }.write(events)
        }),
        trace("7.4-not-json", "single quotes", |events| RIGHT.write(events).replace('"', "'")),
        trace("7.4-no-list", "another field", |events| {
            RIGHT.write(events).replacen("traceEvents", "events", 1)
        }),
        trace("7.4-number-as-text", "all in quotes", |events| {
            let times =
                |events: &[Event], at: usize| (RIGHT.times)(events, at).map(|it| quoted(&it));
            Style { times, ..RIGHT }.write(events)
        }),
        trace("7.4-field-missing", "no dur", |events| {
            RIGHT.write(events).replace("\"dur\"", "\"duration\"")
        }),
        trace("7.4-empty", "unwrap", |events| {
            let first = events.iter().map(|event| event.start_ns).min().unwrap();
            assert_eq!(first, earliest(events));
            RIGHT.write(events)
        }),
    ]
}

fn of_events() -> Vec<Wrong> {
    vec![
        trace("7.4-begin-and-end", "B and E", |events| {
            let complete = |style: &Style, events: &[Event], at: usize| {
                let whole = (RIGHT.complete)(style, events, at).remove(0);
                let [mut begin, mut end] = [whole.clone(), whole];
                begin[0].1 = quoted("B");
                end[0].1 = quoted("E");
                end[4].1 = exact(events[at].end_ns - earliest(events));
                vec![begin, end]
            };
            Style { complete, ..RIGHT }.write(events)
        }),
        trace("7.4-no-events", "ph c", |events| {
            RIGHT.write(events).replace("\"X\"", "\"complete\"")
        }),
        trace("7.4-events-lost", "only what took time", |events| {
            let complete = |style: &Style, events: &[Event], at: usize| {
                let mut objects = (RIGHT.complete)(style, events, at);
                objects.retain(|_| events[at].end_ns > events[at].start_ns);
                objects
            };
            Style { complete, ..RIGHT }.write(events)
        }),
        trace("7.4-events-twice", "the cause with each work", |events| {
            let complete = |style: &Style, events: &[Event], at: usize| {
                let mut objects = (RIGHT.complete)(style, events, at);
                if let Some(cause) = events[at].cause {
                    objects.extend((RIGHT.complete)(style, events, cause));
                }
                objects
            };
            Style { complete, ..RIGHT }.write(events)
        }),
        trace("7.4-process-without-name", "no names", |events| {
            Style { process: |_| None, ..RIGHT }.write(events)
        }),
        trace("7.4-process-name", "the number of the process", |events| {
            let process = |device: Option<usize>| {
                Some(device.map_or("host".to_string(), |it| format!("device {}", it + 2)))
            };
            Style { process, ..RIGHT }.write(events)
        }),
    ]
}

fn start(events: &[Event], at: usize) -> u64 {
    events[at].start_ns - earliest(events)
}

fn length(events: &[Event], at: usize) -> u64 {
    events[at].end_ns - events[at].start_ns
}

/// Both times of an event, each written by this.
fn both(events: &[Event], at: usize, write: fn(u64) -> String) -> [String; 2] {
    [write(start(events, at)), write(length(events, at))]
}

/// A trace with other times.
fn timed(events: &[Event], times: fn(&[Event], usize) -> [String; 2]) -> String {
    Style { times, ..RIGHT }.write(events)
}

fn of_times() -> Vec<Wrong> {
    let mut all = of_numbers();
    all.extend(of_the_beginning());
    all.extend(of_floats());
    all
}

fn of_numbers() -> Vec<Wrong> {
    vec![
        trace("7.4-nanoseconds", "as they are", |events| {
            timed(events, |events, at| both(events, at, |ns| ns.to_string()))
        }),
        trace("7.4-milliseconds", "a million", |events| {
            timed(events, |events, at| both(events, at, |ns| (ns as f64 / 1e6).to_string()))
        }),
        trace("7.4-seconds", "a billion", |events| {
            timed(events, |events, at| both(events, at, |ns| (ns as f64 / 1e9).to_string()))
        }),
        trace("7.4-whole-microseconds", "integers", |events| {
            timed(events, |events, at| both(events, at, |ns| (ns / 1000).to_string()))
        }),
        trace("7.4-rounded", "no digits", |events| {
            timed(events, |events, at| both(events, at, |ns| format!("{:.0}", ns as f64 / 1e3)))
        }),
        trace("7.4-one-digit", "one digit", |events| {
            timed(events, |events, at| both(events, at, |ns| format!("{:.1}", ns as f64 / 1e3)))
        }),
        trace("7.4-two-digits", "two digits", |events| {
            timed(events, |events, at| both(events, at, |ns| format!("{:.2}", ns as f64 / 1e3)))
        }),
        trace("7.4-unpadded", "no zeros", |events| {
            timed(events, |events, at| {
                both(events, at, |ns| format!("{}.{}", ns / 1000, ns % 1000))
            })
        }),
        trace("7.4-single", "f32", |events| {
            timed(events, |events, at| both(events, at, |ns| (ns as f32 / 1e3).to_string()))
        }),
        trace("7.4-rounded-ends", "dur from microseconds", |events| {
            timed(events, |events, at| {
                let (start, end) = (start(events, at), events[at].end_ns - earliest(events));
                [exact(start), (end / 1000 - start / 1000).to_string()]
            })
        }),
    ]
}

fn of_the_beginning() -> Vec<Wrong> {
    vec![
        trace("7.4-dur-is-end", "the end", |events| {
            timed(events, |events, at| {
                [start(events, at), events[at].end_ns - earliest(events)].map(exact)
            })
        }),
        trace("7.4-below-zero", "the first of the list, with a panic", |events| {
            timed(events, |events, at| {
                [events[at].start_ns - events[0].start_ns, length(events, at)].map(exact)
            })
        }),
        trace("7.4-first-in-list", "the first of the list, from 0 on", |events| {
            timed(events, |events, at| {
                let start = events[at].start_ns.saturating_sub(events[0].start_ns);
                [start, length(events, at)].map(exact)
            })
        }),
        trace("7.4-negative", "the first of the list, with a sign", |events| {
            timed(events, |events, at| {
                let start = events[at].start_ns as i64 - events[0].start_ns as i64;
                let sign = if start < 0 { "-" } else { "" };
                [format!("{sign}{}", exact(start.unsigned_abs())), exact(length(events, at))]
            })
        }),
        trace("7.4-own-clock-of-process", "each process from 0", |events| {
            timed(events, |events, at| {
                let mut own = events.to_vec();
                own.retain(|it| it.device == events[at].device);
                [events[at].start_ns - earliest(&own), length(events, at)].map(exact)
            })
        }),
        trace("7.4-own-clock-of-lane", "each lane from 0", |events| {
            timed(events, |events, at| {
                let mut own = events.to_vec();
                own.retain(|it| (it.device, it.lane) == (events[at].device, events[at].lane));
                [events[at].start_ns - earliest(&own), length(events, at)].map(exact)
            })
        }),
    ]
}

fn of_floats() -> Vec<Wrong> {
    vec![
        trace("7.4-absolute", "since 1970", |events| {
            timed(events, |events, at| [exact(events[at].start_ns), exact(length(events, at))])
        }),
        trace("7.4-floats-subtracted", "microseconds as f64", |events| {
            timed(events, |events, at| {
                let micros = |ns: u64| ns as f64 / 1e3;
                let (start, end) = (micros(events[at].start_ns), micros(events[at].end_ns));
                [start - micros(earliest(events)), end - start].map(|it| it.to_string())
            })
        }),
        trace("7.4-float-nanoseconds", "nanoseconds as f64", |events| {
            timed(events, |events, at| {
                let (start, end) = (events[at].start_ns as f64, events[at].end_ns as f64);
                let times = [start - earliest(events) as f64, end - start];
                times.map(|it| format!("{:.3}", it / 1e3))
            })
        }),
    ]
}

/// A trace with other places.
fn placed(events: &[Event], place: fn(&[Event], usize) -> [usize; 2]) -> String {
    Style { place, ..RIGHT }.write(events)
}

fn of_places() -> Vec<Wrong> {
    vec![
        trace("7.4-one-process", "all in one", |events| {
            placed(events, |events, at| [1, events[at].lane])
        }),
        trace("7.4-one-for-all-devices", "host and devices", |events| {
            placed(events, |events, at| {
                [1 + usize::from(events[at].device.is_some()), events[at].lane]
            })
        }),
        trace("7.4-device-zero-is-host", "1 + d", |events| {
            placed(events, |events, at| [1 + events[at].device.unwrap_or(0), events[at].lane])
        }),
        trace("7.4-from-zero", "d + 1, and 0", |events| {
            placed(events, |events, at| [events[at].device.map_or(0, |it| it + 1), events[at].lane])
        }),
        trace("7.4-exchanged", "the other way round", |events| {
            placed(events, |events, at| {
                let [pid, tid] = (RIGHT.place)(events, at);
                [tid, pid]
            })
        }),
        trace("7.4-lane-is-process", "pid twice", |events| {
            placed(events, |events, at| [(RIGHT.place)(events, at)[0]; 2])
        }),
        trace("7.4-lane-is-event", "a lane for each event", |events| {
            placed(events, |events, at| [(RIGHT.place)(events, at)[0], at])
        }),
        trace("7.4-no-lane", "lane 0", |events| {
            placed(events, |events, at| [(RIGHT.place)(events, at)[0], 0])
        }),
    ]
}
