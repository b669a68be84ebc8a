//! Tests of Rust items by name.

use super::*;

const SOURCE: &str = r#"//! Binary ops.
use x::y;

/// y = a · b
#[derive(Clone)]
pub struct Mul;

impl Op<2> for Mul {
fn name(&self) -> &'static str { "mul" }
/// dA = dy · b
fn backward(&self) {
    let s = "}";
}
}

impl Mul {
fn new() -> Mul { Mul }
}

impl Div<f32> for &Tensor { fn div(self) {} }
impl Div<i64> for &Tensor { fn div(self) {} }

mod inner {
pub const LIMIT: usize = 3;
}
"#;

#[test]
fn items_come_with_their_docs_and_lines() {
    let item = find(SOURCE, "Mul", true).unwrap();
    assert_eq!(item.text, "/// y = a · b\n#[derive(Clone)]\npub struct Mul;");
    assert_eq!(item.lines, (4, 6));
    let item = find(SOURCE, "Mul", false).unwrap();
    assert_eq!(item.text, "#[derive(Clone)]\npub struct Mul;");
    assert_eq!(item.lines, (5, 6));
}

#[test]
fn methods_are_dedented_and_found_by_type_or_by_trait() {
    let item = find(SOURCE, "Mul::backward", true).unwrap();
    assert_eq!(item.text, "/// dA = dy · b\nfn backward(&self) {\n    let s = \"}\";\n}");
    assert_eq!(find(SOURCE, "<Mul as Op>::backward", false).unwrap().lines, (11, 13));
    assert!(find(SOURCE, "impl Op for Mul", true).unwrap().text.contains("\"mul\""));
    assert_eq!(find(SOURCE, "impl Mul", true).unwrap().lines, (16, 18));
    assert!(find(SOURCE, "inner::LIMIT", true).unwrap().text.starts_with("pub const"));
}

#[test]
fn a_wrong_name_lists_the_near_ones_and_a_double_name_its_lines() {
    let wrong = find(SOURCE, "Mul::backwards", true).unwrap_err();
    assert!(wrong.todo.contains("`Mul::backward`"), "{}", wrong.todo);
    let wrong = find(SOURCE, "impl Div for &Tensor", true).unwrap_err();
    assert!(wrong.what.contains("lines 20 and 21"), "{}", wrong.what);
    assert!(find(SOURCE, "impl Div<i64> for &Tensor", true).is_ok());
}
