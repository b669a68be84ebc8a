//! What an author reads when a page cannot be built: where, what was asked, what is wrong, what to
//! do.

use std::fmt;

/// What is wrong and what to do about it, each as a sentence.
#[derive(Debug)]
pub struct Wrong {
    pub what: String,
    pub todo: String,
}

impl Wrong {
    /// An error value in one line.
    pub fn new(what: impl Into<String>, todo: impl Into<String>) -> Wrong {
        Wrong { what: what.into(), todo: todo.into() }
    }

    /// The same, with its place.
    pub fn at(self, file: &str, line: usize, asked: &str) -> Problem {
        Problem { file: file.into(), line, asked: asked.into(), wrong: self }
    }
}

/// One thing that fails the build.
#[derive(Debug)]
pub struct Problem {
    /// The chapter, from the repository's root.
    pub file: String,
    /// Line in that file, from 1.
    pub line: usize,
    /// The directive or the link, as written.
    pub asked: String,
    pub wrong: Wrong,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Problem { file, line, asked, wrong: Wrong { what, todo } } = self;
        write!(f, "{file}:{line}: {asked}\n  {what}\n  {todo}")
    }
}

/// Line number, from 1, of a byte offset.
pub fn line_of(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count() + 1
}

/// "Near: `a`, `b`.", for a name that does not exist among those that do.
pub fn near<S: AsRef<str>>(asked: &str, names: impl IntoIterator<Item = S>) -> String {
    let score = |name: String| (strsim::jaro_winkler(asked, &name), name);
    let mut scored: Vec<_> = names.into_iter().map(|name| score(name.as_ref().into())).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    scored.dedup_by(|a, b| a.1 == b.1);
    let list: Vec<String> = scored.iter().take(4).map(|(_, name)| format!("`{name}`")).collect();
    if list.is_empty() { "There is none.".into() } else { format!("Near: {}.", list.join(", ")) }
}
