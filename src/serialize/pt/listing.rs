//! What a pickle would do, listed without doing it, as Python's `pickletools.dis` does.

use std::fmt;

use crate::error::{Error, Quoted};
use crate::serialize::pt::opcodes::{Argument, Opcodes, Step};

/// One instruction of a pickle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PickleOp {
    /// Bytes of the stream before it.
    pub position: usize,
    /// Its name in Python's `pickle`.
    pub name: &'static str,
    /// What follows it, as a person reads it: a number, text between quotation marks, the module
    /// and the name of a `GLOBAL`. Long ones are cut.
    pub argument: String,
    /// Whether [`load_pt`](crate::serialize::load_pt) carries such an instruction out. A `GLOBAL`
    /// may still be refused for what it names.
    pub allowed: bool,
}

impl fmt::Display for PickleOp {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let line = format!("{:>5}: {:16} {}", self.position, self.name, self.argument);
        f.write_str(line.trim_end())
    }
}

/// The instructions of a pickle up to its `STOP`, none of which is carried out.
pub fn pickle_opcodes(bytes: &[u8]) -> Result<Vec<PickleOp>, Error> {
    let listed = Opcodes::new(bytes).map(|step| step.map(|step| listed(bytes, step)));
    listed
        .collect::<Result<_, _>>()
        .map_err(|message| Error::File { path: "pickle".to_string(), message })
}

fn listed(bytes: &[u8], step: Step) -> PickleOp {
    let text = |range| String::from_utf8_lossy(&bytes[range]).into_owned();
    let argument = match step.argument {
        Argument::Nothing => String::new(),
        Argument::Number(number) => number.to_string(),
        Argument::Float(number) => format!("{number:?}"),
        Argument::Text(range) => Quoted(&text(range)).to_string(),
        Argument::Lines2(module, name) => {
            format!("{} {}", shown(&text(module)), shown(&text(name)))
        }
        Argument::Bytes(range) => format!("{} bytes", range.len()),
    };
    PickleOp { position: step.position, name: step.name, argument, allowed: step.op.is_some() }
}

/// A name without quotation marks.
fn shown(name: &str) -> String {
    Quoted(name).to_string().replace('"', "")
}
