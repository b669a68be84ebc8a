//! Element types: what one number of a tensor is, and which type two of them have together.

mod arithmetic;
mod buffer;
mod element;
mod float;
mod math;
mod scalar;

pub use arithmetic::{Arithmetic, Bits, Number};
pub use buffer::Buffer;
pub use element::Element;
pub use float::Float;
pub use half::{bf16, f16};
pub use scalar::Scalar;

use std::fmt;

/// The type of a tensor's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DType {
    /// 64-bit IEEE 754 floating point: 53 bits of precision, up to about 1.8e308.
    F64,
    /// 32-bit IEEE 754 floating point: 24 bits of precision, up to about 3.4e38.
    F32,
    /// 16-bit IEEE 754 floating point: 11 bits of precision, up to 65504.
    F16,
    /// The upper half of an `f32`: 8 bits of precision, up to about 3.4e38.
    BF16,
    /// 64-bit signed integers: class labels and indices.
    I64,
    /// 32-bit signed integers.
    I32,
    /// 8-bit unsigned integers: pixels and bytes.
    U8,
    /// True and false, one byte each: masks.
    Bool,
}

/// Runs an expression with `$T` standing for the Rust type of a dtype: of any one, or of those that
/// can be divided by (`number`), or of the floating-point ones (`float`), or of those whose bits
/// count one by one (`bits`).
macro_rules! with_element {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::dtype::with_element!($dtype, $T => $body;
            F64 f64, F32 f32, F16 $crate::dtype::f16, BF16 $crate::dtype::bf16,
            I64 i64, I32 i32, U8 u8, Bool bool)
    };
    ($dtype:expr, number $T:ident => $body:expr) => {
        $crate::dtype::with_element!($dtype, $T => $body;
            F64 f64, F32 f32, F16 $crate::dtype::f16, BF16 $crate::dtype::bf16,
            I64 i64, I32 i32, U8 u8; or unreachable!("the public method refuses bool"))
    };
    ($dtype:expr, float $T:ident => $body:expr) => {
        $crate::dtype::with_element!($dtype, $T => $body;
            F64 f64, F32 f32, F16 $crate::dtype::f16, BF16 $crate::dtype::bf16;
            or unreachable!("the public method converts integers"))
    };
    ($dtype:expr, bits $T:ident => $body:expr) => {
        $crate::dtype::with_element!($dtype, $T => $body;
            I64 i64, I32 i32, U8 u8, Bool bool;
            or unreachable!("the public method refuses floating-point types"))
    };
    ($dtype:expr, $T:ident => $body:expr;
     $($variant:ident $type:ty),* $(; or $otherwise:expr)?) => {
        match $dtype {
            $($crate::dtype::DType::$variant => {
                type $T = $type;
                $body
            })*
            $(_ => $otherwise,)?
        }
    };
}
pub(crate) use with_element;

/// Kinds of numbers, lowest first. A higher kind always wins, whatever the sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Category {
    Bool,
    Integer,
    Float,
}

/// Where a dtype in an operation comes from. Within one category a tensor with dimensions decides
/// before a tensor of one number without any, and that before a number of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A number of the program.
    Number,
    /// A tensor without dimensions.
    ZeroDim,
    /// A tensor with dimensions.
    Dims,
}

impl DType {
    /// Every element type.
    pub const ALL: [DType; 8] = [
        DType::F64,
        DType::F32,
        DType::F16,
        DType::BF16,
        DType::I64,
        DType::I32,
        DType::U8,
        DType::Bool,
    ];

    /// Bytes of one element.
    pub const fn size(self) -> usize {
        match self {
            DType::F64 | DType::I64 => 8,
            DType::F32 | DType::I32 => 4,
            DType::F16 | DType::BF16 => 2,
            DType::U8 | DType::Bool => 1,
        }
    }

    /// Whether gradients are defined for it.
    pub const fn is_floating_point(self) -> bool {
        matches!(self, DType::F64 | DType::F32 | DType::F16 | DType::BF16)
    }

    fn category(self) -> Category {
        match self {
            DType::F64 | DType::F32 | DType::F16 | DType::BF16 => Category::Float,
            DType::I64 | DType::I32 | DType::U8 => Category::Integer,
            DType::Bool => Category::Bool,
        }
    }

    /// The type that holds the values of both (PyTorch's `promote_types`): the higher category
    /// wins, within one the larger type. The two half types have no larger one among them and give
    /// `f32`.
    pub fn promote(a: DType, b: DType) -> DType {
        match (a, b) {
            (DType::F16, DType::BF16) | (DType::BF16, DType::F16) => DType::F32,
            _ if (a.category(), a.size()) >= (b.category(), b.size()) => a,
            _ => b,
        }
    }

    /// The type of the result of an operation on operands of these types (PyTorch's
    /// `result_type`): the highest category decides, and within it the operands of the strongest
    /// source. So a `f16` tensor times the number 2.5 stays `f16`.
    pub(crate) fn of_result(operands: &[(DType, Source)]) -> DType {
        let of = |source: Source| {
            let dtypes = operands.iter().filter(|operand| operand.1 == source).map(|&(d, _)| d);
            dtypes.reduce(DType::promote)
        };
        let stronger = |weak: Option<DType>, strong: Option<DType>| match (strong, weak) {
            (Some(strong), Some(weak)) if weak.category() > strong.category() => {
                Some(DType::promote(strong, weak))
            }
            (strong, weak) => strong.or(weak),
        };
        let weak = stronger(of(Source::Number), of(Source::ZeroDim));
        stronger(weak, of(Source::Dims)).expect("an operation has operands")
    }

    /// The type of sums, products and running sums: integers widen to `i64`, as in PyTorch, so
    /// that a count of bytes does not wrap around at 256.
    pub fn of_sum(self) -> DType {
        if self.is_floating_point() { self } else { DType::I64 }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            DType::F64 => "f64",
            DType::F32 => "f32",
            DType::F16 => "f16",
            DType::BF16 => "bf16",
            DType::I64 => "i64",
            DType::I32 => "i32",
            DType::U8 => "u8",
            DType::Bool => "bool",
        })
    }
}
