//! Texts at which the simulator once failed.

use crate::exercise::exercise;

/// A kernel with these declarations and instructions.
fn kernel(body: &str) {
    let text = format!(
        ".version 8.1\n.target sm_80\n.address_size 64\n.entry k(.param .u64 out) {{\n\
         .reg .pred %p<9>;\n.reg .b16 %h<9>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n\
         .reg .f32 %f<9>;\n.reg .f64 %fd<9>;\n{body}\n}}\n"
    );
    exercise(text.as_bytes());
}

#[test]
fn nothing_at_all() {
    exercise(b"");
    exercise(b".version 8.1\n");
    kernel("");
    kernel("ret;");
    kernel("L: bra L;");
}
