//! The kernels by name: what a backend can be asked for, one enum a family.

use crate::dtype::Scalar;

/// Elementwise functions of one operand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unary {
    /// −x; numbers only.
    Neg,
    /// |x|; numbers only.
    Abs,
    /// −1, 0 or 1; 0 for NaN; numbers only.
    Sign,
    /// √x; floating-point only, as all down to `Trunc`.
    Sqrt,
    /// 1 / √x
    Rsqrt,
    /// 1 / x
    Reciprocal,
    /// eˣ
    Exp,
    /// 2ˣ
    Exp2,
    /// eˣ − 1, exact near 0 too.
    Expm1,
    /// Natural logarithm.
    Log,
    /// Logarithm to base 2.
    Log2,
    /// ln(1 + x), exact near 0 too.
    Log1p,
    /// Sine of an angle in radians.
    Sin,
    /// Cosine of an angle in radians.
    Cos,
    /// Hyperbolic tangent.
    Tanh,
    /// The error function.
    Erf,
    /// 1 / (1 + e⁻ˣ)
    Sigmoid,
    /// ln(1 / (1 + e⁻ˣ))
    LogSigmoid,
    /// x / (1 + e⁻ˣ)
    Silu,
    /// x · (1 + erf(x / √2)) / 2
    Gelu,
    /// The approximation of gelu by tanh.
    GeluTanh,
    /// ln(1 + e^(βx)) / β, or x itself where βx is above the threshold.
    Softplus {
        /// β
        beta: f64,
        /// From where on the result is x.
        threshold: f64,
    },
    /// x where it is positive, else c · x.
    LeakyRelu(f64),
    /// The integer at or below x.
    Floor,
    /// The integer at or above x.
    Ceil,
    /// The nearest integer, the even one of two.
    Round,
    /// x with its fraction cut off.
    Trunc,
    /// Each bit inverted; integers and `bool` only.
    BitwiseNot,
    /// x to the power of c; numbers only.
    PowScalar(Scalar),
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
            Unary::Abs => "abs",
            Unary::Sign => "sign",
            Unary::Sqrt => "sqrt",
            Unary::Rsqrt => "rsqrt",
            Unary::Reciprocal => "reciprocal",
            Unary::Exp => "exp",
            Unary::Exp2 => "exp2",
            Unary::Expm1 => "expm1",
            Unary::Log => "log",
            Unary::Log2 => "log2",
            Unary::Log1p => "log1p",
            Unary::Sin => "sin",
            Unary::Cos => "cos",
            Unary::Tanh => "tanh",
            Unary::Erf => "erf",
            Unary::Sigmoid => "sigmoid",
            Unary::LogSigmoid => "logsigmoid",
            Unary::Silu => "silu",
            Unary::Gelu => "gelu",
            Unary::GeluTanh => "gelu_tanh",
            Unary::Softplus { .. } => "softplus",
            Unary::LeakyRelu(_) => "leaky_relu",
            Unary::Floor => "floor",
            Unary::Ceil => "ceil",
            Unary::Round => "round",
            Unary::Trunc => "trunc",
            Unary::BitwiseNot => "bitwise_not",
            Unary::PowScalar(_) => "pow_scalar",
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
    /// a to the power of b; numbers only.
    Pow,
    /// Bits that both have; integers and `bool` only, as the next two.
    BitwiseAnd,
    /// Bits that one has.
    BitwiseOr,
    /// Bits in which the two differ.
    BitwiseXor,
    /// The larger one; NaN if one is NaN.
    Maximum,
    /// The smaller one; NaN if one is NaN.
    Minimum,
    /// 0 where b ≤ 0, else a: the gradient a of a relu whose result is b. A choice and no product,
    /// since 0 times an infinite gradient would be NaN.
    ThresholdBackward,
    /// a · gelu′(b); floating-point only, as the next two.
    GeluBackward,
    /// a · gelu′(b) of the approximation by tanh.
    GeluTanhBackward,
    /// a · silu′(b)
    SiluBackward,
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
            Binary::Pow => "pow",
            Binary::BitwiseAnd => "bitwise_and",
            Binary::BitwiseOr => "bitwise_or",
            Binary::BitwiseXor => "bitwise_xor",
            Binary::Maximum => "maximum",
            Binary::Minimum => "minimum",
            Binary::ThresholdBackward => "threshold_backward",
            Binary::GeluBackward => "gelu_backward",
            Binary::GeluTanhBackward => "gelu_tanh_backward",
            Binary::SiluBackward => "silu_backward",
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
    /// Σ |x|, kept in `f64`; floating-point only, as the next two.
    Norm1,
    /// √Σ x², kept in `f64`.
    Norm2,
    /// max |x|; NaN if any element is NaN.
    NormInf,
}

/// What runs along a row and leaves something at every element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scan {
    /// The sum of the elements up to this one: integers as `i64`, else in the type of the elements.
    CumSum,
    /// The product of the elements up to this one, of the same types.
    CumProd,
    /// Where (`i64`) the largest element up to this one is: the last one of equals, and from the
    /// first NaN on the last NaN.
    CumMax,
    /// The same of the smallest element.
    CumMin,
    /// Where (`i64`) the smallest element is, the next one, and so on; NaN last, and equal ones in
    /// the order they have.
    Sort,
}

/// What is made of random numbers, one 32-bit number of the stream an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Draw {
    /// `f32`, uniform in [0, 1), as [`Generator::uniform`](crate::rng::Generator::uniform).
    Uniform,
    /// `bool`: whether 2²⁴ times the uniform number is not below the threshold.
    Keep {
        /// 2²⁴ times the probability of `false`, rounded up.
        threshold: u32,
    },
}
