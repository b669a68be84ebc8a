//! Sizes: what fits in one sitting is read.

use std::collections::BTreeMap;

use crate::tree::{File, Rule, Tree, Violation};

static FILE: Rule = Rule {
    name: "a file has at most 400 lines",
    why: "a file is read in one sitting",
    fix: "split it by what changes together, and give each part its own first line",
};
static FUNCTION: Rule = Rule {
    name: "a function has at most 50 lines (a flat `match` of one line an arm: 150)",
    why: "a reader holds one idea at a time, and 5 to 12 lines hold it",
    fix: "name the steps and make each a function",
};
static WIDTH: Rule = Rule {
    name: "a line has at most 100 columns",
    why: "the book shows this source, and a page is narrower than a screen",
    fix: "let rustfmt break it, or break the comment or the string by hand",
};
static BUDGET: Rule = Rule {
    name: "each part of the repository has a budget of lines",
    why: "what is not in the repository need not be read, understood or kept right",
    fix: "remove what is no longer needed; a larger budget is a decision about the whole project",
};

/// Where its files are, how they end, the budget in lines. A file counts in the first that fits.
const BUDGETS: [(&[&str], &str, usize); 14] = [
    (&["sim/src/"], ".rs", 15_600),
    (&["sim/tests/", "sim/benches/"], ".rs", 8_000),
    (&["src/"], ".rs", 35_000),
    (&["kernels/"], ".cu", 3_000),
    (&["tests/grading"], ".rs", 3_500),
    (&["tests/tidy"], ".rs", 2_500),
    (&["tests/gpu_sim"], ".rs", 800),
    (&["tests/gpu", "tests/fake-cuda"], ".rs", 4_000),
    (&["tests/engine"], ".rs", 20_200),
    (&["tests/", "book/preprocessor/tests/"], ".rs", 3_000),
    (&["labs/src/", "labs/course/"], ".rs", 5_000),
    (&["labs/lab-"], ".rs", LAB),
    (&["book/preprocessor/"], ".rs", 1_300),
    (&["book/theme/"], ".js", 3_000),
];

/// What each lab may have: most of it is answers, right and wrong, that prove its grader.
const LAB: usize = 10_500;

pub fn files(tree: &Tree) -> Vec<Violation> {
    let source = |file: &&File| {
        let ends = [".rs", ".cu", ".cuh", ".js", ".css", ".py"];
        ends.iter().any(|end| file.path.ends_with(end))
    };
    let long = |file: &File| {
        let count = file.text.lines().count();
        (count > 400).then(|| FILE.broken(&file.path, 401, format!("{count} lines")))
    };
    tree.files.iter().filter(source).filter_map(long).collect()
}

pub fn widths(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree.rust() {
        for (number, line) in (1..).zip(file.text.lines()) {
            let width = line.chars().count();
            if width > 100 {
                found.push(WIDTH.broken(&file.path, number, format!("{width} columns")));
            }
        }
    }
    found
}

pub fn budgets(tree: &Tree) -> Vec<Violation> {
    let mut used = BTreeMap::new();
    for file in &tree.files {
        let fits = |(starts, end, _): &&(&[&str], &str, usize)| {
            file.path.ends_with(end) && starts.iter().any(|start| file.path.starts_with(start))
        };
        if let Some((starts, _, budget)) = BUDGETS.iter().find(fits) {
            let lab = file.path.starts_with("labs/lab-").then(|| file.path.split('/').nth(1));
            let part = lab.flatten().unwrap_or(starts[0]);
            used.entry(part).or_insert((0, budget)).0 += file.text.lines().count();
        }
    }
    let mut found = Vec::new();
    for (part, (lines, &budget)) in used {
        println!("{part}: {lines} lines of {budget}");
        if lines > budget {
            found.push(BUDGET.broken(part, 0, format!("{lines} lines of {budget}")));
        }
    }
    found
}

pub fn functions(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree.rust() {
        for (number, line) in (1..).zip(&file.lines) {
            let Some(name) = function_name(&line.code) else { continue };
            let length = length(file, number);
            let limit = if length <= 50 || !is_flat_match(file, number, length) { 50 } else { 150 };
            if length > limit {
                let what = format!("function `{name}` has {length} lines");
                found.push(FUNCTION.broken(&file.path, number, what));
            }
        }
    }
    found
}

/// The name of the function that this line of code declares.
pub fn function_name(code: &str) -> Option<&str> {
    let (before, after) = code.split_once("fn ")?;
    let words = ["pub", "const", "async", "unsafe", "extern", "default"];
    let is_qualifier = |word: &str| {
        words.contains(&word) || word.starts_with("pub(") || word.starts_with('"') || word == "in"
    };
    let declares = before.is_empty() || before.ends_with([' ', '\t']);
    let name = after.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    (declares && !name.is_empty() && before.split_whitespace().all(is_qualifier)).then_some(name)
}

/// Lines from the signature to the closing brace (or the semicolon of a declaration).
fn length(file: &File, start: usize) -> usize {
    let (mut depth, mut opened) = (0_i32, false);
    for (count, line) in (1..).zip(&file.lines[start - 1..]) {
        for c in line.code.chars() {
            match c {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth -= 1,
                _ => {}
            }
            opened |= c == '{' && depth == 1;
            if depth == 0 && (c == ';' || (c == '}' && opened)) {
                return count;
            }
        }
    }
    file.lines.len() + 1 - start
}

/// Whether most of the function is one `match` in which every arm is one line.
fn is_flat_match(file: &File, start: usize, length: usize) -> bool {
    let lines = &file.lines[start - 1..start - 1 + length];
    let indent = |code: &str| code.len() - code.trim_start().len();
    let opens = |code: &str| code.contains("match ") && code.trim_end().ends_with('{');
    let Some(first) = lines.iter().position(|line| opens(&line.code)) else { return false };
    let margin = indent(&lines[first].code);
    let is_arm = |code: &str| {
        let code = code.trim_end();
        code.is_empty()
            || (indent(code) == margin + 4 && code.contains(" => ") && code.ends_with(','))
    };
    let arms = lines[first + 1..].iter().take_while(|line| is_arm(&line.code)).count();
    length - arms <= 50
}

#[cfg(test)]
mod planted {
    use super::*;
    use crate::tree::{accepts, catches};

    #[test]
    fn a_file_of_401_lines() {
        catches(files, "src/a.rs", &"\n".repeat(401), 401);
        accepts(files, "src/a.rs", &"\n".repeat(400));
        accepts(files, "book/src/a.md", &"\n".repeat(401));
    }

    #[test]
    fn a_function_of_51_lines() {
        let body = |lines: usize| format!("fn long(\n) {{\n{}}}\n", "    a();\n".repeat(lines));
        catches(functions, "src/a.rs", &body(48), 1);
        accepts(functions, "src/a.rs", &body(47));
        accepts(functions, "src/a.rs", &format!("    fn b(x: [u8; 3]);\n{}", "\n".repeat(60)));
    }

    #[test]
    fn a_long_match_may_be_flat_only() {
        let flat =
            |arm: &str| format!("pub fn f() {{\n    match x {{\n{}    }}\n}}\n", arm.repeat(100));
        accepts(functions, "src/a.rs", &flat("        1 => 2,\n"));
        catches(functions, "src/a.rs", &flat("        1 => {\n            2\n        }\n"), 1);
    }

    #[test]
    fn a_line_of_101_columns() {
        catches(widths, "labs/src/a.rs", &format!("//!\n{}\n", "\u{e9}".repeat(101)), 2);
        accepts(widths, "labs/src/a.rs", &format!("{}\n", "\u{e9}".repeat(100)));
    }

    #[test]
    fn a_part_over_its_budget() {
        catches(budgets, "book/preprocessor/src/a.rs", &"\n".repeat(1_301), 0);
        catches(budgets, "labs/lab-01-a/checks.rs", &"\n".repeat(LAB + 1), 0);
        catches(budgets, "sim/src/a.rs", &"\n".repeat(15_601), 0);
        accepts(budgets, "src/a.rs", &"\n".repeat(11_000));
    }

    #[test]
    fn what_declares_a_function() {
        assert_eq!(function_name("    pub(crate) const fn a<T>(x: T) {"), Some("a"));
        assert_eq!(function_name("    pub mul: fn(&Ctx) -> T,"), None);
        assert_eq!(function_name("let often = 1;"), None);
    }
}
