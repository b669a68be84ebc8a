//! Numbers (PTX ISA 4.5).

use super::cursor::{Cursor, shortened};
use crate::ptx::ast::Operand;
use crate::ptx::error::Error;
use crate::ptx::lexer::Kind;

/// A number, perhaps with a sign: an integer in two's complement, or the bits of a float.
pub fn number(cursor: &mut Cursor) -> Result<Operand, Error> {
    let negative = cursor.eat(b'-');
    if !negative {
        cursor.eat(b'+');
    }
    if cursor.kind() != Kind::Number {
        return Err(cursor.wanted("a number"));
    }
    let Some(value) = value(cursor.word()) else {
        let message = format!("`{}` is no number of PTX", shortened(cursor.word()));
        return Err(cursor.error(cursor.peek(), message));
    };
    cursor.at += 1;
    Ok(match value {
        Operand::Integer(bits) if negative => Operand::Integer(bits.wrapping_neg()),
        Operand::Single(bits) if negative => Operand::Single(bits ^ 1 << 31),
        Operand::Double(bits) if negative => Operand::Double(bits ^ 1 << 63),
        value => value,
    })
}

/// An integer without a sign.
pub fn unsigned(cursor: &mut Cursor) -> Result<u64, Error> {
    let before = cursor.peek();
    match number(cursor)? {
        Operand::Integer(value) => Ok(value),
        _ => Err(cursor.error(before, "expected an integer".into())),
    }
}

/// An integer that fits into 32 bits.
pub fn unsigned32(cursor: &mut Cursor) -> Result<u32, Error> {
    let before = cursor.peek();
    u32::try_from(unsigned(cursor)?)
        .map_err(|_| cursor.error(before, "this number needs more than 32 bits".into()))
}

fn value(text: &str) -> Option<Operand> {
    if let Some(digits) = prefixed(text, ["0f", "0F"]) {
        return (digits.len() == 8)
            .then(|| u32::from_str_radix(digits, 16).ok().map(Operand::Single))?;
    }
    if let Some(digits) = prefixed(text, ["0d", "0D"]) {
        return (digits.len() == 16)
            .then(|| u64::from_str_radix(digits, 16).ok().map(Operand::Double))?;
    }
    let hexadecimal = prefixed(text, ["0x", "0X"]).is_some();
    if text.contains('.') || !hexadecimal && text.contains(['e', 'E']) {
        return text.parse::<f64>().ok().map(|value| Operand::Double(value.to_bits()));
    }
    integer(text.strip_suffix(['U', 'u']).unwrap_or(text)).map(Operand::Integer)
}

/// `0x1F`, `0b101`, octal `017`, or decimal.
fn integer(text: &str) -> Option<u64> {
    let (digits, radix) = if let Some(digits) = prefixed(text, ["0x", "0X"]) {
        (digits, 16)
    } else if let Some(digits) = prefixed(text, ["0b", "0B"]) {
        (digits, 2)
    } else if text.len() > 1 && text.starts_with('0') {
        (&text[1..], 8)
    } else {
        (text, 10)
    };
    u64::from_str_radix(digits, radix).ok()
}

fn prefixed<'a>(text: &'a str, prefixes: [&str; 2]) -> Option<&'a str> {
    prefixes.iter().find_map(|prefix| text.strip_prefix(prefix))
}
