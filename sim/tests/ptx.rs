//! Reads PTX: what compilers wrote, one thing at a time, and what is wrong.

#[path = "ptx/errors.rs"]
mod errors;
#[path = "ptx/files.rs"]
mod files;
#[path = "ptx/operands.rs"]
mod operands;
#[path = "ptx/variables.rs"]
mod variables;

use engine_room_sim::ptx::ast::Module;
use engine_room_sim::ptx::{Error, parse};

/// A module with these lines behind its header, which has three.
fn module(text: &str) -> Result<Module, Error> {
    let text = format!(".version 8.1\n.target sm_80\n.address_size 64\n{text}");
    parse("test.ptx", text.as_bytes())
}

/// A module with one kernel of this body, whose first line is the fifth.
fn body(text: &str) -> Result<Module, Error> {
    module(&format!(".entry k(.param .u64 out, .param .u32 n) {{\n{text}\n}}\n"))
}
