//! `printf`'s format: `%[flags][width][.precision][size]type` as of C.

use std::fmt::Write;

/// Where the arguments come from.
pub(super) trait Source {
    /// The next argument, which takes so many bytes and is aligned to them.
    fn next(&mut self, bytes: u64) -> u64;
    /// The text at an address.
    fn text(&self, at: u64) -> Vec<u8>;
}

/// What came of a format.
pub(super) struct Line {
    pub text: Vec<u8>,
    /// How many arguments it took.
    pub arguments: u64,
}

/// The widest field: a format is data, and must not fill the memory.
const WIDEST: usize = 4096;

/// What stands between `%` and the type.
#[derive(Default)]
struct Field {
    left: bool,
    plus: bool,
    space: bool,
    zeros: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
    /// 8 with `l`, `ll`, `z`, `j`, `t`; 2 with `h`; 1 with `hh`.
    bytes: u64,
}

/// Formats.
pub(super) fn format(format: &[u8], source: &mut impl Source) -> Line {
    let mut line = Line { text: Vec::new(), arguments: 0 };
    let mut rest = format;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            line.text.push(byte);
            continue;
        }
        let field = field(&mut rest, &mut line, source);
        let Some((&kind, after)) = rest.split_first() else { break };
        rest = after;
        if kind == b'%' {
            line.text.push(b'%');
            continue;
        }
        line.arguments += 1;
        let value = field.value(kind, source);
        field.pad(&value, kind, &mut line.text);
    }
    line
}

/// Takes what stands before the type off the rest.
fn field(rest: &mut &[u8], line: &mut Line, source: &mut impl Source) -> Field {
    let mut field = Field { bytes: 4, ..Field::default() };
    while let Some((&byte, after)) = rest.split_first() {
        match byte {
            b'-' => field.left = true,
            b'+' => field.plus = true,
            b' ' => field.space = true,
            b'0' => field.zeros = true,
            b'#' => field.alternate = true,
            _ => break,
        }
        *rest = after;
    }
    field.width = number(rest, line, source).unwrap_or(0);
    if let Some(after) = rest.strip_prefix(b".") {
        *rest = after;
        field.precision = Some(number(rest, line, source).unwrap_or(0));
    }
    while let Some((&byte, after)) = rest.split_first() {
        field.bytes = match byte {
            b'l' | b'z' | b'j' | b't' => 8,
            b'h' => field.bytes / 2,
            _ => break,
        };
        *rest = after;
    }
    field
}

/// A number of the format, or, for `*`, of the arguments.
fn number(rest: &mut &[u8], line: &mut Line, source: &mut impl Source) -> Option<usize> {
    if let Some(after) = rest.strip_prefix(b"*") {
        *rest = after;
        line.arguments += 1;
        return Some((source.next(4) as usize).min(WIDEST));
    }
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, after) = rest.split_at(digits);
    *rest = after;
    let number = std::str::from_utf8(number).ok()?;
    (!number.is_empty()).then(|| number.parse().unwrap_or(WIDEST).min(WIDEST))
}

impl Field {
    /// An argument as text, with its sign.
    fn value(&self, kind: u8, source: &mut impl Source) -> String {
        match kind {
            b'd' | b'i' => {
                let value = match self.bytes {
                    8 => source.next(8) as i64,
                    2 => i64::from(source.next(4) as i16),
                    1 => i64::from(source.next(4) as i8),
                    _ => i64::from(source.next(4) as i32),
                };
                self.sign(value < 0) + &self.digits(value.unsigned_abs().to_string())
            }
            b'u' | b'o' | b'x' | b'X' => self.unsigned(kind, source),
            b'c' => char::from(source.next(4) as u8).to_string(),
            b's' => {
                let at = source.next(8);
                let text = String::from_utf8_lossy(&source.text(at)).into_owned();
                text.chars().take(self.precision.unwrap_or(usize::MAX)).collect()
            }
            b'p' => format!("{:#x}", source.next(8)),
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
                self.float(kind, f64::from_bits(source.next(8)))
            }
            other => format!("%{}", char::from(other)),
        }
    }

    fn unsigned(&self, kind: u8, source: &mut impl Source) -> String {
        let keep = u64::MAX >> (64 - 8 * self.bytes);
        let value = source.next(self.bytes.max(4)) & keep;
        let (text, prefix) = match kind {
            b'o' => (format!("{value:o}"), "0"),
            b'x' => (format!("{value:x}"), "0x"),
            b'X' => (format!("{value:X}"), "0X"),
            _ => (value.to_string(), ""),
        };
        let prefix = if self.alternate && value != 0 { prefix } else { "" };
        prefix.to_string() + &self.digits(text)
    }

    fn sign(&self, negative: bool) -> String {
        let positive = if self.plus {
            "+"
        } else if self.space {
            " "
        } else {
            ""
        };
        if negative { "-" } else { positive }.to_string()
    }

    /// At least as many digits as the precision says.
    fn digits(&self, text: String) -> String {
        format!("{text:0>width$}", width = self.precision.unwrap_or(1))
    }

    fn float(&self, kind: u8, value: f64) -> String {
        let sign = self.sign(value.is_sign_negative() && !value.is_nan());
        let magnitude = value.abs();
        let precision = self.precision.unwrap_or(6);
        let text = if value.is_nan() {
            "nan".to_string()
        } else if value.is_infinite() {
            "inf".to_string()
        } else {
            match kind.to_ascii_lowercase() {
                b'f' => format!("{magnitude:.precision$}"),
                b'e' => exponential(magnitude, precision),
                b'a' => hexadecimal(magnitude),
                _ => shortest(magnitude, precision.max(1), self.alternate),
            }
        };
        let text = sign + &text;
        if kind.is_ascii_uppercase() { text.to_uppercase() } else { text }
    }

    /// Appends a value in its width.
    fn pad(&self, value: &str, kind: u8, out: &mut Vec<u8>) {
        let missing = self.width.saturating_sub(value.chars().count());
        let whole = matches!(kind, b'd' | b'i' | b'u' | b'o' | b'x' | b'X');
        let finite = value.bytes().any(|byte| byte.is_ascii_digit());
        let zeros = self.zeros && !self.left && finite && !(whole && self.precision.is_some());
        if self.left {
            out.extend(value.bytes());
            out.extend(std::iter::repeat_n(b' ', missing));
        } else if zeros && !matches!(kind, b'c' | b's' | b'p') {
            let head = value.len() - value.trim_start_matches(['+', '-', ' ']).len();
            let head = if value[head..].starts_with("0x") { head + 2 } else { head };
            out.extend(value[..head].bytes());
            out.extend(std::iter::repeat_n(b'0', missing));
            out.extend(value[head..].bytes());
        } else {
            out.extend(std::iter::repeat_n(b' ', missing));
            out.extend(value.bytes());
        }
    }
}

/// `1.500000e+00`.
fn exponential(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// `%g`: the form that C says for the exponent, without trailing zeros.
fn shortest(value: f64, precision: usize, alternate: bool) -> String {
    let text = exponential(value, precision - 1);
    let exponent: i32 = text.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let trim = |text: &str| match text.contains('.') && !alternate {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text.to_string(),
    };
    if exponent < -4 || exponent >= precision as i32 {
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "+00"));
        return trim(mantissa) + "e" + exponent;
    }
    let decimals = (precision as i32 - 1 - exponent) as usize;
    trim(&format!("{value:.decimals$}"))
}

/// `%a`: `0x1.8p+0`.
fn hexadecimal(value: f64) -> String {
    let bits = value.to_bits();
    let (fraction, exponent) = (bits & ((1 << 52) - 1), (bits >> 52 & 0x7ff) as i32);
    let (lead, exponent) = match (exponent, fraction) {
        (0, 0) => (0, 0),
        (0, _) => (0, -1022),
        _ => (1, exponent - 1023),
    };
    let digits = format!("{fraction:013x}");
    let digits = digits.trim_end_matches('0');
    let mut text = format!("0x{lead}");
    if !digits.is_empty() {
        let _ = write!(text, ".{digits}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    text + &format!("p{sign}{}", exponent.abs())
}
