//! A diagnosis: why an exercise failed, in plain data, and as the text that a learner reads.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

/// Keys of the failures that every exercise can have.
pub mod key {
    /// Values differ and no known misconception explains them.
    pub const WRONG_VALUE: &str = "wrong-value";
    /// The shape differs and no known misconception explains it.
    pub const WRONG_SHAPE: &str = "wrong-shape";
    /// The learner's code panicked.
    pub const PANICKED: &str = "panicked";
    /// `exercise!` was reached.
    pub const UNFINISHED: &str = "unfinished";
    /// The check ran longer than the exercise's limit.
    pub const TIME_LIMIT: &str = "time-limit";
    /// The stack of 8 MiB was used up.
    pub const STACK_OVERFLOW: &str = "stack-overflow";
    /// More than 2 GiB were asked for.
    pub const MEMORY_LIMIT: &str = "memory-limit";
    /// The learner's code ended the process.
    pub const EXITED: &str = "exited";
    /// The process was aborted.
    pub const ABORTED: &str = "aborted";
    /// The learner's file does not compile.
    pub const COMPILE_ERROR: &str = "compile-error";
    /// The grader itself could not do its work.
    pub const GRADER: &str = "grader";
}

/// How many lines of the learner's own output a verdict shows.
const SHOWN_LINES: usize = 40;
const WIDTH: usize = 90;

/// Why an exercise failed. Built by checks: `Diagnosis::new("3.1-swapped").called(..).got(..)`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// Stable; names the misconception, or one of [`key`].
    pub key: String,
    /// What was called, with which input.
    pub called: String,
    /// What came.
    pub got: String,
    /// What was right.
    pub expected: String,
    /// The thought that probably led there; empty if unknown.
    pub thought: String,
    /// Where to read: `'Two inputs, one rule' in chapter 03`. Filled by the grader.
    pub section: String,
    /// The seed of the inputs. Filled by the grader; none if there was no input.
    pub seed: Option<u64>,
    /// What the learner's code printed, or the compiler. Filled by the grader.
    pub output: String,
}

impl Diagnosis {
    /// A diagnosis with this key and nothing else yet.
    pub fn new(key: impl Into<String>) -> Self {
        Diagnosis { key: key.into(), ..Diagnosis::default() }
    }

    /// What was called, with which input.
    pub fn called(self, called: impl Into<String>) -> Self {
        Diagnosis { called: called.into(), ..self }
    }

    /// What came.
    pub fn got(self, got: impl Into<String>) -> Self {
        Diagnosis { got: got.into(), ..self }
    }

    /// What was right.
    pub fn expected(self, expected: impl Into<String>) -> Self {
        Diagnosis { expected: expected.into(), ..self }
    }

    /// Which thought leads there, and what is true instead. No blame, no cheer.
    pub fn thought(self, thought: impl Into<String>) -> Self {
        Diagnosis { thought: thought.into(), ..self }
    }
}

impl Display for Diagnosis {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        for (label, text) in
            [("called", &self.called), ("got", &self.got), ("expected", &self.expected)]
        {
            if !text.is_empty() {
                f.write_str(&labelled(label, &ascii(text)))?;
            }
        }
        if !self.thought.is_empty() {
            writeln!(f, "\n{}", wrapped(&ascii(&self.thought)).join("\n"))?;
        }
        if !self.section.is_empty() {
            writeln!(f, "See {}.", ascii(&self.section))?;
        }
        if let Some(seed) = self.seed {
            writeln!(f, "Seed {seed}: ENGINE_ROOM_SEED={seed} repeats these inputs.")?;
        }
        let whose = if self.key == key::COMPILE_ERROR {
            "The compiler says:"
        } else {
            "Your code printed:"
        };
        write_output(f, whose, &self.output)
    }
}

fn write_output(f: &mut Formatter, whose: &str, output: &str) -> fmt::Result {
    if output.trim().is_empty() {
        return Ok(());
    }
    let lines: Vec<&str> = output.trim_end().lines().collect();
    writeln!(f, "{whose}")?;
    for line in lines.iter().take(SHOWN_LINES) {
        writeln!(f, "  | {}", ascii(line))?;
    }
    if lines.len() > SHOWN_LINES {
        writeln!(f, "  | ({} more lines)", lines.len() - SHOWN_LINES)?;
    }
    Ok(())
}

/// `called    text`, with further lines under the text; text that has lines of its own keeps them.
fn labelled(label: &str, text: &str) -> String {
    let mut out = String::new();
    for (index, line) in wrapped(text).iter().enumerate() {
        let label = if index == 0 { label } else { "" };
        out += &format!("{label:<10}{line}\n");
    }
    out
}

/// Lines of at most [`WIDTH`] columns with their label; what fits already stays as it is.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.trim_end().lines() {
        if paragraph.len() <= WIDTH - 10 {
            lines.push(paragraph.trim_end().to_owned());
            continue;
        }
        let indent = paragraph.len() - paragraph.trim_start().len();
        let mut line = " ".repeat(indent);
        for word in paragraph.split_whitespace() {
            let begun = line.len() > indent;
            if begun && line.len() + 1 + word.len() > WIDTH - 10 {
                lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
            } else if begun {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

/// Plain ASCII, since some terminals show anything else as rubbish: the rest is escaped.
pub(crate) fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' | ' '..='~' => out.push(c),
            '\u{2018}' | '\u{2019}' => out.push('\''),
            '\u{201c}' | '\u{201d}' => out.push('"'),
            _ => out.extend(c.escape_default()),
        }
    }
    out
}
