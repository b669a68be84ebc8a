//! A writer of traces, each part of which can be exchanged: 7.4.

use super::super::trace::{Event, object};

/// One object: its fields in their order.
pub type Fields = Vec<(&'static str, String)>;

/// The parts of a trace.
#[derive(Clone, Copy)]
pub struct Style {
    /// A name as JSON.
    pub text: fn(&str) -> String,
    /// `ts` and `dur` of the event at a place.
    pub times: fn(&[Event], usize) -> [String; 2],
    /// `pid` and `tid` of the event at a place.
    pub place: fn(&[Event], usize) -> [usize; 2],
    /// What stands for an event.
    pub complete: fn(&Style, &[Event], usize) -> Vec<Fields>,
    /// What a process is called.
    pub process: fn(Option<usize>) -> Option<String>,
    /// The arrows to the event at a place.
    pub arrows: fn(&Style, &[Event], usize) -> Vec<Fields>,
    /// The whole, of its objects.
    pub whole: fn(Vec<String>) -> String,
}

/// As it should be.
pub const RIGHT: Style = Style {
    text: |name| serde_json::to_string(name).unwrap(),
    times: |events, at| {
        let [start, end] = [events[at].start_ns, events[at].end_ns];
        [exact(start - earliest(events)), exact(end - start)]
    },
    place: |events, at| [events[at].device.map_or(1, |it| it + 2), events[at].lane],
    complete: |style, events, at| {
        let mut fields = vec![("ph", quoted("X")), ("name", (style.text)(&events[at].name))];
        fields.extend(style.at(events, at));
        fields.push(("dur", (style.times)(events, at)[1].clone()));
        vec![fields]
    },
    process: |device| Some(device.map_or("host".to_string(), |it| format!("device {it}"))),
    arrows: |style, events, at| {
        let Some(cause) = events[at].cause else { return Vec::new() };
        style.arrow(events, [cause, at], [at, at])
    },
    whole: |objects| format!("{{\"traceEvents\": [{}]}}", objects.join(", ")),
};

impl Style {
    /// Where an event stands, and when.
    pub fn at(&self, events: &[Event], at: usize) -> Fields {
        let [pid, tid] = (self.place)(events, at).map(|it| it.to_string());
        vec![("pid", pid), ("tid", tid), ("ts", (self.times)(events, at)[0].clone())]
    }

    /// Both ends of an arrow, at these events and with these ids.
    pub fn arrow(&self, events: &[Event], at: [usize; 2], ids: [usize; 2]) -> Vec<Fields> {
        let end = |phase: &str, side: usize| {
            let mut fields = vec![
                ("ph", quoted(phase)),
                ("id", ids[side].to_string()),
                ("name", quoted("asks for")),
                ("cat", quoted("ac2g")),
                ("bp", quoted("e")),
            ];
            fields.extend(self.at(events, at[side]));
            fields
        };
        vec![end("s", 0), end("f", 1)]
    }

    /// The trace.
    pub fn write(&self, events: &[Event]) -> String {
        let mut objects = Vec::new();
        for at in 0..events.len() {
            let [pid, _] = (self.place)(events, at);
            if let Some(name) = (self.process)(events[at].device) {
                let args = object(&[("name", quoted(&name))]);
                let ph = ("ph", quoted("M"));
                let name = ("name", quoted("process_name"));
                objects.push(object(&[ph, name, ("pid", pid.to_string()), ("args", args)]));
            }
            let own = (self.complete)(self, events, at).into_iter();
            objects.extend(own.chain((self.arrows)(self, events, at)).map(|it| object(&it)));
        }
        (self.whole)(objects)
    }
}

pub fn quoted(word: &str) -> String {
    format!("\"{word}\"")
}

pub fn earliest(events: &[Event]) -> u64 {
    events.iter().map(|event| event.start_ns).min().unwrap_or(0)
}

/// Microseconds.
pub fn exact(ns: u64) -> String {
    format!("{}.{:03}", ns / 1000, ns % 1000)
}
