//! 7.4: the learner's text, read as a viewer reads it.

use grading::Diagnosis;
use serde_json::{Map, Value};

use super::trace_words::{
    BEGIN_END, COMMAS, FIELD, NO_OBJECT, NOT_JSON, NUMBER_AS_TEXT, Says, TRAILING,
};

type Object = Map<String, Value>;

/// Where an object stands on the time line, and when.
#[derive(Debug, Clone, PartialEq)]
pub struct At {
    pub pid: u64,
    pub tid: u64,
    pub ts: f64,
}

/// A complete event.
#[derive(Debug, Clone, PartialEq)]
pub struct Complete {
    pub name: String,
    pub at: At,
    pub dur: f64,
}

/// One end of an arrow.
#[derive(Debug, Clone, PartialEq)]
pub struct End {
    pub at: At,
    pub id: String,
    /// Name and category.
    pub names: (String, String),
    /// What `bp` says, or nothing.
    pub binding: String,
}

/// All that a viewer finds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Seen {
    pub events: Vec<Complete>,
    pub processes: Vec<(u64, String)>,
    pub begins: Vec<End>,
    pub ends: Vec<End>,
}

/// A diagnosis of these words, of which the caller says what was called.
pub fn says((key, words): Says) -> Diagnosis {
    Diagnosis::new(key).thought(words)
}

/// The list of all objects of a text, or why there is none.
fn objects(text: &str) -> Result<Vec<Value>, Diagnosis> {
    let value: Value = serde_json::from_str(text).map_err(|error| not_json(text, &error))?;
    let list = match &value {
        Value::Object(whole) => whole.get("traceEvents").unwrap_or(&Value::Null),
        other => other,
    };
    match list {
        Value::Array(list) => Ok(list.clone()),
        _ => Err(says(NO_OBJECT).got(excerpt(text, 0)).expected("{\"traceEvents\": [..]}")),
    }
}

fn not_json(text: &str, error: &serde_json::Error) -> Diagnosis {
    let without_spaces: String = text.split_whitespace().collect();
    let message = error.to_string();
    let says_of = if without_spaces.contains(",]") || without_spaces.contains(",}") {
        TRAILING
    } else if without_spaces.contains("}{") {
        COMMAS
    } else {
        NOT_JSON
    };
    let before: usize =
        text.lines().take(error.line().saturating_sub(1)).map(|it| it.len() + 1).sum();
    let excerpt = excerpt(text, before + error.column().saturating_sub(1));
    says(says_of)
        .got(format!("{message}: {excerpt}"))
        .expected("a text that a strict reader of JSON accepts")
}

/// A piece of the text around a byte, on one line.
fn excerpt(text: &str, at: usize) -> String {
    let near = |(place, _): &(usize, char)| (at.saturating_sub(30)..at + 30).contains(place);
    let piece: String = text.char_indices().filter(near).map(|(_, c)| c).collect();
    format!("{piece:?}")
}

/// What a viewer finds in a text.
///
/// # Errors
/// If it is no JSON, or an object lacks a field.
pub fn read(text: &str) -> Result<Seen, Diagnosis> {
    let mut seen = Seen::default();
    for object in objects(text)? {
        let Value::Object(object) = object else {
            return Err(says(NO_OBJECT).got(object.to_string()).expected("an object"));
        };
        match text_of(&object, "ph")?.as_str() {
            "X" => seen.events.push(Complete {
                name: text_of(&object, "name")?,
                at: at(&object)?,
                dur: number(&object, "dur")?,
            }),
            "s" => seen.begins.push(end(&object)?),
            "f" => seen.ends.push(end(&object)?),
            "M" if text_of(&object, "name")? == "process_name" => {
                let name = match object.get("args") {
                    Some(Value::Object(args)) => text_of(args, "name")?,
                    _ => return Err(lacks(&object, "args")),
                };
                seen.processes.push((whole(&object, "pid")?, name));
            }
            "B" | "E" => {
                return Err(says(BEGIN_END).got(shown(&object)).expected("\"ph\": \"X\""));
            }
            _ => {}
        }
    }
    Ok(seen)
}

/// The name of the first event of a text, if there is one; `None` if no viewer opens it.
pub fn first_name(text: &str) -> Option<String> {
    let list = objects(text).ok()?;
    let event = list.iter().find(|object| object["ph"] == "X");
    Some(event.map_or(String::new(), |event| event["name"].as_str().unwrap_or("").to_string()))
}

fn end(object: &Object) -> Result<End, Diagnosis> {
    let id = object.get("id").ok_or_else(|| lacks(object, "id"))?.to_string();
    let names = (text_of(object, "name")?, text_of(object, "cat")?);
    let binding = object.get("bp").and_then(Value::as_str).unwrap_or("").to_string();
    Ok(End { at: at(object)?, id, names, binding })
}

fn at(object: &Object) -> Result<At, Diagnosis> {
    Ok(At { pid: whole(object, "pid")?, tid: whole(object, "tid")?, ts: number(object, "ts")? })
}

fn whole(object: &Object, field: &str) -> Result<u64, Diagnosis> {
    number(object, field)?;
    object[field].as_u64().ok_or_else(|| lacks(object, field))
}

fn number(object: &Object, field: &str) -> Result<f64, Diagnosis> {
    match object.get(field) {
        Some(Value::Number(number)) => number.as_f64().ok_or_else(|| lacks(object, field)),
        Some(Value::String(_)) => {
            Err(says(NUMBER_AS_TEXT).got(shown(object)).expected(format!("a number as {field}")))
        }
        _ => Err(lacks(object, field)),
    }
}

fn text_of(object: &Object, field: &str) -> Result<String, Diagnosis> {
    let text = object.get(field).and_then(Value::as_str);
    text.map(String::from).ok_or_else(|| lacks(object, field))
}

fn lacks(object: &Object, field: &str) -> Diagnosis {
    says(FIELD).got(shown(object)).expected(format!("an object with a fitting {field}"))
}

fn shown(object: &Object) -> String {
    let text = Value::Object(object.clone()).to_string();
    if text.len() > 160 {
        format!("{}..", text.chars().take(160).collect::<String>())
    } else {
        text
    }
}
