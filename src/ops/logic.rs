//! Logic: of truth values, of the bits of integers, and what floating-point numbers are. None of
//! it has a gradient.

use crate::Tensor;
use crate::device::{Binary, Unary};
use crate::dtype::DType;
use crate::ops::binary::{binary, broadcast_pair};
use crate::ops::unary::unary;
use crate::ops::{floating, refuse};

impl Tensor {
    /// Where both are true, broadcast, as `bool`. A number is true unless it is 0; NaN is true.
    #[track_caller]
    pub fn logical_and(&self, other: &Tensor) -> Tensor {
        logical(Binary::BitwiseAnd, "logical_and", self, other)
    }

    /// Where one or both are true, broadcast, as `bool`. A number is true unless it is 0.
    #[track_caller]
    pub fn logical_or(&self, other: &Tensor) -> Tensor {
        logical(Binary::BitwiseOr, "logical_or", self, other)
    }

    /// Where one is true and the other is not, broadcast, as `bool`. A number is true unless it
    /// is 0.
    #[track_caller]
    pub fn logical_xor(&self, other: &Tensor) -> Tensor {
        logical(Binary::BitwiseXor, "logical_xor", self, other)
    }

    /// Where x is not true, that is, where it is 0, as `bool`.
    #[track_caller]
    pub fn logical_not(&self) -> Tensor {
        unary(Unary::BitwiseNot, &self.to(DType::Bool))
    }

    /// The bits that both have, broadcast; for `bool` it is "and".
    ///
    /// # Panics
    /// If one is floating-point.
    #[track_caller]
    pub fn bitwise_and(&self, other: &Tensor) -> Tensor {
        expect_bits("bitwise_and", &[self, other]);
        let (a, b) = broadcast_pair("bitwise_and", self, other);
        binary(Binary::BitwiseAnd, &a, &b)
    }

    /// The bits that one or both have, broadcast; for `bool` it is "or".
    ///
    /// # Panics
    /// If one is floating-point.
    #[track_caller]
    pub fn bitwise_or(&self, other: &Tensor) -> Tensor {
        expect_bits("bitwise_or", &[self, other]);
        let (a, b) = broadcast_pair("bitwise_or", self, other);
        binary(Binary::BitwiseOr, &a, &b)
    }

    /// The bits in which the two differ, broadcast; for `bool` it is "one, but not both".
    ///
    /// # Panics
    /// If one is floating-point.
    #[track_caller]
    pub fn bitwise_xor(&self, other: &Tensor) -> Tensor {
        expect_bits("bitwise_xor", &[self, other]);
        let (a, b) = broadcast_pair("bitwise_xor", self, other);
        binary(Binary::BitwiseXor, &a, &b)
    }

    /// Every bit inverted: −x − 1 of a signed integer, 255 − x of a `u8`, "not" of a `bool`.
    ///
    /// # Panics
    /// If x is floating-point.
    #[track_caller]
    pub fn bitwise_not(&self) -> Tensor {
        expect_bits("bitwise_not", &[self]);
        unary(Unary::BitwiseNot, self)
    }

    /// Where x is NaN, as `bool`: NaN is the one number that does not equal itself.
    #[track_caller]
    pub fn isnan(&self) -> Tensor {
        self.ne(self)
    }

    /// Where x is ∞ or −∞, as `bool`.
    #[track_caller]
    pub fn isinf(&self) -> Tensor {
        floating(&self.detach()).abs().eq_scalar(f64::INFINITY)
    }

    /// Where x is neither infinite nor NaN, as `bool`.
    #[track_caller]
    pub fn isfinite(&self) -> Tensor {
        floating(&self.detach()).abs().lt_scalar(f64::INFINITY)
    }
}

#[track_caller]
fn logical(f: Binary, op: &'static str, a: &Tensor, b: &Tensor) -> Tensor {
    let (a, b) = broadcast_pair(op, &a.to(DType::Bool), &b.to(DType::Bool));
    binary(f, &a, &b)
}

#[track_caller]
fn expect_bits(op: &'static str, operands: &[&Tensor]) {
    if operands.iter().any(|operand| operand.dtype().is_floating_point()) {
        let message = "a floating-point number has no bits to combine; convert it with to()";
        refuse(op, operands, message.to_string());
    }
}
