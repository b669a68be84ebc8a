//! What this thread is doing: the operation and the module on whose behalf memory is taken.
//!
//! `autograd` says which operation runs, and modules of `nn` which part of them. Whoever counts
//! memory asks here, so that no operation has to pass its name along.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
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

    /// Whether both have not only equal names but the same text in memory, which is seen at once.
    pub(super) fn is_same_text(&self, other: &RunningOp) -> bool {
        std::ptr::eq(self.name, other.name) && self.backward == other.backward
    }
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
    static OP: Cell<&'static str> = const { Cell::new("") };
    static IS_BACKWARD: Cell<bool> = const { Cell::new(false) };
    static MODULE: Cell<&'static str> = const { Cell::new("") };
}

/// The label of what is taken now.
pub(super) fn label() -> Label {
    Label { op: running_op(), role: Role::Other, module: current_module() }
}

/// The operation that runs.
pub(super) fn running_op() -> RunningOp {
    RunningOp { name: OP.get(), backward: IS_BACKWARD.get() }
}

fn set_running_op(op: RunningOp) {
    OP.set(op.name);
    IS_BACKWARD.set(op.backward);
}

/// Names the operation that runs until the guard is dropped, unless one runs already: what an
/// operation calls is part of it.
#[must_use]
pub(crate) fn running(name: &'static str, backward: bool) -> Running {
    let before = running_op();
    if before.name.is_empty() {
        set_running_op(RunningOp { name, backward });
    }
    Running(before)
}

/// Lets what runs until the guard is dropped be no part of an operation.
#[must_use]
pub(crate) fn outside_operations() -> Running {
    let before = running_op();
    set_running_op(RunningOp::NONE);
    Running(before)
}

/// Sets the operation back to what it was, even if the code in between panics.
pub(crate) struct Running(RunningOp);

impl Drop for Running {
    fn drop(&mut self) {
        set_running_op(self.0);
    }
}

/// The module that computes now, as the whole model calls it; empty outside any.
pub(crate) fn current_module() -> &'static str {
    MODULE.get()
}

/// Names the module that computes until the guard is dropped.
#[must_use]
pub(crate) fn inside_module(module: &'static str) -> InsideModule {
    InsideModule(MODULE.replace(module))
}

/// Names the part of the current module that computes until the guard is dropped.
#[must_use]
pub(crate) fn inside_part(name: &'static str, number: Option<usize>) -> InsideModule {
    inside_module(part_of(current_module(), name, number))
}

/// Sets the module back to what it was, even if the code in between panics.
pub(crate) struct InsideModule(&'static str);

impl Drop for InsideModule {
    fn drop(&mut self) {
        MODULE.set(self.0);
    }
}

/// What a part is called from outside: `blocks` with 3 in nothing is `blocks.3`, `linear1` in that
/// is `blocks.3.linear1`. Each text is made once, for the rest of the program: there are as many as
/// models have parts.
fn part_of(module: &'static str, name: &'static str, number: Option<usize>) -> &'static str {
    type Part = (&'static str, &'static str, Option<usize>);
    static TEXTS: Mutex<BTreeMap<Part, &'static str>> = Mutex::new(BTreeMap::new());
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    texts.entry((module, name, number)).or_insert_with(|| {
        let number = number.map(|n| n.to_string()).unwrap_or_default();
        let pieces = [module, name, &number].into_iter().filter(|piece| !piece.is_empty());
        pieces.collect::<Vec<_>>().join(".").leak()
    })
}
