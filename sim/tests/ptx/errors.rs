//! What is wrong is said with its line.

use super::{body, module};

#[test]
fn errors_name_the_line_and_what_is_wrong() {
    for (text, line, message) in [
        ("add.s32 %r1, %r1, 1;", 5, "`%r1` is not declared"),
        (".reg .b32 a;\n.reg .b32 a;", 6, "`a` is declared twice"),
        (".reg .b32 a;\nmov.b32 a, 0x;", 6, "`0x` is no number of PTX"),
        (
            ".reg .b32 a;\nmov.b32 a, 99999999999999999999;",
            6,
            "`99999999999999999999` is no number of PTX",
        ),
        (".reg .b32 a;\n@a ret;", 6, "`a` is no predicate register"),
        ("bra NOWHERE;", 5, "`NOWHERE` is not declared"),
        (".reg .frob a;", 5, "expected a type that the simulator has, found `.frob`"),
        ("call;", 5, "a call names one function"),
        ("T: .branchtargets n;", 5, "`n` is nothing that `.branchtargets` can list"),
        (".shared .align 3 .b8 a[4];", 5, "3 is no alignment: a power of two is one"),
        (".shared .b8 a[9000000000000000000];", 5, "a variable of more than 1 TiB"),
        (".local .b64 a[4611686018427387904];", 5, "a variable of more than 1 TiB"),
    ] {
        let error = body(text).expect_err(text);
        assert_eq!((error.line, error.message.as_str()), (line, message), "{text}");
    }
}

#[test]
fn errors_of_modules() {
    for (text, line, message) in [
        (".entry k() { ", 4, "this `{` is never closed"),
        (".frobnicate", 4, "expected a directive that the simulator has, found `.frobnicate`"),
        ("hello", 4, "expected a directive, found `hello`"),
        ("/* never", 4, "this comment has no end"),
        (".pragma \"never", 4, "this string has no end"),
        (".global .u8 a[2] = {1, 2, 3};", 4, "more values than `a` has elements"),
        (".global .u64 a = b;", 4, "`b` is declared nowhere above"),
        (".func f() { }\n.func f() { }", 5, "`f` is declared twice"),
        (
            ".entry k() .frob 1 { }",
            4,
            "expected a directive that the simulator has, or `{`, found `.frob`",
        ),
        ("\u{e9}", 4, "the byte 0xc3 is no part of PTX"),
    ] {
        let error = module(text).expect_err(text);
        assert_eq!((error.line, error.message.as_str()), (line, message), "{text}");
    }
    let error = engine_room_sim::ptx::parse("a.ptx", b"").unwrap_err();
    assert_eq!(
        error.to_string(),
        "a.ptx:1: expected `.version`, as every PTX file begins, found the end of the text"
    );
}

#[test]
fn nesting_has_a_limit_and_no_stack_overflow() {
    let deep = "{".repeat(100_000);
    assert!(body(&deep).is_err());
    assert!(module(&format!(".global .b8 a[] = {deep}")).is_err());
    assert!(body(&format!(".reg .b32 a;\nmov.b32 a, {deep}")).is_err());
    assert!(body(&format!(".reg .b32 a;\nmov.b32 a, {}", "[".repeat(100_000))).is_err());
}

#[test]
fn bytes_that_are_no_text_may_stand_in_comments() {
    let text = b".version 8.1\n.target sm_80\n// \xff\xfe\n.entry k() { ret; }\n";
    assert!(engine_room_sim::ptx::parse("a.ptx", text).is_ok());
}
