//! One value of a table, with its unit: as text for a reader and as a number for JSON.

use serde_json::Value;

/// A value in a table. The variant says the unit; JSON always holds the plain number.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Words, aligned to the left.
    Text(String),
    /// A number of things, printed with thousands separators.
    Count(u64),
    /// Exact bytes, printed with thousands separators.
    Bytes(u64),
    /// Seconds, printed with three digits as ns, us, ms or s.
    Seconds(f64),
    /// How many times one value is another, printed as `11.3x`.
    Ratio(f64),
    /// A share from 0 to 1, printed as a percentage with one decimal.
    Share(f64),
    /// Any other number, printed with four significant digits.
    Number(f64),
    /// No value here; JSON `null`.
    Missing,
}

impl Cell {
    /// What a table prints.
    pub fn text(&self) -> String {
        match self {
            Cell::Text(text) => text.clone(),
            Cell::Count(n) | Cell::Bytes(n) => thousands(*n),
            Cell::Seconds(s) => seconds(*s),
            Cell::Ratio(r) => format!("{}x", significant(*r, 3)),
            Cell::Share(share) => format!("{:.1}%", 100.0 * share),
            Cell::Number(x) => significant(*x, 4),
            Cell::Missing => "-".to_string(),
        }
    }

    /// The plain value; a number that JSON cannot hold (NaN, infinity) becomes `null`.
    pub fn json(&self) -> Value {
        match self {
            Cell::Text(text) => Value::from(text.as_str()),
            Cell::Count(n) | Cell::Bytes(n) => Value::from(*n),
            Cell::Seconds(x) | Cell::Ratio(x) | Cell::Share(x) | Cell::Number(x) => Value::from(*x),
            Cell::Missing => Value::Null,
        }
    }

    /// The unit that its text shows.
    pub fn own_unit(&self) -> Option<&'static str> {
        match self {
            Cell::Seconds(_) => Some("seconds"),
            Cell::Ratio(_) => Some("ratio"),
            Cell::Share(_) => Some("share"),
            _ => None,
        }
    }

    /// Whether the value is a number, which a table aligns to the right.
    pub fn is_number(&self) -> bool {
        !matches!(self, Cell::Text(_))
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_string())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

/// `4194304` becomes `4,194,304`.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Bytes in the largest unit that fits: `512 B`, `4 KiB`, `1.5 MiB`, `2.25 GiB`.
pub fn binary_bytes(bytes: u64) -> String {
    let units = [(1u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    for (size, unit) in units {
        if bytes >= size {
            let value = format!("{:.2}", bytes as f64 / size as f64);
            return format!("{} {unit}", value.trim_end_matches('0').trim_end_matches('.'));
        }
    }
    format!("{bytes} B")
}

/// Seconds with three significant digits: `190 ns`, `1.23 ms`, `11.3 s`.
pub fn seconds(s: f64) -> String {
    let (scale, unit) = match s.abs() {
        a if a >= 1.0 || a == 0.0 => (1.0, "s"),
        a if a >= 1e-3 => (1e3, "ms"),
        a if a >= 1e-6 => (1e6, "us"),
        _ => (1e9, "ns"),
    };
    format!("{} {unit}", significant(s * scale, 3))
}

/// A number with so many significant digits; scientific below 0.001 and from a million on.
pub fn significant(x: f64, digits: usize) -> String {
    let a = x.abs();
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    if !(1e-3..1e6).contains(&a) {
        return format!("{x:.*e}", digits - 1);
    }
    let before = a.log10().floor() as i32 + 1;
    format!("{x:.*}", (digits as i32 - before).max(0) as usize)
}

/// Reads a number as a person writes it: `4096`, `4_096`, `4,096`, `2.5e3`, with the unit behind it
/// or without. Bytes may be written as `4 KiB` or `1.5 MiB`.
///
/// # Errors
/// What is wrong with it and how it could be written.
pub fn parse_amount(text: &str, unit: &str) -> Result<f64, String> {
    let plain: String = text.trim().chars().filter(|c| !matches!(c, '_' | ',')).collect();
    let is_number = |n: &&str| n.trim().parse::<f64>().is_ok();
    let end = plain.char_indices().map(|(i, c)| i + c.len_utf8());
    let longest = end.filter_map(|i| plain.get(..i)).rfind(is_number);
    let number = longest.ok_or_else(|| {
        let bytes = if unit == "bytes" { ", 4 KiB or 1.5 MiB" } else { "" };
        format!("'{text}' is not a number; write it as 4096, 4_096{bytes}")
    })?;
    let value: f64 = number.trim().parse().unwrap_or(f64::NAN);
    if !value.is_finite() || value < 0.0 {
        return Err(format!("'{text}' is not a number of {unit}"));
    }
    Ok(value * scale(plain[number.len()..].trim(), unit)?)
}

/// How many of `unit` one of what a person wrote is.
fn scale(written: &str, unit: &str) -> Result<f64, String> {
    let written = written.to_ascii_lowercase();
    match (written.as_str(), unit) {
        ("", _) => Ok(1.0),
        (own, unit) if own == unit => Ok(1.0),
        ("b" | "byte", "bytes") => Ok(1.0),
        ("kib", "bytes") => Ok(1024.0),
        ("mib", "bytes") => Ok(1_048_576.0),
        ("gib", "bytes") => Ok(1_073_741_824.0),
        (_, "bytes") => Err(format!("'{written}' is not a unit here; use B, KiB, MiB or GiB")),
        (_, unit) => Err(format!("'{written}' is not the unit here; the answer is in {unit}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_a_reader() {
        assert_eq!(thousands(4_194_304), "4,194,304");
        assert_eq!(thousands(999), "999");
        assert_eq!(binary_bytes(1_572_864), "1.5 MiB");
        assert_eq!(binary_bytes(4096), "4 KiB");
        assert_eq!(seconds(1.9e-7), "190 ns");
        assert_eq!(seconds(11.31), "11.3 s");
        assert_eq!(Cell::Ratio(11.31).text(), "11.3x");
        assert_eq!(Cell::Number(1.25e-7).text(), "1.250e-7");
        assert_eq!(Cell::Number(f64::NAN).json(), Value::Null);
    }

    #[test]
    fn guesses_are_read_as_a_person_writes_them() {
        let bytes = |text: &str| parse_amount(text, "bytes");
        assert_eq!(bytes("4096"), Ok(4096.0));
        assert_eq!(bytes("4_096"), Ok(4096.0));
        assert_eq!(bytes("4,096 bytes"), Ok(4096.0));
        assert_eq!(bytes("4 KiB"), Ok(4096.0));
        assert_eq!(bytes("1.5MiB"), Ok(1572864.0));
        assert_eq!(bytes("1e6"), Ok(1e6));
        assert_eq!(parse_amount("12 nodes", "nodes"), Ok(12.0));
        assert!(bytes("4 MB").unwrap_err().contains("KiB"));
        assert!(parse_amount("4 KiB", "nodes").unwrap_err().contains("in nodes"));
        for wrong in ["lots", "-3", "", "inf", "nan", "4 4"] {
            assert!(bytes(wrong).is_err(), "{wrong} was read");
        }
    }
}
