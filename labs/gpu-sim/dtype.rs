//! The types of elements that arguments can have, and how they lie in memory.

use engine_room::rng::Generator;
use engine_room::{bf16, f16};
use serde_json::{Number, Value};

/// The type of an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dtype {
    U8,
    I32,
    U32,
    I64,
    U64,
    F16,
    Bf16,
    F32,
    F64,
}

/// Every type with its name and its bytes.
const DTYPES: [(Dtype, &str, usize); 9] = [
    (Dtype::U8, "u8", 1),
    (Dtype::I32, "i32", 4),
    (Dtype::U32, "u32", 4),
    (Dtype::I64, "i64", 8),
    (Dtype::U64, "u64", 8),
    (Dtype::F16, "f16", 2),
    (Dtype::Bf16, "bf16", 2),
    (Dtype::F32, "f32", 4),
    (Dtype::F64, "f64", 8),
];

impl Dtype {
    /// The type of a name.
    pub fn named(name: &str) -> Option<Dtype> {
        DTYPES.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// Every name, for messages.
    pub fn names() -> String {
        DTYPES.map(|row| row.1).join(" ")
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        DTYPES[self as usize].1
    }

    /// Bytes of an element.
    pub fn bytes(self) -> usize {
        DTYPES[self as usize].2
    }

    /// A value from the command line, little-endian; `None` if the type has no such value.
    pub fn parse(self, text: &str) -> Option<Vec<u8>> {
        match self {
            Dtype::F16 => Some(f16::from_f64(text.parse().ok()?).to_le_bytes().to_vec()),
            Dtype::Bf16 => Some(bf16::from_f64(text.parse().ok()?).to_le_bytes().to_vec()),
            Dtype::F32 => Some(text.parse::<f32>().ok()?.to_le_bytes().to_vec()),
            Dtype::F64 => Some(text.parse::<f64>().ok()?.to_le_bytes().to_vec()),
            _ => self.integer(integer(text)?),
        }
    }

    fn integer(self, value: i128) -> Option<Vec<u8>> {
        Some(match self {
            Dtype::U8 => u8::try_from(value).ok()?.to_le_bytes().to_vec(),
            Dtype::I32 => i32::try_from(value).ok()?.to_le_bytes().to_vec(),
            Dtype::U32 => u32::try_from(value).ok()?.to_le_bytes().to_vec(),
            Dtype::I64 => i64::try_from(value).ok()?.to_le_bytes().to_vec(),
            _ => u64::try_from(value).ok()?.to_le_bytes().to_vec(),
        })
    }

    /// A whole number, rounded to the nearest value of a float type, its low bits of an integer.
    pub fn whole(self, value: u64, into: &mut Vec<u8>) {
        match self {
            Dtype::F16 => into.extend(f16::from_f64(value as f64).to_le_bytes()),
            Dtype::Bf16 => into.extend(bf16::from_f64(value as f64).to_le_bytes()),
            Dtype::F32 => into.extend((value as f32).to_le_bytes()),
            Dtype::F64 => into.extend((value as f64).to_le_bytes()),
            _ => into.extend(&value.to_le_bytes()[..self.bytes()]),
        }
    }

    /// A random value: of an integer type, every one is as likely; of a float type, a multiple of
    /// 2^-24 (f16: 2^-11, bf16: 2^-8) in [0, 1).
    pub fn random(self, generator: &mut Generator, into: &mut Vec<u8>) {
        let unit = |bits: u32, draw: u32| f64::from(draw >> (32 - bits)) / f64::from(1_u32 << bits);
        let draw = generator.next_u32();
        match self {
            Dtype::F16 => into.extend(f16::from_f64(unit(11, draw)).to_le_bytes()),
            Dtype::Bf16 => into.extend(bf16::from_f64(unit(8, draw)).to_le_bytes()),
            Dtype::F32 => into.extend((unit(24, draw) as f32).to_le_bytes()),
            Dtype::F64 => into.extend(unit(24, draw).to_le_bytes()),
            _ => {
                let high = if self.bytes() == 8 { generator.next_u32() } else { 0 };
                let bits = u64::from(high) << 32 | u64::from(draw);
                into.extend(&bits.to_le_bytes()[..self.bytes()]);
            }
        }
    }

    /// An element as JSON: a number, exactly; `"nan"`, `"inf"` or `"-inf"`.
    pub fn json(self, bytes: &[u8]) -> Value {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(word);
        match self {
            Dtype::I32 => Value::from(bits as u32 as i32),
            Dtype::I64 => Value::from(bits as i64),
            Dtype::U8 | Dtype::U32 | Dtype::U64 => Value::from(bits),
            Dtype::F16 => float(f16::from_bits(bits as u16).to_f64()),
            Dtype::Bf16 => float(bf16::from_bits(bits as u16).to_f64()),
            Dtype::F32 => float(f64::from(f32::from_bits(bits as u32))),
            Dtype::F64 => float(f64::from_bits(bits)),
        }
    }

    /// An element for a reader: of a float type, the shortest text that gives it back.
    pub fn text(self, bytes: &[u8]) -> String {
        match (self, bytes) {
            (Dtype::F16, [a, b]) => f16::from_le_bytes([*a, *b]).to_string(),
            (Dtype::Bf16, [a, b]) => bf16::from_le_bytes([*a, *b]).to_string(),
            (Dtype::F32, [a, b, c, d]) => f32::from_le_bytes([*a, *b, *c, *d]).to_string(),
            _ => self.json(bytes).to_string().replace('"', ""),
        }
    }
}

fn float(value: f64) -> Value {
    let text = || match value {
        value if value.is_nan() => "nan",
        value if value > 0.0 => "inf",
        _ => "-inf",
    };
    Number::from_f64(value).map_or_else(|| Value::from(text()), Value::Number)
}

/// `12`, `-12`, `0xc`.
fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let value = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => digits.parse::<u64>().ok()?,
    };
    Some(if negative { -i128::from(value) } else { i128::from(value) })
}
