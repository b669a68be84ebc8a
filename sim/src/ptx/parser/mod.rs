//! From tokens to the syntax tree.

mod body;
mod constant;
mod cursor;
mod function;
mod instruction;
mod location;
mod module;
mod scope;
mod variable;

use super::ast::Module;
use super::error::Error;
use super::lexer;
use cursor::Cursor;

/// How deep blocks and braces may be nested: the parser calls itself for each.
const DEEPEST: usize = 64;

/// Reads a module.
///
/// `path` is the name of the file, for messages. Bytes that are no UTF-8 may stand in comments
/// and strings. The memory that it takes is at most some 200 bytes for each byte of the text.
///
/// # Errors
///
/// The first thing that is not as the PTX ISA says, with its line. What is right but means nothing
/// to the simulator (a texture's address, an unknown instruction) is no error here: it is in the
/// tree, to be refused by name in a kernel that reaches it.
pub fn parse(path: &str, text: &[u8]) -> Result<Module, Error> {
    let text = String::from_utf8_lossy(text);
    let tokens = lexer::tokens(&text).map_err(|(line, message)| Error {
        path: path.into(),
        line,
        message,
    })?;
    module::Parser::new(Cursor::new(path, &text, tokens)).module()
}
