//! Other right answers to 7.4.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::{Value, json};

use super::super::trace::Event;
use super::{Other, other};

pub fn alternatives() -> Vec<Other> {
    vec![
        other("7.4", "a library for JSON, and a bare list", |table| {
            table.chrome_trace = with_library;
        }),
        other("7.4", "text by hand, ASCII only, arrows at the end", |table| {
            table.chrome_trace = by_hand;
        }),
        other("7.4", "floats of differences", |table| table.chrome_trace = with_floats),
    ]
}

fn earliest(events: &[Event]) -> u64 {
    events.iter().fold(u64::MAX, |first, event| first.min(event.start_ns))
}

fn process(event: &Event) -> usize {
    match event.device {
        None => 1,
        Some(device) => 2 + device,
    }
}

fn with_library(events: &[Event]) -> String {
    let first = earliest(events);
    let micros = |ns: u64| (ns as f64) / 1000.0;
    let mut list: Vec<Value> = Vec::new();
    for (at, event) in events.iter().enumerate() {
        let place = |of: &Event, ph: &str| {
            let (pid, ts) = (process(of), micros(of.start_ns - first));
            json!({"ph": ph, "pid": pid, "tid": of.lane, "ts": ts})
        };
        let mut own = place(event, "X");
        own["name"] = json!(event.name);
        own["dur"] = json!(micros(event.end_ns - event.start_ns));
        list.push(own);
        let mut name = place(event, "M");
        name["name"] = json!("process_name");
        let process = event.device.map_or("host".to_string(), |it| format!("device {it}"));
        name["args"] = json!({ "name": process });
        list.push(name);
        for (ph, end) in event.cause.iter().flat_map(|&cause| [("s", cause), ("f", at)]) {
            let mut arrow = place(&events[end], ph);
            for (field, value) in [("name", "arrow"), ("cat", "arrow"), ("bp", "e")] {
                arrow[field] = json!(value);
            }
            arrow["id"] = json!(at + 7);
            list.push(arrow);
        }
    }
    Value::Array(list).to_string()
}

/// All beyond ASCII in digits, in pairs where one number has too many.
fn ascii(name: &str) -> String {
    let mut out = String::new();
    for unit in name.encode_utf16() {
        match unit {
            0x22 | 0x5c => out.extend(['\\', unit as u8 as char]),
            0x20..0x7f => out.push(unit as u8 as char),
            _ => write!(out, "\\u{unit:04X}").expect("a string takes everything"),
        }
    }
    out
}

fn by_hand(events: &[Event]) -> String {
    let first = earliest(events);
    let micros = |ns: u64| {
        let digits = format!("{ns:04}");
        let (whole, rest) = digits.split_at(digits.len() - 3);
        format!("{whole}.{rest}")
    };
    let place = |event: &Event| {
        let start = micros(event.start_ns - first);
        format!("\"ts\":{start},\"tid\":{},\"pid\":{}", event.lane, process(event))
    };
    let mut lines = Vec::new();
    for device in events.iter().map(|event| event.device).collect::<BTreeSet<_>>() {
        let (pid, name) = match device {
            None => (1, "host".to_string()),
            Some(device) => (device + 2, format!("device {device}")),
        };
        let args = format!("{{\"name\":\"{name}\"}}");
        let head = format!("\"ph\":\"M\",\"pid\":{pid},\"name\":\"process_name\"");
        lines.push(format!("{{{head},\"args\":{args}}}"));
    }
    for event in events {
        let (place, name) = (place(event), ascii(&event.name));
        let length = micros(event.end_ns - event.start_ns);
        lines.push(format!("{{\"ph\":\"X\",{place},\"dur\":{length},\"name\":\"{name}\"}}"));
    }
    let mut id = 1000;
    for event in events {
        if let Some(cause) = event.cause {
            id += 1;
            let both = format!("\"id\":{id},\"cat\":\"flow\",\"name\":\"flow\"");
            lines.push(format!("{{\"ph\":\"s\",{both},{}}}", place(&events[cause])));
            lines.push(format!("{{\"ph\":\"f\",\"bp\":\"e\",{both},{}}}", place(event)));
        }
    }
    format!("{{\n\"otherData\": {{}},\n\"traceEvents\": [\n{}\n]\n}}\n", lines.join(",\n"))
}

/// A difference of these times has few enough digits for an `f64`.
fn with_floats(events: &[Event]) -> String {
    let first = earliest(events);
    let text = |name: &str| Value::String(name.to_string()).to_string();
    let place = |event: &Event| {
        let start = (event.start_ns - first) as f64 / 1000.0;
        format!(r#""pid": {}, "tid": {}, "ts": {start}"#, process(event), event.lane)
    };
    let mut lines: Vec<String> = vec![];
    for (at, event) in events.iter().enumerate() {
        let length = (event.end_ns - event.start_ns) as f64 / 1000.0;
        let (place_of, name) = (place(event), text(&event.name));
        lines.push(format!(r#"{{"ph": "X", "name": {name}, {place_of}, "dur": {length:.3}}}"#));
        if let Some(cause) = event.cause {
            let ends = [("s", place(&events[cause])), ("f", place_of)];
            lines.extend(ends.map(|(ph, place)| {
                let rest = r#""bp": "e", "name": "a", "cat": "b""#;
                format!(r#"{{"ph": "{ph}", {place}, "id": {at}, {rest}}}"#)
            }));
        }
        let process_name = text(&match event.device {
            Some(device) => format!("device {device}"),
            None => "host".into(),
        });
        let args = format!(r#""args": {{"name": {process_name}}}"#);
        let pid = process(event);
        lines.push(format!(r#"{{"ph": "M", "name": "process_name", "pid": {pid}, {args}}}"#));
    }
    format!(r#"{{"traceEvents": [{}]}}"#, lines.join(", "))
}
