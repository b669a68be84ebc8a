//! Words that do not belong into finished code.

use crate::lexer::Line;
use crate::tree::{Rule, Tree, Violation};

static LEFTOVER: Rule = Rule {
    name: "no reminder, placeholder or debugging call is left in",
    why: "the reader takes everything here for the way it is done",
    fix: "do it now, or file an issue and leave no trace in the source",
};
static IGNORED: Rule = Rule {
    name: "no test is switched off",
    why: "a test that does not run reports success",
    fix: "repair it or remove it; a heavy test goes into a target that .ci/run names",
};
static ALLOWED: Rule = Rule {
    name: "a lint is switched off only with a reason",
    why: "without one, nobody dares to switch it on again",
    fix: "write `#[expect(lint, reason = \"...\")]`, or do what the lint asks",
};
static DEAD: Rule = Rule {
    name: "no code is commented out",
    why: "a reader cannot know whether it is an example, a plan or a mistake",
    fix: "delete it (git keeps it), or say in words what it showed",
};
static ASCII: Rule = Rule {
    name: "what a program prints is plain ASCII",
    why: "a Windows console with an old code page fails on anything else",
    fix: "write x for a product, - for a dash, ^T for a transpose",
};
static CLOCK: Rule = Rule {
    name: "no test depends on a clock",
    why: "a busy machine would turn it red",
    fix: "count (calls, bytes, nodes) instead of timing; only tests/grading has a time limit",
};

pub fn leftovers(tree: &Tree) -> Vec<Violation> {
    let reminders = ["TODO", "FIXME", "XXX", "HACK"];
    let calls = ["todo!", "unimplemented!", "dbg!"];
    each_line(tree, &LEFTOVER, |line| {
        let reminder = reminders.into_iter().find(|word| has_word(&line.comment, word));
        reminder.or(calls.into_iter().find(|call| has_word(&line.code, call)))
    })
}

pub fn ignored_tests(tree: &Tree) -> Vec<Violation> {
    each_line(tree, &IGNORED, |line| {
        let code = line.code.trim_start();
        code.starts_with("#[ignore").then_some("#[ignore]")
    })
}

pub fn reasons(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree.rust() {
        for (at, line) in file.lines.iter().enumerate() {
            let code = line.code.trim_start();
            let switches =
                line.is_attribute() && ["allow(", "expect("].iter().any(|lint| code.contains(lint));
            let attribute = file.lines[at..].iter().take(6);
            let mut attribute = attribute.scan(false, |done, line| {
                let last = std::mem::replace(done, line.code.contains(']'));
                (!last).then_some(&line.code)
            });
            let said = attribute.any(|code| code.contains("reason ="));
            let above = at > 0 && file.lines[at - 1].is_comment() && !file.lines[at - 1].is_doc();
            if switches && !said && !above && line.comment.is_empty() {
                found.push(ALLOWED.broken(&file.path, at + 1, code.trim_end()));
            }
        }
    }
    found
}

pub fn commented_out(tree: &Tree) -> Vec<Violation> {
    each_line(tree, &DEAD, |line| {
        let text = line.comment.strip_prefix("// ")?.trim_end();
        let marker = text.starts_with("STUB ");
        (line.is_comment() && reads_like_code(text) && !marker)
            .then_some("a comment that reads like code")
    })
}

/// A line that ends in a brace, or a statement: a sentence may end in a semicolon too.
fn reads_like_code(text: &str) -> bool {
    let outside_quotes: String = text.split('`').step_by(2).collect();
    let starts = ["let ", "use ", "return", "break", "continue"];
    let statement = outside_quotes.contains(['(', '=', '!', '.'])
        || starts.iter().any(|start| text.starts_with(start));
    text.ends_with(['{', '}']) || (text.ends_with(';') && statement)
}

pub fn plain_ascii(tree: &Tree) -> Vec<Violation> {
    let mut found = each_line(tree, &ASCII, |line| {
        (!line.text.is_ascii()).then_some("a string with a character that is not ASCII")
    });
    found.retain(|violation| !violation.path.starts_with("book/"));
    found
}

pub fn clocks(tree: &Tree) -> Vec<Violation> {
    let words = ["Instant", "SystemTime", "sleep"];
    let mut found =
        each_line(tree, &CLOCK, |line| words.into_iter().find(|word| has_word(&line.code, word)));
    found.retain(|found| {
        found.path.starts_with("tests/") && !found.path.starts_with("tests/grading/")
    });
    found
}

/// The rule is broken on every line of Rust about which `fault` says something.
fn each_line(
    tree: &Tree,
    rule: &'static Rule,
    fault: impl Fn(&Line) -> Option<&'static str>,
) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree.rust() {
        for (number, line) in (1..).zip(&file.lines) {
            if let Some(what) = fault(line) {
                found.push(rule.broken(&file.path, number, what));
            }
        }
    }
    found
}

/// Whether `text` has `word` with no letter, digit or underscore beside it.
pub fn has_word(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(part) && !text[at + word.len()..].starts_with(part))
}

#[cfg(test)]
mod planted {
    use super::*;
    use crate::tree::{accepts, catches};

    #[test]
    fn a_reminder() {
        catches(leftovers, "src/a.rs", "//! A.\n// TODO: later\n", 2);
        catches(leftovers, "labs/src/a.rs", "fn f() { dbg!(1); }\n", 1);
        catches(leftovers, "tests/a.rs", "fn f() { todo!() }\n", 1);
        accepts(leftovers, "src/a.rs", "let a = \"TODO\"; // METHODOXXX\n");
    }

    #[test]
    fn a_test_that_is_switched_off() {
        catches(ignored_tests, "tests/a.rs", "#[test]\n#[ignore = \"slow\"]\n", 2);
        accepts(ignored_tests, "tests/a.rs", "// #[ignore]\n");
    }

    #[test]
    fn a_lint_without_a_reason() {
        catches(reasons, "src/a.rs", "#[allow(dead_code)]\nfn f() {}\n", 1);
        catches(reasons, "src/a.rs", "/// Doc.\n#[expect(dead_code)]\nfn f() {}\n", 2);
        accepts(reasons, "src/a.rs", "#[expect(dead_code, reason = \"x\")]\nfn f() {}\n");
        accepts(reasons, "src/a.rs", "#[expect(\n    dead_code,\n    reason = \"x\"\n)]\n");
        accepts(reasons, "src/a.rs", "// The only unsafe file.\n#![allow(unsafe_code)]\n");
    }

    #[test]
    fn code_in_a_comment() {
        catches(commented_out, "src/a.rs", "fn f() {\n    // let a = 1;\n}\n", 2);
        catches(commented_out, "src/a.rs", "// if a {\n", 1);
        accepts(commented_out, "src/a.rs", "/// let a = 1;\n// Reads `f()` of a;\n// writes b.\n");
        accepts(commented_out, "labs/a.rs", "// STUB use grading::exercise;\n");
    }

    #[test]
    fn a_string_that_is_not_ascii() {
        catches(plain_ascii, "tests/a.rs", "// \u{d7}\nlet a = \"2 \u{d7} 3\";\n", 2);
        accepts(plain_ascii, "book/preprocessor/src/a.rs", "let a = \"\u{d7}\";\n");
    }

    #[test]
    fn a_test_that_looks_at_the_clock() {
        catches(clocks, "tests/a.rs", "use std::time::Instant;\n", 1);
        accepts(clocks, "tests/grading/child.rs", "use std::time::Instant;\n");
        accepts(clocks, "labs/a.rs", "use std::time::Instant;\n");
    }
}
