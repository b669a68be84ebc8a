//! The kernels by name: what a backend can be asked for, one enum a family.

use crate::dtype::Scalar;

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
