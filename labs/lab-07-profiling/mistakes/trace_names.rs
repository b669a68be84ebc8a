//! Wrong answers to 7.4: what becomes of names.

use super::super::trace::Event;
use super::Wrong;
use super::trace::trace;
use super::trace_style::{RIGHT, Style};

pub fn mistakes() -> Vec<Wrong> {
    let mut all = of_other_languages();
    all.extend(of_forgotten_characters());
    all.extend(of_lost_characters());
    all.extend(of_digits());
    all
}

/// A trace with other texts.
fn named(events: &[Event], text: fn(&str) -> String) -> String {
    Style { text, ..RIGHT }.write(events)
}

/// Each character by itself, in quotes.
fn each(name: &str, write: fn(char) -> String) -> String {
    format!("\"{}\"", name.chars().map(write).collect::<String>())
}

/// A character as JSON writes it, with the letters for newline, return and tab.
fn escaped(c: char) -> String {
    match c {
        '"' | '\\' => format!("\\{c}"),
        '\n' => "\\n".to_string(),
        '\r' => "\\r".to_string(),
        '\t' => "\\t".to_string(),
        c if c < ' ' => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    }
}

/// The same for control characters that have a letter in no language.
fn other(c: char, write: fn(u32) -> String) -> String {
    let has_letter = ['\n', '\r', '\t'].contains(&c);
    if c < ' ' && !has_letter { write(u32::from(c)) } else { escaped(c) }
}

fn of_other_languages() -> Vec<Wrong> {
    vec![
        trace("7.4-debug", "{:?}", |events| named(events, |name| format!("{name:?}"))),
        trace("7.4-rust-escapes", "escape_default", |events| {
            named(events, |name| format!("\"{}\"", name.escape_default()))
        }),
        trace("7.4-hex", "two digits behind an x", |events| {
            named(events, |name| each(name, |c| other(c, |number| format!("\\x{number:02x}"))))
        }),
        trace("7.4-html", "entities", |events| {
            named(events, |name| {
                each(name, |c| match c {
                    '"' => "&quot;".to_string(),
                    '<' => "&lt;".to_string(),
                    '>' => "&gt;".to_string(),
                    '&' => "&amp;".to_string(),
                    c => escaped(c),
                })
            })
        }),
        trace("7.4-apostrophe", "both kinds of quotes", |events| {
            named(events, |name| {
                each(name, |c| if c == '\'' { "\\'".to_string() } else { escaped(c) })
            })
        }),
    ]
}

fn of_forgotten_characters() -> Vec<Wrong> {
    vec![
        trace("7.4-as-they-are", "in quotes", |events| named(events, |name| format!("\"{name}\""))),
        trace("7.4-quote-left", "no quotes", |events| {
            named(events, |name| each(name, |c| if c == '"' { c.to_string() } else { escaped(c) }))
        }),
        trace("7.4-backslash-left", "no backslashes", |events| {
            named(events, |name| each(name, |c| if c == '\\' { c.to_string() } else { escaped(c) }))
        }),
        trace("7.4-controls-left", "quote and backslash", |events| {
            named(events, |name| {
                let name = name.replace('\\', "\\\\").replace('"', "\\\"");
                format!("\"{name}\"")
            })
        }),
        trace("7.4-other-controls-left", "five replacements", |events| {
            named(events, |name| {
                let mut name = name.replace('\\', "\\\\").replace('"', "\\\"");
                for (from, to) in [("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")] {
                    name = name.replace(from, to);
                }
                format!("\"{name}\"")
            })
        }),
        trace("7.4-quote-first", "in the wrong order", |events| {
            named(events, |name| {
                let name = name.replace('"', "\\\"").replace('\\', "\\\\");
                each(&name, |c| if c < ' ' { escaped(c) } else { c.to_string() })
            })
        }),
        trace("7.4-escaped-twice", "at two places", |events| {
            named(events, |name| {
                let once: String = name.chars().map(escaped).collect();
                each(&once, escaped)
            })
        }),
        trace("7.4-name-breaks-json", "no quotes around spaces", |events| {
            named(events, |name| {
                if name.starts_with(' ') { name.to_string() } else { each(name, escaped) }
            })
        }),
    ]
}

fn of_lost_characters() -> Vec<Wrong> {
    vec![
        trace("7.4-dropped", "without control characters", |events| {
            named(events, |name| each(name, |c| if c < ' ' { String::new() } else { escaped(c) }))
        }),
        trace("7.4-spaces", "a space each", |events| {
            named(events, |name| each(name, |c| escaped(c.max(' '))))
        }),
        trace("7.4-bytes", "byte by byte", |events| {
            named(events, |name| {
                let bytes: String = name.bytes().map(char::from).collect();
                each(&bytes, escaped)
            })
        }),
        trace("7.4-ascii", "ASCII only", |events| {
            named(events, |name| {
                each(name, |c| if c.is_ascii() { escaped(c) } else { String::new() })
            })
        }),
        trace("7.4-question-marks", "ASCII or ?", |events| {
            named(events, |name| each(name, |c| if c.is_ascii() { escaped(c) } else { "?".into() }))
        }),
        trace("7.4-trimmed", "trim", |events| named(events, |name| each(name.trim(), escaped))),
        trace("7.4-name-changed", "a name for the nameless", |events| {
            named(events, |name| each(if name.is_empty() { "unnamed" } else { name }, escaped))
        }),
    ]
}

fn of_digits() -> Vec<Wrong> {
    vec![
        trace("7.4-fewer-digits", "no zeros in front", |events| {
            named(events, |name| each(name, |c| other(c, |number| format!("\\u{number:x}"))))
        }),
        trace("7.4-decimal", "decimal", |events| {
            named(events, |name| each(name, |c| other(c, |number| format!("\\u{number:04}"))))
        }),
        trace("7.4-no-pairs", "all beyond ASCII in digits", |events| {
            named(events, |name| {
                each(name, |c| {
                    if c.is_ascii() { escaped(c) } else { format!("\\u{:04x}", u32::from(c)) }
                })
            })
        }),
    ]
}
