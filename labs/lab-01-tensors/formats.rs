//! Number formats as their definitions give them: also those that the engine has no dtype for.
//!
//! fp32 and fp16 are binary32 and binary16 of IEEE 754; bf16 and tf32 shorten fp32's significand.
//! The two fp8 formats are those of Micikevicius et al., "FP8 Formats for Deep Learning",
//! arXiv 2209.05433, which PyTorch calls `float8_e4m3fn` and `float8_e5m2`.

/// A format of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Single precision, PyTorch's `float32`.
    F32,
    /// What a matrix unit makes of fp32 numbers when it may: a mode of computing. In memory they
    /// stay fp32.
    Tf32,
    /// Half precision, PyTorch's `float16`.
    F16,
    /// The upper half of an fp32 number, PyTorch's `bfloat16`.
    Bf16,
    /// fp8 with 4 bits of exponent and 3 of mantissa. It has no infinity.
    E4m3,
    /// fp8 with 5 bits of exponent and 2 of mantissa.
    E5m2,
    /// Whole numbers from -127 to 127, as quantised weights use them. Larger ones are cut off.
    I8,
}

impl Format {
    /// Every format, widest first.
    pub const ALL: [Format; 7] = [
        Format::F32,
        Format::Tf32,
        Format::F16,
        Format::Bf16,
        Format::E4m3,
        Format::E5m2,
        Format::I8,
    ];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Format::F32 => "fp32",
            Format::Tf32 => "tf32",
            Format::F16 => "fp16",
            Format::Bf16 => "bf16",
            Format::E4m3 => "fp8 e4m3",
            Format::E5m2 => "fp8 e5m2",
            Format::I8 => "int8",
        }
    }

    /// Bits of the exponent: they set the range.
    pub fn exponent_bits(self) -> i32 {
        match self {
            Format::F32 | Format::Tf32 | Format::Bf16 => 8,
            Format::F16 | Format::E5m2 => 5,
            Format::E4m3 => 4,
            Format::I8 => 0,
        }
    }

    /// Bits of the mantissa, the leading 1 not counted: they set the spacing.
    pub fn mantissa_bits(self) -> i32 {
        match self {
            Format::F32 => 23,
            Format::Tf32 | Format::F16 => 10,
            Format::Bf16 | Format::I8 => 7,
            Format::E4m3 => 3,
            Format::E5m2 => 2,
        }
    }

    /// The largest number.
    pub fn max(self) -> f64 {
        match self {
            Format::I8 => 127.0,
            // The largest significand, 1.111 in binary, means NaN here.
            Format::E4m3 => 1.75 * power(8),
            _ => (2.0 - power(-self.mantissa_bits())) * power(self.bias()),
        }
    }

    /// The smallest positive number with all bits of its mantissa.
    pub fn smallest_normal(self) -> f64 {
        if self == Format::I8 { 1.0 } else { power(1 - self.bias()) }
    }

    /// The smallest positive number.
    pub fn smallest(self) -> f64 {
        self.spacing(0.0)
    }

    /// The distance from |x| to the next larger number of the format, where x is one of them.
    pub fn spacing(self, x: f64) -> f64 {
        match self {
            Format::I8 => 1.0,
            _ => power(exponent(x).max(1 - self.bias()) - self.mantissa_bits()),
        }
    }

    /// The nearest number of the format, the even one of two (IEEE 754). Beyond the range:
    /// infinity, or NaN in e4m3, which has none, or the end of the range in int8.
    pub fn round(self, x: f64) -> f64 {
        let rounded = (x / self.spacing(x)).round_ties_even() * self.spacing(x);
        match self {
            _ if rounded.abs() <= self.max() || x.is_nan() => rounded,
            Format::E4m3 => f64::NAN,
            Format::I8 => rounded.clamp(-self.max(), self.max()),
            _ => f64::INFINITY.copysign(x),
        }
    }

    /// What is added to the exponent before it is stored, and the largest exponent in IEEE 754.
    fn bias(self) -> i32 {
        (1 << (self.exponent_bits() - 1)) - 1
    }
}

/// 2 to the power of n.
fn power(n: i32) -> f64 {
    f64::from(n).exp2()
}

/// The n for which |x| lies in 2ⁿ..2ⁿ⁺¹: the exponent field of x, which is very small for 0.
fn exponent(x: f64) -> i32 {
    ((x.abs().to_bits() >> 52) as i32) - 1023
}
