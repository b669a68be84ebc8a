//! Tests of chapters: what is resolved, what is left alone, and what fails.

use super::*;

/// A repository of two source files and one lab.
struct Repository(PathBuf);

impl Repository {
    fn new(name: &str) -> Repository {
        let root = std::env::temp_dir().join(format!("book-{name}-{}", std::process::id()));
        let lab = root.join("labs/lab-03-autograd");
        for folder in
            [root.join("src"), root.join("kernels"), root.join("book/src/03"), lab.clone()]
        {
            std::fs::create_dir_all(folder).unwrap();
        }
        let write = |path: PathBuf, text: &str| std::fs::write(path, text).unwrap();
        write(
            root.join("src/ops.rs"),
            "/// y = a\n///\n/// ```\n/// x\n/// ```\npub fn mul() {}\n",
        );
        write(root.join("kernels/relu.cu"), "// Relu.\n__global__ void relu(int n) { n; }\n");
        write(lab.join("stub.rs"), "/// Gradients.\npub fn f() {\n    exercise!(\"3.1\")\n}\n");
        write(
            lab.join("lab.toml"),
            "id = \"03\"\nslug = \"03-autograd\"\ntitle = \"Autograd\"\n\
             [[exercise]]\nid = \"3.1\"\ntitle = \"Multiply\"\nfunctions = [\"f\"]\n\
             kind = \"implement\"\nminutes = { estimate = 15, measured = [] }\npoints = 10\n\
             section = \"rule\"\nstatement = \"Give $dx$.\"\nhints = [\"a\", \"b\", \"c\"]\n\
             [[prediction]]\nid = \"3.a\"\nquestion = \"How much?\"\nunit = \"bytes\"\n\
             experiment = \"saved\"\n",
        );
        Repository(root)
    }

    fn expand(&self, text: &str) -> (String, Vec<String>) {
        let place = Place::new(&self.0, &self.0.join("book/src"), Path::new("03/index.md"));
        let (expanded, problems) = super::expand(&place, text);
        (expanded, problems.iter().map(Problem::to_string).collect())
    }
}

impl Drop for Repository {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn items_and_kernels_become_listings() {
    let repository = Repository::new("items");
    let (text, problems) = repository
        .expand("# T\n\n{{#item src/ops.rs mul}}\n\n{{#item kernels/relu.cu relu nodoc}}\n");
    assert!(problems.is_empty(), "{problems:?}");
    assert!(text.contains("<code>src/ops.rs</code>, lines 1–6"), "{text}");
    assert!(text.contains("````rust\n/// y = a\n"), "a longer fence: {text}");
    assert!(text.contains("```cpp\n__global__ void relu(int n) { n; }\n```"), "{text}");
}

#[test]
fn boxes_come_from_the_lab() {
    let repository = Repository::new("lab");
    let (text, problems) = repository.expand("{{#exercise 3.1}}\n\n{{#prediction 3.a}}\n");
    assert!(problems.is_empty(), "{problems:?}");
    for part in [
        "### Exercise 3.1: Multiply {#exercise-3-1}",
        "about 15 min (estimate) · 10 points",
        "Give <math><mi>d</mi><mi>x</mi></math>.",
        "/// Gradients.\npub fn f() {\n    exercise!(\"3.1\")\n}",
        "cargo test --test lab-03-autograd -- 3.1",
        "<summary>Hint 3 of 3: nearly the answer</summary>",
        "[the section that it comes from](#rule)",
        "predict 3.a",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn code_is_left_alone() {
    let repository = Repository::new("code");
    let page = "`{{#item a b}}` and `$x$`\n\n\
        ```md\n{{#exercise 3.1}}\n$y$\n```\n\n    {{#stub 9}}\n\n\
        \\{{#item c d}}\n";
    let (text, problems) = repository.expand(page);
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(text, page);
}

#[test]
fn what_does_not_resolve_names_chapter_line_and_remedy() {
    let repository = Repository::new("bad");
    let bad = [
        ("{{#item src/ops.rs mull}}", "Near: `mul`"),
        ("{{#item src/op.rs mul}}", "Near: `ops.rs`"),
        ("{{#item src/ops.rs}}", "Near: `mul`"),
        ("{{#item labs/lab-03-autograd/exercise.rs f}}", "the reader's to change"),
        ("{{#exercise 3.9}}", "Near: `3.1`"),
        ("{{#exercise 4.1}}", "No lab has"),
        ("{{#exercize 3.1}}", "Near: `exercise`"),
        ("see {{#stub 3.1}}", "line of its own"),
        ("{{#stub 3.1", "line of its own"),
        ("{{#output saved}}", "no output/saved.toml"),
        ("{{#include no.txt}}", "There is no file no.txt"),
        ("{{#include ../../../src/ops.rs:part}}", "no line or anchor `part`"),
        ("```rust\n{{#include no.rs}}\n```", "There is no file no.rs"),
        ("$\\frobnicate{x}$", "not TeX"),
        ("```check\nquestion = 3\n```", "not as expected"),
    ];
    for (page, remedy) in bad {
        let (_, problems) = repository.expand(&format!("# Title\n\n{page}\n"));
        assert_eq!(problems.len(), 1, "{page}: {problems:?}");
        assert!(problems[0].starts_with("book/src/03/index.md:"), "{}", problems[0]);
        assert!(problems[0].contains(remedy), "{}", problems[0]);
    }
}

#[test]
fn mdbooks_own_directives_stay_for_mdbook() {
    let repository = Repository::new("include");
    let page = "{{#title T}}\n\n```rust\n{{#include ../../../src/ops.rs:6}}\n```\n";
    let (text, problems) = repository.expand(page);
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(text, page);
}
