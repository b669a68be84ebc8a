//! What lab 00 checks: one function an exercise, each on a table of the learner's functions, so
//! that the same checks judge the learner, the solution, other right answers and typical mistakes.

#[path = "checks/bytes.rs"]
mod bytes;
#[path = "checks/gib.rs"]
mod gib;

use grading::Exercise;

use super::format::Format;

/// The functions of the lab's exercises.
#[derive(Clone, Copy)]
pub struct Implementation {
    /// 0.1
    pub gib: fn(u64) -> f64,
    /// 0.2
    pub weight_bytes: fn(u64, Format) -> u64,
}

/// The table of the functions in a module: `implementation!(exercise)`.
macro_rules! implementation {
    ($functions:ident) => {
        $crate::checks::Implementation {
            gib: $functions::gib,
            weight_bytes: $functions::weight_bytes,
        }
    };
}
pub(crate) use implementation;

/// Every exercise of the lab, in the order of `lab.toml`.
pub const CHECKS: &[Exercise<Implementation>] =
    &[Exercise { id: "0.1", check: gib::gib }, Exercise { id: "0.2", check: bytes::bytes }];
