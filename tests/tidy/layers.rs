//! Who may know whom inside the engine.

use crate::tree::{File, Rule, Tree, Violation};
use std::collections::HashMap;

static EDGE: Rule = Rule {
    name: "a module of the engine uses only the modules in its row of LAYERS",
    why: "the engine is read from the bottom up, and `autograd` must work for ops it never saw",
    fix: "move the code to the layer that may know both, or pass in what it needs",
};
static ROW: Rule = Rule {
    name: "every module of the engine has a row in LAYERS",
    why: "without one, nothing keeps its dependencies in order",
    fix: "add the row in tests/tidy/layers.rs with the fewest modules that do",
};
static UP: Rule = Rule {
    name: "a path that leaves its module begins with `crate::`",
    why: "`super::super::` says how far, not where to",
    fix: "write the path from `crate::`",
};

/// A module of the engine and the modules that it may use.
const LAYERS: &[(&str, &[&str])] = &[
    ("error", NOTHING),
    ("json", NOTHING),
    ("rng", NOTHING),
    ("shape", &["error"]),
    ("layout", &["shape", "error"]),
    ("dtype", &["error"]),
    ("memory", &["device", "profiler", "error", "json"]),
    ("storage", &["dtype", "device", "memory", "error"]),
    ("device", DEVICE),
    ("tensor", VALUES),
    ("display", &["tensor", "dtype", "device"]),
    ("autograd", VALUES),
    ("ops", VALUES),
    ("nn", LAYERS_OF_A_MODEL),
    ("amp", &["dtype", "error", "tensor", "autograd", "ops", "nn", "optim"]),
    ("optim", OPTIM),
    ("profiler", &["device", "memory", "json", "error", "tensor"]),
    ("data", &["tensor", "rng", "error"]),
    ("serialize", SAVED),
];
/// What a model's layers use: values, and the operations on them.
const LAYERS_OF_A_MODEL: &[&str] = &[
    "shape", "layout", "dtype", "storage", "device", "memory", "profiler", "rng", "error",
    "tensor", "autograd", "ops",
];
/// What can be saved: everything that a training run consists of.
const SAVED: &[&str] = &[
    "json", "shape", "layout", "dtype", "storage", "device", "memory", "rng", "error", "tensor",
    "autograd", "ops", "nn", "amp", "optim", "data",
];
/// Spans of time are opened where work passes, so these know the profiler, which reads the others.
const DEVICE: &[&str] =
    &["shape", "layout", "dtype", "storage", "memory", "profiler", "rng", "error"];
const OPTIM: &[&str] =
    &["dtype", "storage", "device", "memory", "profiler", "error", "tensor", "autograd", "nn"];
const NOTHING: &[&str] = &[];
/// All that a tensor is made of, and the graph that it belongs to; no operation.
const VALUES: &[&str] = &[
    "shape", "layout", "dtype", "storage", "device", "memory", "profiler", "rng", "error",
    "tensor", "autograd",
];

pub fn directions(tree: &Tree) -> Vec<Violation> {
    let homes = reexports(tree);
    let mut found = Vec::new();
    for file in tree.engine().filter(|file| file.path != "src/lib.rs") {
        let module = module(&file.path);
        let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| *name == module) else {
            found.push(ROW.broken(&file.path, 1, format!("module `{module}`")));
            continue;
        };
        for (line, name) in uses(file) {
            let target = homes.get(&name).map_or(name.as_str(), String::as_str);
            let known = target == module || allowed.contains(&target);
            if !known {
                found.push(EDGE.broken(&file.path, line, format!("`{module}` uses `{target}`")));
            }
        }
    }
    found
}

pub fn relative_paths(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree.engine() {
        for (number, line) in file.shipped() {
            if line.code.contains("super::super::") {
                found.push(UP.broken(&file.path, number, line.code.trim()));
            }
        }
    }
    found
}

/// `src/autograd/node.rs` belongs to `autograd`.
fn module(path: &str) -> &str {
    let path = path.trim_start_matches("src/");
    path.split_once('/').map_or(path.trim_end_matches(".rs"), |(folder, _)| folder)
}

/// Every first name after `crate::` in a file (after `super::` too where that is the crate),
/// with its line.
fn uses(file: &File) -> Vec<(usize, String)> {
    let code: String = file.shipped().map(|(_, line)| format!("{}\n", line.code)).collect();
    let top = file.path.ends_with("/mod.rs") || file.path.matches('/').count() == 1;
    let mut names = Vec::new();
    for root in ["crate::", "super::"].into_iter().take(1 + usize::from(top)) {
        for (at, _) in code.match_indices(root) {
            let line = 1 + code[..at].matches('\n').count();
            let inside = code[..at].ends_with(|c: char| c.is_alphanumeric() || c == ':');
            if !inside {
                let found = first_names(&code[at + root.len()..]);
                names.extend(found.into_iter().map(|name| (line, name)));
            }
        }
    }
    names
}

/// `a::b` gives a; `{a::{b, c}, d}` gives a and d.
fn first_names(path: &str) -> Vec<String> {
    let word = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let Some(group) = path.strip_prefix('{') else { return vec![word(path)] };
    let (mut depth, mut start, mut names) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                names.push(word(&group[start..at]));
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// What `src/lib.rs` re-exports, and from which module: `crate::Tensor` is `crate::tensor::Tensor`.
fn reexports(tree: &Tree) -> HashMap<String, String> {
    let Some(root) = tree.file("src/lib.rs") else { return HashMap::new() };
    let code: String = root.lines.iter().map(|line| format!("{}\n", line.code)).collect();
    let mut homes = HashMap::new();
    for (at, start) in code.match_indices("pub use ") {
        let path = code[at + start.len()..].split(';').next().unwrap_or("");
        let path = path.trim_start_matches("crate::");
        if let Some((module, names)) = path.split_once("::") {
            let names = names.split(|c: char| !c.is_alphanumeric() && c != '_');
            homes.extend(names.map(|name| (name.to_string(), module.trim().to_string())));
        }
    }
    homes
}

#[cfg(test)]
mod planted {
    use super::*;
    use crate::tree::{accepts, catches};

    #[test]
    fn a_lower_layer_that_uses_a_higher_one() {
        catches(directions, "src/autograd/mod.rs", "//!\nuse crate::ops::Mul;\n", 2);
        catches(directions, "src/device/cpu/a.rs", "fn f() {\n    crate::ops::f()\n}\n", 2);
        catches(directions, "src/shape.rs", "use crate::{\n    error::E,\n    tensor::T,\n};\n", 1);
        catches(directions, "src/layout.rs", "use super::tensor::Tensor;\n", 1);
        accepts(directions, "src/ops/a.rs", "use crate::{autograd::{Op, Ctx}, tensor};\n");
        accepts(directions, "src/ops/a.rs", "use super::view;\n");
        accepts(directions, "src/shape.rs", "#[cfg(test)]\nmod tests { use crate::ops::A; }\n");
    }

    #[test]
    fn a_reexport_does_not_hide_the_layer() {
        let tree = Tree::of(&[
            ("src/lib.rs", "pub use ops::{\n    OPS,\n};\npub use shape::Shape;\n"),
            ("src/autograd/walk.rs", "use crate::Shape;\nuse crate::OPS;\n"),
        ]);
        let lines: Vec<usize> = directions(&tree).iter().map(|found| found.line).collect();
        assert_eq!(lines, [2]);
    }

    #[test]
    fn a_module_without_a_row() {
        catches(directions, "src/gremlin/mod.rs", "//! A new part.\n", 1);
    }

    #[test]
    fn a_path_that_climbs() {
        catches(relative_paths, "src/device/cpu/a.rs", "use super::super::ops;\n", 1);
        accepts(relative_paths, "src/device/cpu/a.rs", "use super::ops;\n");
    }
}
