//! Values as JSON and as Python's pickle: what a snapshot is written as.

use std::fmt::{self, Write};

use crate::json::JsonText;

/// A value that both forms can hold.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Number(u64),
    Text(String),
    List(Vec<Value>),
    /// Pairs, in this order.
    Dict(Vec<(&'static str, Value)>),
}

impl From<u64> for Value {
    fn from(number: u64) -> Value {
        Value::Number(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_string())
    }
}

impl Value {
    /// A pickle of protocol 2, which every Python 3 reads. Source: the comments of CPython's
    /// `Lib/pickletools.py`, which define each opcode.
    pub(super) fn to_pickle(&self) -> Vec<u8> {
        let mut out = vec![0x80, 2];
        self.pickle(&mut out);
        out.push(b'.');
        out
    }

    fn pickle(&self, out: &mut Vec<u8>) {
        match self {
            Value::Number(number) => {
                // LONG1: how many bytes, then the number with a sign bit, lowest byte first.
                out.extend([0x8a, 9]);
                out.extend(number.to_le_bytes());
                out.push(0);
            }
            Value::Text(text) => pickle_text(text, out),
            Value::List(items) => {
                // EMPTY_LIST, MARK, the items, APPENDS.
                out.extend(b"](");
                items.iter().for_each(|item| item.pickle(out));
                out.push(b'e');
            }
            Value::Dict(pairs) => {
                // EMPTY_DICT, MARK, keys and values, SETITEMS.
                out.extend(b"}(");
                for (key, value) in pairs {
                    pickle_text(key, out);
                    value.pickle(out);
                }
                out.push(b'u');
            }
        }
    }
}

/// BINUNICODE: the length in four bytes, then UTF-8.
fn pickle_text(text: &str, out: &mut Vec<u8>) {
    out.push(b'X');
    out.extend((text.len() as u32).to_le_bytes());
    out.extend(text.as_bytes());
}

/// As JSON.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Value::Number(number) => write!(f, "{number}"),
            Value::Text(text) => write!(f, "{}", JsonText(text)),
            Value::List(items) => {
                f.write_char('[')?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i == 0 { "" } else { "," })?;
                }
                f.write_char(']')
            }
            Value::Dict(pairs) => {
                f.write_char('{')?;
                for (i, (key, value)) in pairs.iter().enumerate() {
                    write!(f, "{}\"{key}\":{value}", if i == 0 { "" } else { "," })?;
                }
                f.write_char('}')
            }
        }
    }
}
