//! Operations: methods of [`Tensor`], one file a family, and the table of all of them.
//!
//! Each operation is a small struct with both passes in one `impl Op<N>`. The public method checks
//! its operands, so that an error names the caller's line, and hands the struct to
//! [`apply`](crate::autograd::apply).

mod binary;
mod in_place;
mod index;
mod loss;
mod matmul;
mod reduce;
mod softmax;
mod table;
mod unary;
mod view;
mod window;

pub use table::{OPS, OpRow, Sample};

use crate::Tensor;
use crate::dtype::DType;
use crate::error::misuse;
use crate::shape;

/// Refuses operands whose elements are not `f32`.
#[track_caller]
fn expect_f32(op: &'static str, operands: &[&Tensor]) {
    if operands.iter().any(|operand| operand.dtype() != DType::F32) {
        refuse(op, operands, "needs f32 operands".to_string());
    }
}

/// A dimension counted from the front; a tensor without dimensions counts as having one.
#[track_caller]
fn expect_dim(op: &'static str, x: &Tensor, dim: isize) -> usize {
    let rank = x.shape().len().max(1);
    let Some(dim) = shape::normalize_dim(dim, rank) else {
        let message =
            format!("there is no dimension {dim}; valid ones are -{rank} to {}", rank - 1);
        refuse(op, &[x], message)
    };
    dim
}

/// Panics with what was asked of which operands.
#[track_caller]
fn refuse(op: &'static str, operands: &[&Tensor], message: String) -> ! {
    let briefs: Vec<String> = operands.iter().map(|operand| operand.brief()).collect();
    let briefs: Vec<&dyn std::fmt::Display> = briefs.iter().map(|brief| brief as _).collect();
    misuse(op, &briefs, message)
}
