//! One kernel with something to do.

use super::operands::{NUMEL, Operands};

/// A call of the engine that launches a kernel, and what the operation needs.
#[derive(Clone, Copy)]
pub struct Case {
    /// The kernel's name in the PTX.
    pub kernel: &'static str,
    /// What it runs on, where that is not packed and 512 x 512.
    pub of: &'static str,
    /// Launches it, and maybe others.
    pub call: fn(&Operands),
    /// Elements that it works on.
    pub elements: usize,
    /// Bytes that must come from memory or go there: each operand once, each result once.
    pub bytes: usize,
}

impl Case {
    /// A kernel that needs so many bytes for each of 512 x 512 elements.
    pub const fn each(kernel: &'static str, bytes: usize, call: fn(&Operands)) -> Case {
        Case { kernel, of: "", call, elements: NUMEL, bytes: bytes * NUMEL }
    }

    /// The same with other operands.
    pub const fn of(self, of: &'static str) -> Case {
        Case { of, ..self }
    }

    /// The same with some bytes more.
    pub const fn and(self, bytes: usize) -> Case {
        Case { bytes: self.bytes + bytes, ..self }
    }

    /// Another number of elements, and of bytes for them.
    pub const fn sized(self, elements: usize, bytes: usize) -> Case {
        Case { elements, bytes, ..self }
    }
}
