//! What this thread is doing: the operation and the module on whose behalf memory is taken.
//!
//! `autograd` says which operation runs, and containers in `nn` which part of them. Whoever counts
//! memory asks here, so that no operation has to pass its name along.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt::{self, Write};
use std::sync::{Mutex, PoisonError};

use crate::memory::Role;

/// An operation as the reports name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunningOp {
    /// Its name; empty outside any operation, as for the tensors that a program makes itself.
    pub name: &'static str,
    /// Whether it is its backward pass.
    pub backward: bool,
}

impl RunningOp {
    /// Outside any operation.
    pub const NONE: RunningOp = RunningOp { name: "", backward: false };
}

impl fmt::Display for RunningOp {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match (self.name, self.backward) {
            ("", _) => f.write_str("no operation"),
            (name, false) => f.write_str(name),
            (name, true) => write!(f, "{name} backward"),
        }
    }
}

/// For whom some memory was taken, and what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label {
    /// The operation that ran.
    pub op: RunningOp,
    /// What the bytes are for, as far as it is known.
    pub role: Role,
    /// The module, `blocks.3.linear1`; empty outside any.
    pub module: &'static str,
}

impl Label {
    /// Of what no tensor has.
    pub const NONE: Label = Label { op: RunningOp::NONE, role: Role::Other, module: "" };
}

thread_local! {
    static OP: Cell<RunningOp> = const { Cell::new(RunningOp::NONE) };
    static MODULE: Cell<&'static str> = const { Cell::new("") };
}

/// The label of what is taken now.
pub(super) fn label() -> Label {
    Label { op: OP.get(), role: Role::Other, module: MODULE.get() }
}

/// Names the operation that runs until the guard is dropped, unless one runs already: what an
/// operation calls is part of it.
#[must_use]
pub(crate) fn running(name: &'static str, backward: bool) -> Running {
    let before = OP.get();
    if before == RunningOp::NONE {
        OP.set(RunningOp { name, backward });
    }
    Running(before)
}

/// Lets what runs until the guard is dropped be no part of an operation.
#[must_use]
pub(crate) fn outside_operations() -> Running {
    Running(OP.replace(RunningOp::NONE))
}

/// Sets the operation back to what it was, even if the code in between panics.
pub(crate) struct Running(RunningOp);

impl Drop for Running {
    fn drop(&mut self) {
        OP.set(self.0);
    }
}

/// Names the part of a module that computes until the guard is dropped. `blocks` with 3 inside
/// nothing is `blocks.3`; parts inside a part get its name in front.
#[must_use]
pub(crate) fn inside_part(name: &str, number: Option<usize>) -> InsidePart {
    let before = MODULE.get();
    let mut path = String::from(before);
    for piece in [Some(name.to_string()), number.map(|n| n.to_string())].into_iter().flatten() {
        if !piece.is_empty() {
            let dot = if path.is_empty() { "" } else { "." };
            write!(path, "{dot}{piece}").expect("a String");
        }
    }
    MODULE.set(interned(path));
    InsidePart(before)
}

/// The part of a module that computes now.
pub(crate) fn current_module() -> &'static str {
    MODULE.get()
}

/// Sets the module back to what it was, even if the code in between panics.
pub(crate) struct InsidePart(&'static str);

impl Drop for InsidePart {
    fn drop(&mut self) {
        MODULE.set(self.0);
    }
}

/// Each path once, for the rest of the program: there are as many as models have parts.
fn interned(path: String) -> &'static str {
    static PATHS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut paths = PATHS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = paths.get(path.as_str()) {
        return known;
    }
    let path: &'static str = path.leak();
    paths.insert(path);
    path
}
