//! What is public is used, and each job has one helper.

use crate::docs::public_item;
use crate::lexer::Line;
use crate::tree::{File, Rule, Tree, Violation};
use crate::words::has_word;
use std::collections::{HashMap, HashSet};

static CALLER: Rule = Rule {
    name: "a public item of the engine has a caller outside its file",
    why: "what nobody calls is read by everybody and checked by nobody",
    fix: "make it private, remove it, or write the code that needs it first",
};
static HELPER: Rule = Rule {
    name: "JSON, tables and plots have one helper each",
    why: "two ways to print a table look different on every page",
    fix: "call the helper that is there; if it lacks something, extend it",
};

/// What a helper hides, and the files that it consists of.
const HELPERS: [(&str, &[&str]); 3] = [
    ("to_string_pretty", &["labs/src/output.rs"]),
    ("comfy_table", &["labs/src/table.rs"]),
    (
        "plotters",
        &[
            "labs/src/plot.rs",
            "labs/src/axis.rs",
            "labs/src/diagram.rs",
            "labs/src/drawing.rs",
            "labs/src/grid.rs",
            "labs/src/memory_line.rs",
            "labs/src/memory_map.rs",
            "labs/src/roofline.rs",
            "labs/src/roofline/plane.rs",
            "labs/src/roofline/text.rs",
            "labs/src/triangle.rs",
        ],
    ),
];

pub fn callers(tree: &Tree) -> Vec<Violation> {
    let users = users(tree);
    let mut found = Vec::new();
    for file in tree.engine() {
        for (number, line) in file.shipped() {
            let Some(name) = public_item(&line.code) else { continue };
            let files = users.get(name);
            let used = files.is_some_and(|files| files.iter().any(|path| *path != file.path));
            if !used && !handed_out(file, name, number) {
                found.push(CALLER.broken(&file.path, number, format!("nothing calls `{name}`")));
            }
        }
    }
    found
}

/// Whether a type is what another public item of its file gives or holds: nobody need name it.
fn handed_out(file: &File, name: &str, declared: usize) -> bool {
    let is_type = name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase);
    let hands_out = |(number, line): (usize, &Line)| {
        let code = line.code.trim_start();
        let given = code.split_once("->").map_or("", |(_, given)| given);
        let held = if code.starts_with("pub ") { code } else { given };
        number != declared && has_word(held, name)
    };
    is_type && file.shipped().any(hands_out)
}

/// Each word of the code, and the files that say it. Answers to exercises do not count: the
/// student edition lacks them. A re-export is no call.
fn users(tree: &Tree) -> HashMap<&str, HashSet<&str>> {
    let answers = ["/solution", "/alternatives", "/mistakes", "/proof-"];
    let counts = |file: &&File| !answers.iter().any(|answer| file.path.contains(answer));
    let mut users: HashMap<&str, HashSet<&str>> = HashMap::new();
    for file in tree.rust().filter(counts) {
        let mut reexport = false;
        for line in &file.lines {
            reexport |= line.code.trim_start().starts_with("pub use ");
            if !reexport {
                for word in line.code.split(|c: char| !c.is_alphanumeric() && c != '_') {
                    users.entry(word).or_default().insert(&file.path);
                }
            }
            reexport &= !line.code.contains(';');
        }
    }
    users
}

pub fn helpers(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for (word, homes) in HELPERS {
        for file in tree.rust().filter(|file| !homes.contains(&file.path.as_str())) {
            let named = file.lines.iter().position(|line| has_word(&line.code, word));
            if let Some(at) = named {
                let what = format!("`{word}` is the business of {}", homes[0]);
                found.push(HELPER.broken(&file.path, at + 1, what));
            }
        }
    }
    found
}

#[cfg(test)]
mod planted {
    use super::*;
    use crate::tree::{accepts, catches};

    fn uncalled(files: &[(&str, &str)]) -> usize {
        let mut files = files.to_vec();
        files.push(("src/a.rs", "pub fn lonely() {\n    lonely()\n}\n"));
        callers(&Tree::of(&files)).len()
    }

    #[test]
    fn a_public_function_that_nobody_calls() {
        assert_eq!(uncalled(&[]), 1);
        assert_eq!(uncalled(&[("labs/a.rs", "fn f() { lonely() }\n")]), 0);
    }

    #[test]
    fn a_type_that_a_public_function_gives() {
        let found = |rest: &str| {
            let text = format!("pub struct Reading;\n{rest}\n");
            callers(&Tree::of(&[("src/a.rs", &text), ("labs/a.rs", "read()")])).len()
        };
        assert_eq!(found("pub fn read() -> Reading {}"), 0);
        assert_eq!(found("pub fn read() {}"), 1);
    }

    #[test]
    fn what_is_no_call() {
        assert_eq!(uncalled(&[("src/lib.rs", "pub use a::{\n    lonely,\n};\n")]), 1);
        assert_eq!(uncalled(&[("tests/a.rs", "// lonely\nlet a = \"lonely\";\n")]), 1);
        assert_eq!(uncalled(&[("labs/lab-01-a/solution.rs", "lonely()\n")]), 1);
    }

    #[test]
    fn a_second_helper() {
        for (word, homes) in HELPERS {
            let text = format!("//! Shows.\nuse {word}::f;\n");
            catches(helpers, "tests/grading/show.rs", &text, 2);
            accepts(helpers, homes[0], &text);
        }
    }
}
