//! What every text file keeps to, whoever wrote it.

use crate::tree::{Rule, Tree, Violation};

static MACHINE: Rule = Rule {
    name: "no file names a folder of somebody's machine or a registry's host",
    why: "on the reader's machine it is not there",
    fix: "use a path relative to the repository, a temporary folder, or the package's name",
};
static ENDING: Rule = Rule {
    name: "a text file ends in one line feed, and its lines in LF",
    why: "git, diff and the byte-for-byte comparisons see the difference",
    fix: "let the editor end the file with a new line; .gitattributes does the rest",
};
static TAB: Rule = Rule {
    name: "Rust source is indented with spaces",
    why: "rustfmt does it so, and columns are counted",
    fix: "run `cargo fmt --all`",
};

/// What betrays a machine; split so that this file does not contain it.
const PLACES: [&str; 11] = [
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
    concat!("/t", "mp/"),
    concat!("\\Us", "ers\\"),
    concat!("crates", ".io/"),
    concat!("index.crates", ".io"),
    concat!("pypi", ".org"),
    concat!("npmjs", ".org"),
    concat!("debian", ".org"),
];

pub fn machines(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree.files.iter().filter(|file| file.path != "Cargo.lock") {
        for (number, line) in (1..).zip(file.text.lines()) {
            if let Some(place) = PLACES.into_iter().find(|place| names(line, place)) {
                found.push(MACHINE.broken(&file.path, number, format!("`{place}`")));
            }
        }
    }
    found
}

/// Whether `line` has `place` as the start of a path, with something after it.
fn names(line: &str, place: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '}' | ')');
    line.match_indices(place).any(|(at, _)| {
        let starts = !place.starts_with('/') || !line[..at].ends_with(part);
        let goes_on = !place.ends_with('/') || line[at + place.len()..].starts_with(part);
        starts && goes_on
    })
}

pub fn endings(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree.files.iter().filter(|file| !file.text.is_empty()) {
        if let Some(number) = file.text.split('\n').position(|line| line.ends_with('\r')) {
            found.push(ENDING.broken(&file.path, number + 1, "the line ends in CR LF"));
        }
        let last = file.text.lines().count();
        if !file.text.ends_with('\n') {
            found.push(ENDING.broken(&file.path, last, "no line feed at the end"));
        } else if file.text.ends_with("\n\n") && !is_captured(&file.path) {
            found.push(ENDING.broken(&file.path, last, "an empty line at the end"));
        }
    }
    found
}

/// What a program printed: kept as it came.
fn is_captured(path: &str) -> bool {
    path.starts_with("book/src/") && path.contains("/output/") && path.ends_with(".txt")
}

pub fn tabs(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree.rust() {
        for (number, line) in (1..).zip(file.text.lines()) {
            if line.contains('\t') {
                found.push(TAB.broken(&file.path, number, "a tab"));
            }
        }
    }
    found
}

#[cfg(test)]
mod planted {
    use super::*;
    use crate::tree::{accepts, catches};

    #[test]
    fn a_machine_path() {
        for place in PLACES {
            catches(machines, "README.md", &format!("One.\nsee {place}x\n"), 2);
        }
        accepts(machines, "README.md", "target/work/x, the path /tmp, homework/root/x\n");
        accepts(machines, "Cargo.lock", &format!("{}x\n", PLACES[6]));
    }

    #[test]
    fn a_wrong_line_ending() {
        catches(endings, "a.toml", "a\nb", 2);
        catches(endings, "a.toml", "a\nb\r\nc\n", 2);
        catches(endings, "a.toml", "a\n\n", 2);
        accepts(endings, "a.toml", "a\n");
        accepts(endings, "empty.txt", "");
        accepts(endings, "book/src/03-autograd/output/saved.txt", "a\n\n");
    }

    #[test]
    fn a_tab() {
        catches(tabs, "src/a.rs", "//!\n\tfn f() {}\n", 2);
        accepts(tabs, "Makefile", "\tfn f() {}\n");
    }
}
