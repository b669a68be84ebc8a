//! Misuse: what the engine says when it is asked for something that has no right answer.
//!
//! An operation that is given shapes, dtypes or devices that do not fit panics with a [`Misuse`] as
//! its payload, so that a grader can read the parts and a person can read the sentence.

use std::fmt;
use std::panic::{self, Location};
use std::sync::Once;

/// The payload of the panic that follows a wrong call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misuse {
    /// The operation that was asked for, by PyTorch's name where it has one.
    pub op: &'static str,
    /// What it was given, e.g. `f32 [2, 3]`.
    pub operands: Vec<String>,
    /// What is wrong and what to do.
    pub message: String,
    /// File and line of the call.
    pub at: String,
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}({}): {}", self.op, self.operands.join(", "), self.message)
    }
}

/// Panics with a [`Misuse`] that carries the line of the caller.
#[track_caller]
pub(crate) fn misuse(op: &'static str, operands: &[&dyn fmt::Display], message: String) -> ! {
    print_misuse_readably();
    let operands = operands.iter().map(|operand| operand.to_string()).collect();
    let at = Location::caller();
    let at = format!("{}:{}", at.file(), at.line());
    panic::panic_any(Misuse { op, operands, message, at })
}

/// The standard panic hook prints `Box<dyn Any>` for a payload that is not a string, so the first
/// misuse puts one before it that prints the sentence. Every other panic goes on to the old hook.
fn print_misuse_readably() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| match info.payload().downcast_ref::<Misuse>() {
            Some(misuse) => eprintln!("{}: {misuse}", misuse.at),
            None => before(info),
        }));
    });
}
