//! Atomic operations, and what they tell of the order of blocks.

use super::code::{Access, Kernel, Op};
use super::space::Space;

/// An atomic operation on memory.
#[derive(Debug, Clone, Copy)]
pub struct Atomic {
    /// Where, how wide, and the register for the old value: the first of `registers`.
    pub access: Access,
    /// Whether the old value is wanted (`atom`, not `red`).
    pub returns: bool,
    /// What becomes of the old value.
    pub rule: Rule,
    /// The operand, and for `cas` the second one (the new value).
    pub sources: [u32; 2],
}

/// What an atomic operation makes of the old value and its operand (§9.7.13.15).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the ISA's")]
pub enum Rule {
    Add,
    And,
    Or,
    Xor,
    Exchange,
    CompareAndSwap,
    MinSigned,
    MaxSigned,
    MinUnsigned,
    MaxUnsigned,
    /// Wraps to zero beyond the operand.
    Increment,
    /// Wraps to the operand below zero.
    Decrement,
    AddF32,
    AddF64,
    AddF16,
    AddBf16,
    AddF16x2,
    AddBf16x2,
}

impl Rule {
    /// Whether two of them leave the same in either order.
    fn commutes(self) -> bool {
        use Rule::*;
        let exact = [Add, And, Or, Xor, MinSigned, MaxSigned, MinUnsigned, MaxUnsigned];
        exact.contains(&self)
    }
}

impl Kernel {
    /// Whether what it leaves in memory may depend on which of two blocks comes first, without any
    /// race: where an atomic operation tells what was there before, or does not commute with itself
    /// (sums of floats are rounded).
    pub fn sees_order(&self) -> bool {
        let sees = |atomic: &Atomic| atomic.returns || !atomic.rule.commutes();
        let atomics = self.code.iter().filter_map(|instruction| match &instruction.op {
            Op::Atomic(atomic) => Some(&**atomic),
            _ => None,
        });
        atomics.filter(|atomic| atomic.access.space != Space::Shared).any(sees)
    }
}
