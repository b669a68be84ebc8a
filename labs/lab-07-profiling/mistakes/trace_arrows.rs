//! Wrong answers to 7.4: arrows.

use super::super::trace::Event;
use super::Wrong;
use super::trace::trace;
use super::trace_style::{Fields, RIGHT, Style, earliest, exact, quoted};

pub fn mistakes() -> Vec<Wrong> {
    let mut all = of_the_count();
    all.extend(of_the_ends());
    all.extend(of_the_times());
    all.extend(of_the_fields());
    all.extend(of_ids());
    all
}

/// A trace with other arrows.
fn arrows(events: &[Event], arrows: fn(&Style, &[Event], usize) -> Vec<Fields>) -> String {
    Style { arrows, ..RIGHT }.write(events)
}

fn of_the_count() -> Vec<Wrong> {
    vec![
        trace("7.4-no-arrows", "none", |events| arrows(events, |_, _, _| Vec::new())),
        trace("7.4-half-an-arrow", "beginnings once a call", |events| {
            arrows(events, |style, events, at| {
                let mut both = (RIGHT.arrows)(style, events, at);
                let first = events.iter().position(|it| it.cause == events[at].cause);
                if first != Some(at) && !both.is_empty() {
                    both.remove(0);
                }
                both
            })
        }),
        trace("7.4-arrow-for-every-event", "unwrap_or(0)", |events| {
            arrows(events, |style, events, at| {
                style.arrow(events, [events[at].cause.unwrap_or(0), at], [at, at])
            })
        }),
        trace("7.4-one-arrow-a-cause", "one for each call", |events| {
            arrows(events, |style, events, at| {
                let work = events.iter().position(|it| it.cause == Some(at));
                work.map_or(Vec::new(), |work| style.arrow(events, [at, work], [at, at]))
            })
        }),
        trace("7.4-cause-zero", "0 is none", |events| {
            arrows(events, |style, events, at| match events[at].cause.unwrap_or(0) {
                0 => Vec::new(),
                cause => style.arrow(events, [cause, at], [at, at]),
            })
        }),
        trace("7.4-arrows-missing", "only to stream 0", |events| {
            arrows(events, |style, events, at| match events[at].lane {
                0 => (RIGHT.arrows)(style, events, at),
                _ => Vec::new(),
            })
        }),
    ]
}

/// A trace in which something of both ends of each arrow is changed.
fn changed(
    style: &Style,
    events: &[Event],
    at: usize,
    change: fn(&mut [Fields], &[Event], [usize; 2]),
) -> Vec<Fields> {
    let mut both = (RIGHT.arrows)(style, events, at);
    if let Some(cause) = events[at].cause {
        change(&mut both, events, [cause, at]);
    }
    both
}

fn set(fields: &mut Fields, name: &str, value: String) {
    let field = fields.iter_mut().find(|(field, _)| *field == name);
    field.expect("every end has it").1 = value;
}

fn of_the_ends() -> Vec<Wrong> {
    let mut all = of_one_end();
    all.extend(of_the_other_end());
    all
}

fn of_one_end() -> Vec<Wrong> {
    vec![
        trace("7.4-backwards", "from the work to the call", |events| {
            arrows(events, |style, events, at| {
                changed(style, events, at, |both, _, _| {
                    set(&mut both[0], "ph", quoted("f"));
                    set(&mut both[1], "ph", quoted("s"));
                })
            })
        }),
        trace("7.4-both-at-work", "the work's lane", |events| {
            arrows(events, |style, events, at| {
                changed(style, events, at, |both, events, [_, work]| {
                    let [pid, tid] = (RIGHT.place)(events, work).map(|it| it.to_string());
                    set(&mut both[0], "pid", pid);
                    set(&mut both[0], "tid", tid);
                })
            })
        }),
        trace("7.4-both-at-cause", "the call's lane", |events| {
            arrows(events, |style, events, at| {
                changed(style, events, at, |both, events, [cause, _]| {
                    let [pid, tid] = (RIGHT.place)(events, cause).map(|it| it.to_string());
                    set(&mut both[1], "pid", pid);
                    set(&mut both[1], "tid", tid);
                })
            })
        }),
    ]
}

fn of_the_times() -> Vec<Wrong> {
    vec![
        trace("7.4-at-works-time", "the work's start", |events| {
            arrows(events, |style, events, at| {
                changed(style, events, at, |both, events, [_, work]| {
                    set(&mut both[0], "ts", exact(events[work].start_ns - earliest(events)));
                })
            })
        }),
        trace("7.4-at-causes-time", "the call's start", |events| {
            arrows(events, |style, events, at| {
                changed(style, events, at, |both, events, [cause, _]| {
                    set(&mut both[1], "ts", exact(events[cause].start_ns - earliest(events)));
                })
            })
        }),
    ]
}

fn of_the_other_end() -> Vec<Wrong> {
    vec![
        trace("7.4-end-of-cause", "when the call returns", |events| {
            arrows(events, |style, events, at| {
                changed(style, events, at, |both, events, [cause, _]| {
                    set(&mut both[0], "ts", exact(events[cause].end_ns - earliest(events)));
                })
            })
        }),
        trace("7.4-end-of-work", "when the work is done", |events| {
            arrows(events, |style, events, at| {
                changed(style, events, at, |both, events, [_, work]| {
                    set(&mut both[1], "ts", exact(events[work].end_ns - earliest(events)));
                })
            })
        }),
    ]
}

fn of_the_fields() -> Vec<Wrong> {
    vec![
        trace("7.4-no-binding-point", "no bp", |events| {
            arrows(events, |style, events, at| {
                let mut both = (RIGHT.arrows)(style, events, at);
                both.iter_mut().for_each(|end| end.retain(|(name, _)| *name != "bp"));
                both
            })
        }),
        trace("7.4-two-names", "a name for each end", |events| {
            arrows(events, |style, events, at| {
                changed(style, events, at, |both, _, _| set(&mut both[1], "name", quoted("runs")))
            })
        }),
    ]
}

fn of_ids() -> Vec<Wrong> {
    vec![
        trace("7.4-two-ids", "a number for each end", |events| {
            arrows(events, |style, events, at| match events[at].cause {
                Some(cause) => style.arrow(events, [cause, at], [2 * at, 2 * at + 1]),
                None => Vec::new(),
            })
        }),
        trace("7.4-one-id", "1", |events| {
            arrows(events, |style, events, at| match events[at].cause {
                Some(cause) => style.arrow(events, [cause, at], [1, 1]),
                None => Vec::new(),
            })
        }),
        trace("7.4-id-of-cause", "the cause", |events| {
            arrows(events, |style, events, at| match events[at].cause {
                Some(cause) => style.arrow(events, [cause, at], [cause, cause]),
                None => Vec::new(),
            })
        }),
        trace("7.4-id-shared", "the stream", |events| {
            arrows(events, |style, events, at| match events[at].cause {
                Some(cause) => style.arrow(events, [cause, at], [events[at].lane; 2]),
                None => Vec::new(),
            })
        }),
    ]
}
