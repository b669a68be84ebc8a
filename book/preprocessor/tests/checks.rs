//! Tests of checks and invariants.

use super::*;

fn with(options: &str) -> Result<String, Wrong> {
    check(&format!("question = \"How many bytes?\"\n{options}"))
}

const RIGHT: &str = "[[option]]\ntext = \"$4n$ bytes\"\nright = true\nwhy = \"Four each.\"\n";
const WRONG: &str = "[[option]]\ntext = \"`n` bytes\"\nright = false\nwhy = \"Elements.\"\n";

#[test]
fn options_open_to_their_explanation() {
    let html = with(&format!("{RIGHT}{WRONG}")).unwrap();
    assert!(html.contains("<summary><math>"), "{html}");
    assert!(html.contains("<summary><code>n</code> bytes</summary>"), "{html}");
    assert!(html.contains("**Right.** Four each."), "{html}");
    assert!(html.contains("**Not so.** Elements."), "{html}");
}

#[test]
fn a_check_without_one_right_option_is_refused() {
    assert!(with(&format!("{WRONG}{WRONG}")).unwrap_err().what.contains("0 of them right"));
    assert!(with(&format!("{RIGHT}{RIGHT}")).is_err());
    assert!(with(&format!("many = true\n{RIGHT}{RIGHT}")).is_ok());
    assert!(with(RIGHT).is_err());
    assert!(with("[[option]]\ntext = 3").unwrap_err().what.contains("line 3"));
}

#[test]
fn unclear_words_and_silent_options_are_refused() {
    let all = WRONG.replace("`n` bytes", "All of the above");
    assert!(with(&format!("{RIGHT}{all}")).is_err());
    let not = WRONG.replace("`n` bytes", "It is NOT saved");
    assert!(with(&format!("{RIGHT}{not}")).is_err());
    assert!(with(&format!("{RIGHT}{}", WRONG.replace("Elements.", ""))).is_err());
    assert!(with(&format!("{RIGHT}{}", WRONG.replace("`n` bytes", "It is not saved"))).is_ok());
}
