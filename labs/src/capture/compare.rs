//! Compares a committed output with a fresh run, and edits descriptions.

use serde_json::Value;

/// Where two documents differ in more than their numbers; the machine may differ.
pub fn first_other_shape(at: &str, old: &Value, new: &Value) -> Option<String> {
    match (old, new) {
        (Value::Object(a), Value::Object(b)) => {
            let lost =
                a.keys().chain(b.keys()).find(|k| !a.contains_key(*k) || !b.contains_key(*k));
            if let Some(key) = lost {
                return Some(format!("only one of the committed and the fresh run has {at}/{key}"));
            }
            let inner = a.iter().filter(|(key, _)| *key != "machine");
            inner.into_iter().find_map(|(k, v)| first_other_shape(&format!("{at}/{k}"), v, &b[k]))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let pairs = a.iter().zip(b).enumerate();
            pairs.into_iter().find_map(|(i, (x, y))| first_other_shape(&format!("{at}/{i}"), x, y))
        }
        (Value::Number(_), Value::Number(_)) => None,
        _ if old == new => None,
        (Value::Array(a), Value::Array(b)) => {
            Some(format!("{at} has {} entries in a fresh run, {} committed", b.len(), a.len()))
        }
        _ => Some(format!("{at} is {new} in a fresh run, {old} committed")),
    }
}

pub fn difference(extension: &str, committed: &str, fresh: &str) -> String {
    let pairs = committed.lines().zip(fresh.lines()).enumerate();
    let at = pairs.into_iter().find(|(_, (a, b))| a != b);
    match at {
        Some((i, (a, b))) => format!(
            "line {} of the .{extension} differs\n  committed: {a}\n  fresh run: {b}",
            i + 1
        ),
        None => format!(
            "the .{extension} has {} lines, a fresh run {}",
            committed.lines().count(),
            fresh.lines().count()
        ),
    }
}

/// Whether the line holds the pieces of the pattern between its `.*`, in this order.
pub fn holds(line: &str, pattern: &str) -> bool {
    let mut rest = line;
    pattern.split(".*").all(|piece| match rest.find(piece) {
        Some(at) => {
            rest = &rest[at + piece.len()..];
            true
        }
        None => false,
    })
}

/// The description's text with `key = "value"` set, everything else as a person wrote it.
pub fn set(text: &str, key: &str, value: &str) -> String {
    let line = format!("{key} = \"{}\"", value.replace('\\', "/").replace('"', "'"));
    let is_key = |l: &str| l.split('=').next().is_some_and(|k| k.trim() == key);
    let mut lines: Vec<&str> = text.lines().filter(|l| !is_key(l)).collect();
    let kind = lines.iter().position(|l| l.starts_with("kind")).map_or(0, |i| i + 1);
    lines.insert(kind, &line);
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_numbers_and_the_machine_may_differ() {
        let old = json!({"machine": "a", "rows": [{"op": "add", "seconds": 1.0}]});
        let other = |new: Value| first_other_shape("", &old, &new).unwrap_or_default();
        assert_eq!(other(json!({"machine": "b", "rows": [{"op": "add", "seconds": 2.5}]})), "");
        assert!(other(json!({"machine": "b", "rows": []})).starts_with("/rows has 0 entries"));
        let renamed = other(json!({"machine": "b", "rows": [{"op": "mul", "seconds": 1.0}]}));
        assert!(renamed.starts_with("/rows/0/op is \"mul\""));
        let lost = other(json!({"machine": "b", "rows": [{"op": "add"}]}));
        assert!(lost.ends_with("/rows/0/seconds"));
    }

    #[test]
    fn a_pattern_is_literal_but_for_its_gaps() {
        assert!(holds("| MatMul | 4,096 |", "MatMul.*4,096 |"));
        assert!(!holds("| 4,096 | MatMul |", "MatMul.*4,096"));
        assert!(holds("a [2, 3]", "[2, 3]"));
    }

    #[test]
    fn a_stamp_keeps_what_a_person_wrote() {
        let text = "# why\ncommand = [\"a\"]\nkind = \"measured\"\ndate = \"old\"\n";
        let expected = "# why\ncommand = [\"a\"]\nkind = \"measured\"\ndate = \"2026-12-02\"\n";
        assert_eq!(set(text, "date", "2026-12-02"), expected);
    }

    #[test]
    fn the_first_other_line_is_shown() {
        assert!(difference("txt", "a\nb\n", "a\nc\n").starts_with("line 2 of the .txt differs"));
        assert_eq!(difference("txt", "a\n", ""), "the .txt has 1 lines, a fresh run 0");
    }
}
