//! Tests of formulas.

use super::*;

#[test]
fn formulas_become_mathml_and_code_does_not() {
    let page = render("Cost is $x_i$, `a $b$ c`, \\$5.\n\n```sh\n$ ls $HOME\n```\n").unwrap();
    assert!(page.starts_with("Cost is <math><msub>"), "{page}");
    assert!(page.contains("`a $b$ c`, \\$5.\n\n```sh\n$ ls $HOME\n"), "{page}");
}

#[test]
fn a_formula_survives_markdown() {
    let page = render("a $|x| * y * [z](w)$ b").unwrap();
    assert!(!page.contains('*') && !page.contains("]("), "{page}");
    assert!(render("$$\n\\frac{a}{b}\n$$").unwrap().contains("display=\"block\""));
}

#[test]
fn a_broken_formula_is_named() {
    let wrong = render("so $\\frobnicate{x}$").unwrap_err();
    assert!(wrong.what.contains("frobnicate"), "{}", wrong.what);
}

#[test]
fn a_stray_dollar_is_refused() {
    assert!(render("| a |\n|---|\n| $|x|$ |").unwrap_err().what.contains("dollar"));
    assert!(render("5 \\$ and `$`").is_ok());
}
