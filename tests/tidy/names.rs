//! One name a chapter, and everything that is declared is run.

use crate::tree::{File, Rule, Tree, Violation};
use std::collections::HashSet;

static SLUG: Rule = Rule {
    name: "chapter number and slug are one string everywhere",
    why: "who knows one path knows them all: the page, the lab, the grader, the program",
    fix: "rename or add what is missing",
};
static PLAN: Rule = Rule {
    name: "the chapters' slugs are fixed",
    why: "links, progress files and lesson plans point at them",
    fix: "use the slug of the plan: see CHAPTERS in tests/tidy/names.rs",
};
static NAMED: Rule = Rule {
    name: ".ci/run names every test target that plain `cargo test` leaves out",
    why: "a test that nobody starts reports nothing, and nobody notices",
    fix: "add `--test NAME` to .ci/run (or let `cargo test` run it: drop `test = false`)",
};
static DECLARED: Rule = Rule {
    name: "every file of tests/ is a test target, named like the file",
    why: "a test that is not declared never runs, and looks as if it did",
    fix: "add `[[test]]` with its name and path to tests/Cargo.toml",
};
static MANIFEST: Rule = Rule {
    name: "the engine builds one way, and fast",
    why: "a feature is a second engine to test; optimising all dependencies costs minutes",
    fix: "see the chapter on profiles in the design: name the packages that need speed",
};

const CHAPTERS: [&str; 13] = [
    "00-start",
    "01-tensors",
    "02-views",
    "03-autograd",
    "04-modules",
    "05-checkpoints",
    "06-memory",
    "07-profiling",
    "08-kernels",
    "09-compile",
    "10-distributed",
    "11-export",
    "12-capstone",
];

pub fn plan(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in &tree.files {
        let starts = ["book/src/", "labs/lab-", "tests/lab-", "tests/proof-"];
        let Some(rest) = starts.iter().find_map(|start| file.path.strip_prefix(start)) else {
            continue;
        };
        let slug = rest.split('/').next().unwrap_or(rest).trim_end_matches(".rs");
        let numbered = slug.starts_with(|c: char| c.is_ascii_digit());
        let page = file.path.starts_with("book/") && !numbered;
        if !page && !CHAPTERS.contains(&slug) {
            found.push(PLAN.broken(&file.path, 1, format!("`{slug}` is not in the plan")));
        }
    }
    found
}

pub fn slugs(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for slug in CHAPTERS {
        let lab = format!("labs/lab-{slug}");
        let grader = format!("tests/lab-{slug}.rs");
        let in_lab = tree.files.iter().any(|file| file.path.starts_with(&format!("{lab}/")));
        if !in_lab && tree.file(&grader).is_none() {
            continue;
        }
        let mut need = |holds: bool, what: String| {
            if !holds {
                found.push(SLUG.broken(&format!("{lab}/lab.toml"), 1, what));
            }
        };
        for path in [format!("book/src/{slug}/index.md"), grader, format!("{lab}/main.rs")] {
            need(tree.file(&path).is_some(), format!("{path} is not there, for git at least"));
        }
        let facts = tree.text(&format!("{lab}/lab.toml"));
        for fact in [format!("slug = \"{slug}\""), format!("id = \"{}\"", &slug[..2])] {
            need(facts.lines().any(|line| line.trim() == fact), format!("lab.toml lacks {fact}"));
        }
        let program = format!("lab-{slug}");
        let programs = declared(tree.text("labs/Cargo.toml"), "bin");
        need(programs.iter().any(|(_, t)| t.name == program), format!("no program {program}"));
        if tree.file(&format!("{lab}/solution.rs")).is_some() {
            let proof = format!("tests/proof-{slug}.rs");
            need(tree.file(&proof).is_some(), format!("{proof} is not there, for git at least"));
        }
    }
    found
}

pub fn targets(tree: &Tree) -> Vec<Violation> {
    let Some(script) = tree.file(".ci/run") else { return Vec::new() };
    let code = || script.text.lines().map(|line| line.split('#').next().unwrap_or(""));
    let words: HashSet<&str> = code().flat_map(str::split_whitespace).collect();
    let mut found = Vec::new();
    for manifest in tree.files.iter().filter(|file| file.path.ends_with("Cargo.toml")) {
        for (line, target) in declared(&manifest.text, "test") {
            if !target.in_cargo_test && !words.contains(target.name.as_str()) {
                let what = format!("`{}` is not in .ci/run", target.name);
                found.push(NAMED.broken(&manifest.path, line, what));
            }
        }
    }
    found
}

/// No package finds its tests by itself: a manifest has to name each file.
pub fn declarations(tree: &Tree) -> Vec<Violation> {
    let manifests = tree.files.iter().filter(|file| file.path.ends_with("Cargo.toml"));
    let declared: Vec<_> =
        manifests.flat_map(|manifest| declared(&manifest.text, "test")).collect();
    let undeclared = |file: &&File| {
        let name = file.path.strip_prefix("tests/").and_then(|path| path.strip_suffix(".rs"));
        name.is_some_and(|name| {
            let named = declared.iter().any(|(_, target)| target.name == name);
            !name.contains('/') && !named
        })
    };
    let broken = |file: &File| DECLARED.broken(&file.path, 1, "no [[test]] in any manifest");
    tree.rust().filter(undeclared).map(broken).collect()
}

pub fn manifests(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree.files.iter().filter(|file| file.path.ends_with("Cargo.toml")) {
        let root = file.path == "Cargo.toml";
        for (number, line) in (1..).zip(file.text.lines()) {
            let line = line.split('#').next().unwrap_or("").trim();
            let everywhere = line.starts_with("[profile.") && line.ends_with(".package.\"*\"]");
            let abort = line.replace(' ', "") == "panic=\"abort\"";
            let extra = root && matches!(line, "[dev-dependencies]" | "[features]");
            if everywhere || abort || extra {
                found.push(MANIFEST.broken(&file.path, number, line));
            }
        }
    }
    found
}

/// A `[[bin]]` or `[[test]]` of a manifest.
struct Target {
    name: String,
    /// False where the manifest says `test = false`.
    in_cargo_test: bool,
}

fn declared(manifest: &str, kind: &str) -> Vec<(usize, Target)> {
    let mut targets: Vec<(usize, Target)> = Vec::new();
    let mut inside = false;
    for (number, line) in (1..).zip(manifest.lines()) {
        let line = line.split('#').next().unwrap_or("").trim();
        if line.starts_with('[') {
            inside = line == format!("[[{kind}]]");
            if inside {
                targets.push((number, Target { name: String::new(), in_cargo_test: true }));
            }
        }
        let Some((_, target)) = targets.last_mut().filter(|_| inside) else { continue };
        match line.split_once('=').map(|(key, value)| (key.trim(), value.trim())) {
            Some(("name", name)) => target.name = name.trim_matches('"').to_string(),
            Some(("test", "false")) => target.in_cargo_test = false,
            _ => {}
        }
    }
    targets
}

#[cfg(test)]
mod planted {
    use super::*;
    use crate::tree::catches;

    const LAB: [(&str, &str); 6] = [
        ("book/src/03-autograd/index.md", ""),
        ("tests/lab-03-autograd.rs", ""),
        ("labs/lab-03-autograd/main.rs", ""),
        ("labs/lab-03-autograd/lab.toml", "id = \"03\"\nslug = \"03-autograd\"\n"),
        ("labs/Cargo.toml", "[[bin]]\nname = \"lab-03-autograd\"\n"),
        ("labs/lab-03-autograd/stub.rs", ""),
    ];

    #[test]
    fn a_part_of_a_lab_that_is_missing() {
        assert_eq!(slugs(&Tree::of(&LAB)).len(), 0);
        for (path, faults) in LAB.iter().map(|(path, _)| *path).zip([1, 1, 1, 2, 1]) {
            let lab: Vec<_> = LAB.into_iter().filter(|file| file.0 != path).collect();
            assert_eq!(slugs(&Tree::of(&lab)).len(), faults, "without {path}");
        }
        let mut unproved = LAB.to_vec();
        unproved[5] = ("labs/lab-03-autograd/solution.rs", "");
        assert_eq!(slugs(&Tree::of(&unproved)).len(), 1);
    }

    #[test]
    fn a_name_that_is_not_in_the_plan() {
        catches(plan, "book/src/3-autograd/index.md", "", 1);
        catches(plan, "labs/lab-03-gradients/main.rs", "", 1);
        catches(plan, "tests/proof-03-autogard.rs", "", 1);
        let pages = [("book/src/architecture.md", ""), ("book/src/03-autograd/output/a.txt", "")];
        assert_eq!(plan(&Tree::of(&pages)).len(), 0);
    }

    #[test]
    fn a_target_that_nobody_runs() {
        let manifest = "[[test]]\nname = \"engine_ops\"\ntest = false\n";
        let missed = |script: &str| {
            let tree = Tree::of(&[("tests/Cargo.toml", manifest), (".ci/run", script)]);
            targets(&tree).len()
        };
        assert_eq!(missed("cargo test --test engine_ops\n"), 0);
        assert_eq!(missed("cargo test --test engine_op # engine_ops\n"), 1);
    }

    #[test]
    fn a_test_file_that_is_not_declared() {
        let manifest = ("tests/Cargo.toml", "[[test]]\nname = \"engine_ops\"\n");
        let files = [manifest, ("tests/engine_ops.rs", ""), ("tests/grading/lib.rs", "")];
        assert_eq!(declarations(&Tree::of(&files)).len(), 0);
        catches(declarations, "tests/engine_ops.rs", "", 1);
    }

    #[test]
    fn a_profile_that_costs_minutes() {
        catches(manifests, "Cargo.toml", "[profile.dev.package.\"*\"]\n", 1);
        catches(manifests, "Cargo.toml", "[dev-dependencies]\n", 1);
        catches(manifests, "labs/Cargo.toml", "[profile.dev]\npanic = \"abort\"\n", 2);
    }
}
