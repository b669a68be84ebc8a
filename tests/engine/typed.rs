//! For the engine's tests: tensors of any type of elements from words, and comparisons by bits.

use std::str::FromStr;

use engine_room::{DType, Element, Tensor, bf16, f16};

/// The type of this name.
pub fn named(name: &str) -> DType {
    let dtype = DType::ALL.into_iter().find(|dtype| dtype.to_string() == name);
    dtype.unwrap_or_else(|| panic!("no type {name}"))
}

/// One element, exact.
#[derive(Debug, Clone, Copy)]
enum Number {
    Float(f64),
    Int(i64),
}

impl Number {
    /// Bits must be equal for a tolerance of 0; any NaN equals any other.
    fn is(self, want: Number, tolerance: f64) -> bool {
        match (self, want) {
            (Number::Int(a), Number::Int(b)) => a == b,
            (Number::Float(a), Number::Float(b)) if tolerance == 0.0 || !b.is_finite() => {
                a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
            }
            (Number::Float(a), Number::Float(b)) => {
                a.is_finite() && (a - b).abs() <= tolerance * b.abs().max(1.0)
            }
            _ => false,
        }
    }
}

fn read<T: FromStr>(word: &str) -> T {
    word.parse().unwrap_or_else(|_| panic!("{word} is no number"))
}

/// A tensor of words; the half types are read through `f32`.
pub fn tensor_of(words: &str, dtype: DType, shape: &[usize]) -> Tensor {
    fn made<T: Element>(words: &str, shape: &[usize], of: impl Fn(&str) -> T) -> Tensor {
        Tensor::from_vec(words.split_whitespace().map(of).collect(), shape)
    }
    match dtype {
        DType::F64 => made(words, shape, read::<f64>),
        DType::F32 => made(words, shape, read::<f32>),
        DType::F16 => made(words, shape, |word| f16::from_f32(read(word))),
        DType::BF16 => made(words, shape, |word| bf16::from_f32(read(word))),
        DType::I64 => made(words, shape, read::<i64>),
        DType::I32 => made(words, shape, read::<i32>),
        DType::U8 => made(words, shape, read::<u8>),
        DType::Bool => made(words, shape, |word| word == "1"),
    }
}

/// One dimension of words.
pub fn list(words: &str, dtype: DType) -> Tensor {
    tensor_of(words, dtype, &[words.split_whitespace().count()])
}

fn numbers(x: &Tensor) -> Vec<Number> {
    fn of<T: Element>(x: &Tensor, number: impl Fn(T) -> Number) -> Vec<Number> {
        x.to_vec::<T>().into_iter().map(number).collect()
    }
    match x.dtype() {
        DType::F64 => of(x, Number::Float),
        DType::F32 => of(x, |x: f32| Number::Float(x.into())),
        DType::F16 => of(x, |x: f16| Number::Float(x.into())),
        DType::BF16 => of(x, |x: bf16| Number::Float(x.into())),
        DType::I64 => of(x, Number::Int),
        DType::I32 => of(x, |x: i32| Number::Int(x.into())),
        DType::U8 => of(x, |x: u8| Number::Int(x.into())),
        DType::Bool => of(x, |x: bool| Number::Int(x.into())),
    }
}

/// What is wrong with `got`, type and shape included, if anything. Bits must be equal for a
/// tolerance of 0; else it is relative above 1 and absolute below.
pub fn compare(what: &str, got: &Tensor, want: &Tensor, tolerance: f64) -> Option<String> {
    if got.brief() != want.brief() {
        return Some(format!("{what}: {} instead of {}", got.brief(), want.brief()));
    }
    let (got, want) = (numbers(got), numbers(want));
    let at = (0..got.len()).find(|&at| !got[at].is(want[at], tolerance))?;
    Some(format!("{what} at {at}: {:?} instead of {:?}", got[at], want[at]))
}
