//! The committed PTX is that of the sources beside it, and the engine has all of it.

use std::collections::BTreeSet;

use engine_room_sim::nvrtc::stamp;

use crate::tree::{Rule, Tree, Violation};

static STALE: Rule = Rule {
    name: "kernels/ptx/NAME.ptx comes from kernels/NAME.cu and its headers as they are",
    why: "nobody needs NVRTC to run the engine, so what runs is what is committed",
    fix: "`cargo run --bin kernels -- build --nvrtc PATH --ptxas PATH`, and commit the result",
};
static ROW: Rule = Rule {
    name: "src/device/gpu/modules.rs names every file of kernels/",
    why: "the engine finds a kernel only in the files that it names",
    fix: "add the name to `compiled!`, or remove it",
};

const PTX: &str = "kernels/ptx/";
const ROWS: &str = "src/device/gpu/modules.rs";
const REGISTERS: &str = "kernels/ptx/registers.tsv";
/// What `src/device/cuda/errors.rs` and `labs/kernels/build.rs` say that the PTX needs.
const NEEDS: [&str; 2] = [".version 8.1", ".target sm_75"];

/// The names of the files of a folder with that ending.
fn names<'a>(tree: &'a Tree, folder: &str, ending: &str) -> BTreeSet<&'a str> {
    let name = |path: &'a str| path.strip_prefix(folder)?.strip_suffix(ending);
    let names = tree.files.iter().filter_map(|file| name(&file.path));
    names.filter(|name| !name.contains('/')).collect()
}

fn entries(ptx: &str) -> impl Iterator<Item = &str> {
    ptx.split(".entry ").skip(1).filter_map(|rest| rest.split(['(', '\n', ' ']).next())
}

pub fn up_to_date(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    let sources = names(tree, "kernels/", ".cu");
    for name in &sources {
        let (path, target) = (format!("kernels/{name}.cu"), format!("{PTX}{name}.ptx"));
        let header = |name: &str| {
            tree.file(&format!("kernels/{name}")).map(|file| file.text.clone()).ok_or(())
        };
        let mark = stamp::of(tree.text(&path), header).unwrap_or_default();
        let ptx = tree.text(&target);
        let heading = ptx.lines().nth(1).unwrap_or("");
        if mark.is_empty() || !heading.ends_with(&mark) {
            found.push(STALE.broken(&target, 2, format!("the sources are {mark} now")));
        }
        if let Some(lacks) = NEEDS.iter().find(|line| !ptx.lines().any(|other| other == **line)) {
            found.push(STALE.broken(&target, 1, format!("it lacks the line `{lacks}`")));
        }
        for kernel in entries(ptx) {
            let row = format!("{name}\t{kernel}\t");
            if !tree.text(REGISTERS).lines().any(|line| line.starts_with(&row)) {
                found.push(STALE.broken(REGISTERS, 1, format!("there is no line for {kernel}")));
            }
        }
    }
    for left in names(tree, PTX, ".ptx").difference(&sources) {
        found.push(STALE.broken(&format!("{PTX}{left}.ptx"), 1, "there is no such .cu"));
    }
    found
}

pub fn rows(tree: &Tree) -> Vec<Violation> {
    let code = tree.text(ROWS);
    let list = code.split_once("= compiled!(").map_or("", |(_, rest)| rest);
    let list = list.split_once(')').map_or("", |(list, _)| list);
    let listed: BTreeSet<&str> = list.split('"').skip(1).step_by(2).collect();
    let sources = names(tree, "kernels/", ".cu");
    let differ = listed.symmetric_difference(&sources);
    differ.map(|name| ROW.broken(ROWS, 1, format!("`{name}`"))).collect()
}

#[cfg(test)]
mod planted {
    use super::*;

    const CU: &str = "#include \"a.cuh\"\nvoid f();\n";

    fn stale(header: &str, row: &str) -> usize {
        let mark = stamp::of(CU, |_| Ok::<_, ()>("// 1\n".to_string())).unwrap();
        let ptx = format!("//\n// {mark}\n.version 8.1\n.target sm_75\n.visible .entry f(\n");
        let files = [
            ("kernels/a.cu", CU),
            ("kernels/a.cuh", header),
            ("kernels/ptx/a.ptx", &ptx),
            (REGISTERS, row),
        ];
        up_to_date(&Tree::of(&files)).len()
    }

    #[test]
    fn a_header_that_has_changed_since() {
        assert_eq!(stale("// 1\n", "a\tf\t1\n"), 0);
        assert_eq!(stale("// 2\n", "a\tf\t1\n"), 1);
        assert_eq!(stale("// 1\n", "a\tg\t1\n"), 1);
    }

    #[test]
    fn ptx_without_a_source() {
        assert_eq!(up_to_date(&Tree::of(&[("kernels/ptx/b.ptx", "//\n")])).len(), 1);
    }

    #[test]
    fn a_source_that_the_engine_does_not_name() {
        let files = |rows| [(ROWS, rows), ("kernels/a.cu", ""), ("kernels/b.cu", "")];
        assert_eq!(rows(&Tree::of(&files("const F: &[()] = compiled!(\"a\" \"b\");\n"))).len(), 0);
        assert_eq!(rows(&Tree::of(&files("const F: &[()] = compiled!(\"a\" \"c\");\n"))).len(), 2);
    }
}
