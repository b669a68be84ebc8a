//! Tests of links and ids.

use super::*;

fn page(text: &str) -> Page {
    Page::new("book/src/x.md".into(), text.into(), text)
}

fn problems(text: &str) -> Vec<Problem> {
    let pages = [
        (PathBuf::from("03-autograd/index.md"), page(text)),
        (PathBuf::from("architecture.md"), page("# Map\n## Who holds the graph?\n")),
    ];
    check(&pages.into(), Path::new("nowhere"))
}

#[test]
fn headings_get_mdbooks_ids() {
    let text = "# Two inputs, one rule\n## `f(x)` -- a_b\n## Twice\n## Twice\n## X {#own}\n\
                <p id=\"raw\">\n";
    let ids = page(text).ids;
    for id in ["two-inputs-one-rule", "fx--a_b", "twice", "twice-1", "own", "raw"] {
        assert!(ids.contains(id), "{id} in {ids:?}");
    }
}

#[test]
fn links_to_pages_and_headings_must_lead_somewhere() {
    let good = "# A b\n[a](#a-b) [m](../architecture.md#who-holds-the-graph) [w](https://x.y)";
    assert!(problems(good).is_empty());
    let bad = "# A\n\n[x](#b) [y](../architecture.md#who) [z](../views.md) [i](i.svg)";
    let bad = problems(bad);
    assert_eq!(bad.len(), 4);
    assert!(bad.iter().all(|problem| problem.line == 3), "{bad:?}");
    assert!(bad[1].wrong.todo.contains("who-holds-the-graph"), "{}", bad[1]);
}
