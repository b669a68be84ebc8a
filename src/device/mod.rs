//! Devices: where tensors live, and the families of kernels that every backend provides.

pub mod cpu;

use std::fmt;

use crate::layout::Layout;
use crate::storage::Storage;

/// Where a tensor's bytes are and where its operations run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Device {
    /// The host's memory and processor.
    Cpu,
}

impl Device {
    /// The kernels of the device. The one place that tells devices apart.
    pub fn backend(self) -> &'static dyn Backend {
        match self {
            Device::Cpu => &cpu::Cpu,
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Device::Cpu => f.write_str("cpu"),
        }
    }
}

/// An operand of a kernel: a storage and where in it the elements lie.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The numbers.
    pub storage: &'a Storage,
    /// Their shape, strides and offset.
    pub layout: &'a Layout,
}

/// Elementwise functions of one operand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unary {
    /// −x
    Neg,
    /// eˣ
    Exp,
    /// Natural logarithm.
    Log,
    /// Hyperbolic tangent.
    Tanh,
    /// max(x, 0); NaN stays NaN.
    Relu,
    /// x + c
    AddScalar(f32),
    /// x · c
    MulScalar(f32),
}

impl Unary {
    /// The operation's name.
    pub fn name(self) -> &'static str {
        match self {
            Unary::Neg => "neg",
            Unary::Exp => "exp",
            Unary::Log => "log",
            Unary::Tanh => "tanh",
            Unary::Relu => "relu",
            Unary::AddScalar(_) => "add_scalar",
            Unary::MulScalar(_) => "mul_scalar",
        }
    }
}

/// Elementwise functions of two operands of one shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binary {
    /// a + b
    Add,
    /// a − b
    Sub,
    /// a · b
    Mul,
    /// a / b
    Div,
    /// 1 where a equals b, else 0.
    Eq,
    /// 0 where b ≤ 0, else a: the gradient a of a relu whose result is b. A choice and no product,
    /// since 0 times an infinite gradient would be NaN.
    ThresholdBackward,
}

impl Binary {
    /// The operation's name.
    pub fn name(self) -> &'static str {
        match self {
            Binary::Add => "add",
            Binary::Sub => "sub",
            Binary::Mul => "mul",
            Binary::Div => "div",
            Binary::Eq => "eq",
            Binary::ThresholdBackward => "threshold_backward",
        }
    }
}

/// Reductions over dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduce {
    /// The sum; 0 of nothing.
    Sum,
    /// The maximum; NaN if any element is NaN.
    Max,
}

/// What a device can compute. Every result is a fresh, contiguous storage.
///
/// The caller has checked shapes and dtypes; operands of one call lie on one device.
pub trait Backend: Sync {
    /// y = f(x), elementwise.
    fn unary(&self, f: Unary, x: View) -> Storage;
    /// y = f(a, b), elementwise; both views have one shape.
    fn binary(&self, f: Binary, a: View, b: View) -> Storage;
    /// Reduces the dimensions for which `over` is true; the result has the others, in order.
    fn reduce(&self, f: Reduce, x: View, over: &[bool]) -> Storage;
    /// `(outer, n) → (outer)`: the index of the largest element of each row; the first one of
    /// equals, the first NaN if there is one.
    fn argmax(&self, x: View) -> Storage;
    /// `(M, K) · (K, N) → (M, N)`, any strides.
    fn matmul(&self, a: View, b: View) -> Storage;
    /// `(outer, n) → (outer, n)`: softmax, or its logarithm, of each row.
    fn softmax(&self, x: View, log: bool) -> Storage;
    /// The elements laid out anew in logical order.
    fn copy(&self, x: View) -> Storage;
    /// The elements laid out anew, those dimensions backwards for which `over` is true.
    fn flip(&self, x: View, over: &[bool]) -> Storage;
    /// `y[i, j] = x[index[i, j], j]` for `dim` 0, and so on; indices are in range.
    fn gather(&self, x: View, dim: usize, index: View) -> Storage;
    /// A copy of x with `y[index[i, j], j] += src[i, j]` for `dim` 0, and so on, in logical order.
    fn scatter_add(&self, x: View, dim: usize, index: View, src: View) -> Storage;
    /// x += alpha · y, in place; both views have one shape.
    fn add_in_place(&self, x: View, y: View, alpha: f32);
    /// x = value, in place.
    fn fill_in_place(&self, x: View, value: f32);
}
