//! Where `unsafe` may stand, and what must stand before it.

use crate::lexer::Line;
use crate::tree::{Rule, Tree, Violation};
use crate::words::has_word;

static PLACE: Rule = Rule {
    name: "`unsafe` stands only in the few files that need it",
    why: "a reader (and Miri) has to check each such file; the rest is safe by construction",
    fix: "find the safe form (bytemuck, slices, Arc), or argue for one more row in ALLOWED",
};
static ARGUMENT: Rule = Rule {
    name: "a `// SAFETY:` sentence stands before every `unsafe`",
    why: "the compiler no longer checks this line, so the reader must be able to",
    fix: "write why the conditions hold here, in one sentence, in the lines just before",
};

/// Path, and how many times `unsafe` may stand in it.
const ALLOWED: [(&str, usize); 10] = [
    ("src/device/cpu/", ANY),
    ("src/device/cuda/", ANY),
    ("src/serialize/", 1),
    ("tests/fake-cuda/lib.rs", ANY),
    ("tests/grading/alloc.rs", ANY),
    ("benches/gpu-check/cublas.rs", ANY),
    ("sim/src/alu/lanes.rs", ANY),
    ("sim/src/memory/cells.rs", ANY),
    ("sim/src/memory/vector.rs", ANY),
    ("sim/src/nvrtc/mod.rs", ANY),
];
const ANY: usize = usize::MAX;

pub fn places(tree: &Tree) -> Vec<Violation> {
    let mut used = [0; ALLOWED.len()];
    let mut found = Vec::new();
    for file in tree.rust() {
        let row = ALLOWED.iter().position(|(path, _)| file.path.starts_with(path));
        for (number, line) in (1..).zip(&file.lines) {
            if !has_word(&line.code, "unsafe") {
                continue;
            }
            let allowed = row.is_some_and(|row| {
                used[row] += 1;
                used[row] <= ALLOWED[row].1
            });
            if !allowed {
                found.push(PLACE.broken(&file.path, number, line.code.trim()));
            }
        }
    }
    found
}

pub fn arguments(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in tree.rust() {
        for (at, line) in file.lines.iter().enumerate() {
            let before = &file.lines[..at];
            let is_type = line.code.contains("unsafe fn(") || line.code.contains("unsafe extern");
            let exempt = is_type || (line.code.contains("unsafe fn ") && in_unsafe_impl(before));
            if has_word(&line.code, "unsafe") && !exempt && !argued(before) {
                found.push(ARGUMENT.broken(&file.path, at + 1, line.code.trim()));
            }
        }
    }
    found
}

/// Whether these lines leave off inside an `unsafe impl`: its trait says what callers promise.
fn in_unsafe_impl(lines: &[Line]) -> bool {
    let outer = lines.iter().rev().find(|line| line.code.starts_with(char::is_alphanumeric));
    outer.is_some_and(|line| line.code.starts_with("unsafe impl"))
}

/// Whether the comment before a statement holds a sentence after `SAFETY:` (or, for an
/// `unsafe fn`, a section `# Safety`). The statement may have begun some lines earlier.
fn argued(before: &[Line]) -> bool {
    let ends = |line: &&Line| line.code.trim_end().ends_with([';', '{', '}']) || line.is_blank();
    for line in before.iter().rev().take_while(|line| !ends(line)) {
        let comment = line.comment.trim();
        let sentence = comment.split_once("SAFETY:").map_or("", |(_, sentence)| sentence.trim());
        if sentence.len() >= 12 || comment == "/// # Safety" {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod planted {
    use super::*;
    use crate::tree::{accepts, catches};

    #[test]
    fn unsafe_in_another_file() {
        let text = "// SAFETY: the pointer came from a slice.\nunsafe { a() }\n";
        catches(places, "src/tensor.rs", text, 2);
        accepts(places, "src/device/cpu/simd.rs", text);
        accepts(places, "src/tensor.rs", "// unsafe\nlet unsafe_code = \"unsafe\";\n");
    }

    #[test]
    fn a_second_unsafe_where_one_is_allowed() {
        catches(places, "src/serialize/map.rs", "unsafe { a() }\nunsafe { b() }\n", 2);
    }

    #[test]
    fn unsafe_without_an_argument() {
        let path = "src/device/cpu/a.rs";
        catches(arguments, path, "fn f() {\n    unsafe { a() }\n}\n", 2);
        catches(arguments, path, "// SAFETY: fine.\nunsafe { a() }\n", 2);
        let far = "// SAFETY: the pointer came from a slice.\nb();\nunsafe { a() }\n";
        catches(arguments, path, far, 3);
    }

    #[test]
    fn an_argument_before_the_statement() {
        let path = "src/device/cpu/a.rs";
        let text = "// SAFETY: the pointer came from a slice.\nlet x =\n    unsafe { a() };\n";
        accepts(arguments, path, text);
        let method =
            "// SAFETY: both go to System.\nunsafe impl A for B {\n    unsafe fn f() {}\n}\n";
        accepts(arguments, path, method);
        accepts(arguments, path, "/// # Safety\n/// `p` is valid.\nunsafe fn f(p: *const u8);\n");
    }
}
