//! What the engine says about itself.

use crate::lexer::Line;
use crate::sizes::function_name;
use crate::tree::{File, Rule, Tree, Violation};
use crate::words::has_word;

static HEAD: Rule = Rule {
    name: "a Rust file begins with a `//!` line that says what it is for",
    why: "whoever opens the file should know at once whether it is the right one",
    fix: "write that sentence as the first line",
};
static ITEM: Rule = Rule {
    name: "every public item of the engine has a doc comment",
    why: "the source is the course's text: units, errors and shapes stand where the code is",
    fix: "write what it gives, in which unit, and when it panics; or make it private",
};
static OP: Rule = Rule {
    name: "an op's docs give its formula, shapes, gradient and what it saves",
    why: "these four are what a reader looks an op up for",
    fix: "add the missing line to the doc comment of the struct",
};
static TABLE: Rule = Rule {
    name: "every op of src/ops stands in the table OPS",
    why: "the gradient check runs over that table, so what is missing there is not checked",
    fix: "add its row, with the name that its `fn name` gives",
};
static SHARE: Rule = Rule {
    name: "15% to 40% of the engine's lines are comments (20% to 30% is the aim)",
    why: "below, the reader is left alone; above, the code drowns",
    fix: "say why where the code cannot, and cut what repeats the code",
};

pub fn heads(tree: &Tree) -> Vec<Violation> {
    let headless = |file: &&File| {
        let text = file.text.lines().next().and_then(|first| first.strip_prefix("//! "));
        text.unwrap_or("").trim().len() < 4
    };
    let broken = |file: &File| HEAD.broken(&file.path, 1, "the first line is not `//!` and a text");
    tree.rust().filter(headless).map(broken).collect()
}

pub fn items(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree.engine() {
        for (number, line) in file.shipped() {
            let Some(name) = public_item(&line.code) else { continue };
            if docs_before(&file.lines[..number - 1]).is_empty() {
                found.push(ITEM.broken(&file.path, number, format!("`{name}` has no docs")));
            }
        }
    }
    found
}

pub fn ops(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree.engine() {
        for name in ops_of(file) {
            let (number, docs) = struct_docs(file, &name);
            let docs = docs.to_lowercase();
            let parts = [("formula", "="), ("shapes", "shapes"), ("gradient", "gradient")];
            let parts = parts.into_iter().chain([("what it saves", "saves")]);
            let missing: Vec<&str> =
                parts.filter(|(_, word)| !docs.contains(word)).map(|(part, _)| part).collect();
            if !missing.is_empty() {
                let what = format!("`{name}` does not say: {}", missing.join(", "));
                found.push(OP.broken(&file.path, number, what));
            }
        }
    }
    found
}

pub fn op_table(tree: &Tree) -> Vec<Violation> {
    let has_rows = |file: &&File| {
        let begins = |code: &str| code.contains("const OPS:") || code.contains("const ROWS:");
        file.lines.iter().any(|line| begins(&line.code))
    };
    let tables: Vec<&File> = tree.engine().filter(has_rows).collect();
    let rows: Vec<&str> =
        tables.iter().flat_map(|file| &file.lines).map(|line| line.text.as_str()).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for file in tree.engine().filter(|file| file.path.starts_with("src/ops/")) {
        for name in ops_of(file) {
            let (number, _) = struct_docs(file, &name);
            let said = said_names(file, &name);
            if said.is_empty() || !said.iter().all(|said| rows.contains(said)) {
                let what = format!("`{name}`, by name {said:?}, has no row");
                found.push(TABLE.broken(&file.path, number, what));
            }
        }
    }
    found
}

/// The strings that an op's `fn name` can return.
fn said_names<'a>(file: &'a File, op: &str) -> Vec<&'a str> {
    let end = format!(" for {op} ");
    let of_op = file.lines.iter().skip_while(|line| !line.code.contains(&end));
    let from_name = of_op.skip_while(|line| !line.code.contains("fn name("));
    let of_name = from_name.take_while(|line| line.code != "    }");
    of_name.map(|line| line.text.as_str()).filter(|text| !text.is_empty()).collect()
}

pub fn comment_share(tree: &Tree) -> Vec<Violation> {
    let (comments, lines) = count_comments(tree);
    let share = 100 * comments / lines.max(1);
    let what = format!("{comments} of {lines} lines are comments: {share}%");
    println!("src: {what}");
    let wrong = lines > 200 && !(15..=40).contains(&share);
    wrong.then(|| SHARE.broken("src/", 0, what)).into_iter().collect()
}

fn count_comments(tree: &Tree) -> (usize, usize) {
    let lines = || tree.engine().flat_map(|file| &file.lines).filter(|line| !line.is_blank());
    (lines().filter(|line| line.is_comment()).count(), lines().count())
}

/// The name of the item that this line of code makes public outside the crate.
pub fn public_item(code: &str) -> Option<&str> {
    let rest = code.trim_start().strip_prefix("pub ")?;
    if let Some(name) = function_name(rest) {
        return Some(name);
    }
    let kinds = ["struct ", "enum ", "trait ", "const ", "static ", "type ", "union "];
    let rest = kinds.into_iter().find_map(|kind| rest.strip_prefix(kind))?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').find(|word| !word.is_empty())
}

/// The doc comment that ends just before an item, attributes skipped.
fn docs_before(lines: &[Line]) -> String {
    let belongs = |line: &&Line| {
        let code = line.code.trim_end();
        line.is_comment() || line.is_attribute() || code.ends_with(")]") || code.ends_with(',')
    };
    let docs = lines.iter().rev().take_while(belongs).filter(|line| line.is_doc());
    docs.map(|line| format!("{}\n", line.comment)).collect()
}

/// The types for which a file has `impl Op<N> for`.
fn ops_of(file: &File) -> Vec<String> {
    let name = |line: &Line| {
        let rest = line.code.trim_start().strip_prefix("impl")?;
        let (before, after) = rest.split_once(" for ")?;
        let op = before.split_whitespace().next_back()?;
        let is_op = op.starts_with("Op<") || op.contains("::Op<");
        let word = |text: &str| text.split(|c: char| !c.is_alphanumeric()).next().map(String::from);
        is_op.then(|| word(after)).flatten()
    };
    file.shipped().filter_map(|(_, line)| name(line)).collect()
}

/// The line of `struct name` and the docs before it.
fn struct_docs(file: &File, name: &str) -> (usize, String) {
    let declares = |line: &Line| line.code.contains("struct ") && has_word(&line.code, name);
    let at = file.lines.iter().position(declares).unwrap_or(0);
    (at + 1, docs_before(&file.lines[..at]))
}

#[cfg(test)]
mod planted {
    use super::*;
    use crate::tree::{accepts, catches};

    #[test]
    fn a_file_without_a_first_line() {
        catches(heads, "tests/a.rs", "use std::fmt;\n", 1);
        catches(heads, "tests/a.rs", "//!\n//! Text.\n", 1);
        accepts(heads, "tests/a.rs", "//! Adds.\n");
    }

    #[test]
    fn a_public_item_without_docs() {
        catches(items, "src/a.rs", "//! A.\n\n#[inline]\npub fn f() {}\n", 4);
        catches(items, "src/a.rs", "/// Doc.\npub struct A;\npub enum B {}\n", 3);
        accepts(items, "src/a.rs", "/// Doc.\n#[inline]\npub fn f() {}\npub(crate) fn g() {}\n");
        accepts(items, "labs/src/a.rs", "pub fn f() {}\n");
    }

    #[test]
    fn an_op_that_hides_what_it_saves() {
        let op = |docs: &str| format!("{docs}pub struct Mul;\n\nimpl Op<2> for Mul {{}}\n");
        let docs = "/// y = a b\n/// Shapes: any. Gradient: dy b.\n";
        catches(ops, "src/ops/a.rs", &op(docs), 3);
        accepts(ops, "src/ops/a.rs", &op(&format!("{docs}/// Saves: both.\n")));
    }

    #[test]
    fn an_op_that_is_not_in_the_table() {
        let tree = |row: &str| {
            let table = format!("pub const OPS: &[Row] = &[\n    row(\"{row}\"),\n];\n");
            let op = "struct A;\nimpl Op<2> for A {\n    fn name() {\n        \"mul\"\n    }\n}\n";
            op_table(&Tree::of(&[("src/ops/mod.rs", &table), ("src/ops/a.rs", op)])).len()
        };
        assert_eq!((tree("mul"), tree("add")), (0, 1));
    }

    #[test]
    fn too_few_and_too_many_comments() {
        let file = |comments: usize| {
            format!("{}{}", "// Why.\n".repeat(comments), "f();\n".repeat(400 - comments))
        };
        catches(comment_share, "src/a.rs", &file(40), 0);
        catches(comment_share, "src/a.rs", &file(200), 0);
        accepts(comment_share, "src/a.rs", &file(100));
    }
}
