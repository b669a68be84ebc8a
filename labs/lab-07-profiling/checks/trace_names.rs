//! 7.4: any text can be a name, and comes back unchanged.

use std::fmt::Write;

use engine_room::rng::Generator;
use grading::{Check, Diagnosis};

use super::super::trace::Event;
use super::Implementation;
use super::thoughts::Known;
use super::trace_read::first_name;
use super::trace_words as words;

/// What a learner may do with the characters of a name.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Right,
    AsTheyAre,
    Debug,
    RustEscapes,
    QuoteLeft,
    BackslashLeft,
    ControlsLeft,
    OthersLeft,
    QuoteFirst,
    Twice,
    Hex,
    Short,
    Decimal,
    DecimalNamed,
    Dropped,
    Spaces,
    Bytes,
    NoPairs,
    Ascii,
    Questions,
    Html,
    Apostrophe,
    Trimmed,
}

use Way::*;

/// Names, each with something of its own.
fn names(rng: &mut Generator) -> Vec<String> {
    let controls: String = (0..32).filter_map(char::from_u32).collect();
    let mut names: Vec<String> = [
        "matmul",
        "a\"b",
        "back\\slash",
        "new\nline",
        "tab\tand\r",
        "ctl\u{1}x",
        "\u{10}and\u{1f}",
        "\u{e9}\u{4e2d}",
        "\u{1f600} softmax",
        "\u{7f} \u{85} \u{301} \u{2028}",
        "</script>",
        "it's 5 > 4 & 3 < 4",
        "",
        " linear ",
        "C:\\new\\table \"\\\"",
        "\\u0041 {} %s null",
    ]
    .map(String::from)
    .into();
    names.push(controls);
    let letters: Vec<char> = "ab\"\\/\n\t\r\u{8}\u{c}\0\u{1b}\u{e9}\u{1f600}{}' ".chars().collect();
    for _ in 0..6 {
        names.push((0..12).map(|_| letters[rng.below(letters.len())]).collect());
    }
    names
}

/// Asks for a trace of one event of each name.
///
/// # Errors
/// If a name does not come back.
pub fn check_names(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let names = names(&mut check.rng());
    let mut texts = Vec::new();
    for name in &names {
        let event = Event {
            name: name.clone(),
            device: None,
            lane: 7,
            start_ns: 5000,
            end_ns: 6250,
            cause: None,
        };
        let call = || (imp.chrome_trace)(std::slice::from_ref(&event));
        texts.push(check.call(format!("chrome_trace of an event named {name:?}"), call)?);
    }
    let back: Vec<Option<String>> = texts.iter().map(|text| first_name(text)).collect();
    let pairs = || names.iter().zip(&back);
    let Some((name, got)) = pairs().find(|(name, back)| Some(*name) != back.as_ref()) else {
        return Ok(());
    };
    let written =
        |way| names.iter().zip(&texts).all(|(name, text)| text.contains(&written(name, way)));
    let gives = |way| {
        let read = |name: &str| serde_json::from_str::<String>(&self::written(name, way)).ok();
        pairs().all(|(name, back)| read(name) == *back)
    };
    let shows = |way| piece(way).is_some_and(|it| texts.iter().any(|text| text.contains(it)));
    let known = KNOWN.iter().find(|it| written(it.0)).or(KNOWN.iter().find(|it| shows(it.0)));
    let known = known.or(KNOWN.iter().find(|it| gives(it.0)));
    let (key, thought) = match (known, got) {
        (Some((_, key, thought)), _) => (*key, *thought),
        (None, Some(_)) => words::NAME_CHANGED,
        (None, None) => words::NAME_BREAKS,
    };
    let right = pairs().filter(|(name, back)| Some(*name) == back.as_ref()).count();
    let got = match got {
        Some(got) => format!("the name {got:?}"),
        None => "a text that is not JSON".to_string(),
    };
    Err(Diagnosis::new(key)
        .called(format!("chrome_trace of an event named {name:?}"))
        .got(format!("{got}\n{right} of {} names come back", names.len()))
        .expected(format!("the same name, written as {}", self::written(name, Right)))
        .thought(thought))
}

/// What U+0001 and the `x` behind it look like, where that alone tells the way.
fn piece(way: Way) -> Option<&'static str> {
    match way {
        Debug => Some("\\u{1}x"),
        Hex => Some("\\x01x"),
        Short => Some("\\u1x"),
        _ => None,
    }
}

/// A name as a text of JSON, or what is taken for one.
fn written(name: &str, way: Way) -> String {
    match way {
        AsTheyAre => format!("\"{name}\""),
        Debug => format!("{name:?}"),
        RustEscapes => format!("\"{}\"", name.escape_default()),
        QuoteFirst => {
            let replaced = name.replace('"', "\\\"").replace('\\', "\\\\");
            format!("\"{}\"", right(&replaced, QuoteFirst))
        }
        Twice => format!("\"{}\"", right(&right(name, Right), Right)),
        Trimmed => format!("\"{}\"", right(name.trim(), Right)),
        Bytes => {
            let bytes: String = name.bytes().map(char::from).collect();
            format!("\"{}\"", right(&bytes, Right))
        }
        _ => format!("\"{}\"", right(name, way)),
    }
}

/// The inside of a text of JSON, where one kind of character may be treated in another way.
fn right(name: &str, way: Way) -> String {
    let mut out = String::new();
    let named = !matches!(way, ControlsLeft | Dropped | Spaces | Decimal);
    for c in name.chars() {
        let number = u32::from(c);
        let _ = match c {
            '"' if matches!(way, QuoteLeft | QuoteFirst) => out.write_char(c),
            '\\' if matches!(way, BackslashLeft | QuoteFirst) => out.write_char(c),
            '"' if way == Html => out.write_str("&quot;"),
            '<' if way == Html => out.write_str("&lt;"),
            '>' if way == Html => out.write_str("&gt;"),
            '&' if way == Html => out.write_str("&amp;"),
            '\'' if way == Apostrophe => out.write_str("\\'"),
            '"' | '\\' => write!(out, "\\{c}"),
            '\n' if named => out.write_str("\\n"),
            '\t' if named => out.write_str("\\t"),
            '\r' if named => out.write_str("\\r"),
            c if c < ' ' => match way {
                ControlsLeft | OthersLeft => out.write_char(c),
                Hex => write!(out, "\\x{number:02x}"),
                Short => write!(out, "\\u{number:x}"),
                Decimal | DecimalNamed => write!(out, "\\u{number:04}"),
                Dropped => Ok(()),
                Spaces => out.write_char(' '),
                _ => write!(out, "\\u{number:04x}"),
            },
            c if !c.is_ascii() => match way {
                NoPairs => write!(out, "\\u{number:04x}"),
                Ascii => Ok(()),
                Questions => out.write_char('?'),
                _ => out.write_char(c),
            },
            c => out.write_char(c),
        };
    }
    out
}

const KNOWN: &[Known<Way>] = &[
    (AsTheyAre, "7.4-as-they-are", words::AS_THEY_ARE),
    (Debug, "7.4-debug", words::DEBUG),
    (RustEscapes, "7.4-rust-escapes", words::DEBUG),
    (QuoteLeft, "7.4-quote-left", words::QUOTE_LEFT),
    (BackslashLeft, "7.4-backslash-left", words::BACKSLASH_LEFT),
    (ControlsLeft, "7.4-controls-left", words::CONTROLS_LEFT),
    (OthersLeft, "7.4-other-controls-left", words::OTHERS_LEFT),
    (QuoteFirst, "7.4-quote-first", words::QUOTE_FIRST),
    (Twice, "7.4-escaped-twice", words::TWICE),
    (Hex, "7.4-hex", words::HEX),
    (Short, "7.4-fewer-digits", words::SHORT),
    (Decimal, "7.4-decimal", words::DECIMAL),
    (DecimalNamed, "7.4-decimal", words::DECIMAL),
    (Dropped, "7.4-dropped", words::CHANGED),
    (Spaces, "7.4-spaces", words::CHANGED),
    (Bytes, "7.4-bytes", words::BYTES),
    (NoPairs, "7.4-no-pairs", words::NO_PAIRS),
    (Ascii, "7.4-ascii", words::ASCII),
    (Questions, "7.4-question-marks", words::ASCII),
    (Html, "7.4-html", words::HTML),
    (Apostrophe, "7.4-apostrophe", words::APOSTROPHE),
    (Trimmed, "7.4-trimmed", words::CHANGED),
];
