//! Devices: where tensors live, and the families of kernels that every backend provides.

mod allocation;
pub mod cpu;
pub mod driver;
mod gpu;
pub mod sim;

pub use allocation::Allocation;

use std::fmt;

use driver::Driver;

use crate::dtype::{DType, Scalar};
use crate::error::{Error, misuse};
use crate::layout::Layout;
use crate::storage::Storage;

/// Where a tensor's bytes are and where its operations run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Device {
    /// The host's memory and processor.
    Cpu,
    /// A simulated GPU, counted from 0: memory of its own, and a clock that is modelled.
    Sim(usize),
}

impl Device {
    /// The kernels of the device. The one place that tells devices apart.
    pub fn backend(self) -> &'static dyn Backend {
        match self {
            Device::Cpu => &cpu::Cpu,
            Device::Sim(_) => &gpu::Gpu,
        }
    }

    /// What moves bytes to the device and back.
    ///
    /// # Panics
    /// For the CPU, which needs none, and for a device that does not exist.
    #[track_caller]
    pub fn driver(self) -> &'static dyn Driver {
        match self {
            Device::Sim(n) => sim::sim(n),
            Device::Cpu => {
                let message = "the host's memory needs no driver".to_string();
                misuse("device", &[&self], message)
            }
        }
    }

    /// Waits until the device has done all that it was given. The CPU always has.
    ///
    /// # Errors
    /// If the device has failed.
    pub fn synchronize(self) -> Result<(), Error> {
        match self {
            Device::Cpu => Ok(()),
            device => device.driver().synchronize(),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Device::Cpu => f.write_str("cpu"),
            Device::Sim(n) => write!(f, "sim:{n}"),
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

impl View<'_> {
    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.storage.dtype()
    }
}

/// Elementwise functions of one operand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unary {
    /// −x; numbers only.
    Neg,
    /// eˣ; floating-point only, as the next two.
    Exp,
    /// Natural logarithm.
    Log,
    /// Hyperbolic tangent.
    Tanh,
    /// x + c
    AddScalar(Scalar),
    /// x · c
    MulScalar(Scalar),
    /// x / c; floating-point only.
    DivScalar(Scalar),
    /// x, but at most c; NaN if one is NaN.
    ClampMax(Scalar),
    /// x, but at least c; NaN if one is NaN.
    ClampMin(Scalar),
}

impl Unary {
    /// The operation's name.
    pub fn name(self) -> &'static str {
        match self {
            Unary::Neg => "neg",
            Unary::Exp => "exp",
            Unary::Log => "log",
            Unary::Tanh => "tanh",
            Unary::AddScalar(_) => "add_scalar",
            Unary::MulScalar(_) => "mul_scalar",
            Unary::DivScalar(_) => "div_scalar",
            Unary::ClampMax(_) => "clamp_max",
            Unary::ClampMin(_) => "clamp_min",
        }
    }
}

/// Elementwise functions of two operands of one shape and one dtype.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binary {
    /// a + b
    Add,
    /// a − b
    Sub,
    /// a · b
    Mul,
    /// a / b; floating-point only.
    Div,
    /// a / b rounded down; numbers only, as the next two.
    FloorDivide,
    /// a / b with its fraction cut off.
    TruncDivide,
    /// a − b · floor(a / b), with the sign of b.
    Remainder,
    /// The larger one; NaN if one is NaN.
    Maximum,
    /// The smaller one; NaN if one is NaN.
    Minimum,
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
            Binary::FloorDivide => "floor_divide",
            Binary::TruncDivide => "trunc_divide",
            Binary::Remainder => "remainder",
            Binary::Maximum => "maximum",
            Binary::Minimum => "minimum",
            Binary::ThresholdBackward => "threshold_backward",
        }
    }
}

/// Comparisons of two operands of one shape and one dtype. A comparison with NaN is false, except
/// for "not equal".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    /// a = b
    Eq,
    /// a ≠ b
    Ne,
    /// a < b
    Lt,
    /// a ≤ b
    Le,
    /// a > b
    Gt,
    /// a ≥ b
    Ge,
}

impl Compare {
    /// The operation's name.
    pub fn name(self) -> &'static str {
        match self {
            Compare::Eq => "eq",
            Compare::Ne => "ne",
            Compare::Lt => "lt",
            Compare::Le => "le",
            Compare::Gt => "gt",
            Compare::Ge => "ge",
        }
    }
}

/// Reductions over dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduce {
    /// The sum; 0 of nothing.
    Sum,
    /// The product; 1 of nothing.
    Prod,
    /// The maximum; NaN if any element is NaN.
    Max,
    /// The minimum; NaN if any element is NaN.
    Min,
}

/// What runs along a row and leaves something at every element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scan {
    /// The sum of the elements up to this one: integers as `i64`, else in the type of the elements.
    CumSum,
    /// Where (`i64`) the largest element up to this one is: the last one of equals, and from the
    /// first NaN on the last NaN.
    CumMax,
    /// Where (`i64`) the smallest element is, the next one, and so on; NaN last, and equal ones in
    /// the order they have.
    Sort,
}

/// What a device can compute. Every result is a fresh, contiguous storage.
///
/// The caller has checked shapes and dtypes; operands of one call lie on one device.
pub trait Backend: Sync {
    /// y = f(x), elementwise.
    fn unary(&self, f: Unary, x: View) -> Storage;
    /// y = f(a, b), elementwise; both views have one shape.
    fn binary(&self, f: Binary, a: View, b: View) -> Storage;
    /// Where f(a, b) holds, as `bool`; both views have one shape.
    fn compare(&self, f: Compare, a: View, b: View) -> Storage;
    /// y = a where the condition holds, else b; all three views have one shape.
    fn select(&self, condition: View, a: View, b: View) -> Storage;
    /// Reduces the dimensions for which `over` is true; the result has the others, in order, and
    /// type `to`. Sums and products are kept in a wider type and rounded once.
    fn reduce(&self, f: Reduce, x: View, over: &[bool], to: DType) -> Storage;
    /// `(outer, n) → (outer)`: the index of the largest element of each row, or of the smallest;
    /// the first one of equals, the first NaN if there is one.
    fn arg_reduce(&self, f: Reduce, x: View) -> Storage;
    /// `(outer, n) → (outer, n)`: what the scan leaves along each row.
    fn scan(&self, f: Scan, x: View) -> Storage;
    /// `(B, M, K) · (B, K, N) → (B, M, N)`, any strides.
    fn matmul(&self, a: View, b: View) -> Storage;
    /// `(outer, n) → (outer, n)`: softmax, or its logarithm, of each row.
    fn softmax(&self, x: View, log: bool) -> Storage;
    /// The elements laid out anew in logical order, as elements of type `to`.
    fn copy(&self, x: View, to: DType) -> Storage;
    /// The elements laid out anew, those dimensions backwards for which `over` is true.
    fn flip(&self, x: View, over: &[bool]) -> Storage;
    /// `y[i, j] = x[index[i, j], j]` for `dim` 0, and so on; indices are in range.
    fn gather(&self, x: View, dim: usize, index: View) -> Storage;
    /// A copy of x with `y[index[i, j], j] += src[i, j]` for `dim` 0, and so on, in logical order.
    fn scatter_add(&self, x: View, dim: usize, index: View, src: View) -> Storage;
    /// `y[i]` is the element of x at place `index[i]`, counted in logical order.
    fn take(&self, x: View, index: View) -> Storage;
    /// The element of x at place `index[i]`, counted in logical order, becomes `src[i]`, or that
    /// is added to it; in place, in the order of the index, on behalf of `op`.
    fn put_in_place(&self, op: &'static str, x: View, index: View, src: View, accumulate: bool);
    /// x += alpha · y, in place; both views have one shape and dtype.
    fn add_in_place(&self, x: View, y: View, alpha: Scalar);
    /// x = x · y, in place; both views have one shape and dtype.
    fn mul_in_place(&self, x: View, y: View);
    /// x = y, in place, on behalf of `op`; both views have one shape and dtype.
    fn copy_in_place(&self, op: &'static str, x: View, y: View);
    /// x = value where the mask holds, in place; both views have one shape.
    fn masked_fill_in_place(&self, x: View, mask: View, value: Scalar);
}
