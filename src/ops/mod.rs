//! Operations: methods of [`Tensor`], one file a family, and the table of all of them.
//!
//! Each operation is a small struct with both passes in one `impl Op<N>`. The public method checks
//! its operands, so that an error names the caller's line, and hands the struct to
//! [`apply`](crate::autograd::apply).

mod activation;
mod attention;
mod autocast;
mod binary;
mod cast;
mod choose;
mod compare;
mod cross_entropy;
mod division;
mod dropout;
mod embedding;
mod exponential;
mod extremes;
mod in_place;
mod index;
mod join;
mod linear;
mod logic;
mod lookup;
mod loss;
mod matmul;
mod moments;
mod norm;
mod power;
mod reduce;
mod rounding;
mod scalar;
mod scan;
mod selection;
mod slices;
mod softmax;
mod table;
mod trigonometric;
mod unary;
mod view;
mod window;

pub use attention::Attention;
pub(crate) use autocast::forget_casts;
pub use autocast::{AUTOCAST_OPS, Policy};
pub use cast::To;
pub use cross_entropy::CrossEntropy;
pub use loss::Reduction;
pub use matmul::matmul_with;
pub use table::{OPS, OpRow, Sample};

use crate::Tensor;
use crate::dtype::{DType, Scalar, Source};
use crate::error::misuse;
use crate::shape;

/// The type of an operation's result on these tensors: PyTorch's `result_type`. Floating-point
/// types win over integers and those over `bool`; within one kind, tensors with dimensions decide
/// before tensors of one number, and then the larger type wins.
pub fn result_type(operands: &[&Tensor]) -> DType {
    let first = operands[0];
    let alike = |x: &&Tensor| x.dtype() == first.dtype();
    if operands.iter().all(alike) {
        return first.dtype();
    }
    let source = |x: &Tensor| if x.shape().is_empty() { Source::ZeroDim } else { Source::Dims };
    let operands: Vec<_> = operands.iter().map(|x| (x.dtype(), source(x))).collect();
    DType::of_result(&operands)
}

/// x in the type that it has together with a number of the program.
fn with_scalar(x: &Tensor, c: Scalar) -> Tensor {
    let source = if x.shape().is_empty() { Source::ZeroDim } else { Source::Dims };
    x.to(DType::of_result(&[(x.dtype(), source), (c.dtype(), Source::Number)]))
}

/// x itself if it is floating-point, else in `f32`: what PyTorch does for functions such as exp.
fn floating(x: &Tensor) -> Tensor {
    if x.dtype().is_floating_point() { x.clone() } else { x.to(DType::F32) }
}

/// Refuses operands that are not floating-point.
#[track_caller]
fn expect_floating(op: &'static str, operands: &[&Tensor]) {
    if operands.iter().any(|operand| !operand.dtype().is_floating_point()) {
        refuse(op, operands, "needs floating-point operands; convert them with to()".to_string());
    }
}

/// Refuses a number that the elements of x cannot stand for: it would become another one unseen.
#[track_caller]
fn expect_fits(op: &'static str, x: &Tensor, value: Scalar) {
    if !value.fits(x.dtype()) {
        let message =
            format!("{value} does not fit into {}; convert the tensor with to()", x.dtype());
        refuse(op, &[x], message);
    }
}

/// Refuses operands on different devices.
#[track_caller]
fn expect_one_device(op: &'static str, operands: &[&Tensor]) {
    let device = operands[0].device();
    if let Some(other) = operands.iter().find(|operand| operand.device() != device) {
        let message = format!(
            "the operands are on {device} and {}; move one of them with to()",
            other.device()
        );
        refuse(op, operands, message);
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

/// Refuses an index tensor (`i64`) that names an element which `dim` does not have.
#[track_caller]
fn expect_in_range(op: &'static str, x: &Tensor, dim: usize, index: &Tensor) {
    let size = x.shape()[dim];
    let bad = index.to_vec::<i64>().into_iter().find(|i| !(0..size as i64).contains(i));
    if let Some(bad) = bad {
        let message = format!("index {bad} is not in 0..{size}, the range of dimension {dim}");
        refuse(op, &[x, index], message);
    }
}

/// Panics with what was asked of which operands.
#[track_caller]
fn refuse(op: &'static str, operands: &[&Tensor], message: String) -> ! {
    let briefs: Vec<String> = operands.iter().map(|operand| operand.brief()).collect();
    let briefs: Vec<&dyn std::fmt::Display> = briefs.iter().map(|brief| brief as _).collect();
    misuse(op, &briefs, message)
}
