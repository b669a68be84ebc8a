//! JSON, as far as headers and indices need it: a reader that walks over a text and keeps nothing,
//! and a writer of strings.
//!
//! Contract: the reader takes what RFC 8259 allows and nothing else; a key that stands twice in one
//! object is an error, where other readers keep the last one in silence. What it allocates is the
//! set of keys of the objects that it is in. No input makes it panic or recurse beyond
//! [`MAX_DEPTH`].

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write;

use crate::error::Quoted;
use crate::json::JsonText;

/// How deep objects and lists may lie in one another. A header needs three.
const MAX_DEPTH: usize = 32;

/// Walks over a JSON text. Each method reads one value of its kind, or says what stands there.
pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

/// What is done with each key of an object: it has to read the value.
type Visit<'v, 'a> = dyn FnMut(&mut Reader<'a>, Cow<'a, str>) -> Result<(), String> + 'v;
/// The pairs of an object of strings, in order.
type Pairs<'a> = Vec<(Cow<'a, str>, Cow<'a, str>)>;

impl<'a> Reader<'a> {
    /// At the beginning of a text.
    pub fn new(text: &'a str) -> Reader<'a> {
        Reader { text, at: 0, depth: 0 }
    }

    /// Reads an object. `visit` is called with each key and has to read the value.
    pub fn object(&mut self, visit: &mut Visit<'_, 'a>) -> Result<(), String> {
        let mut keys = HashSet::new();
        self.between(b'{', b'}', "an object", &mut |reader| {
            let key = reader.string()?;
            if keys.contains(&key) {
                return Err(format!("has a duplicate name: {} stands there twice", Quoted(&key)));
            }
            keys.insert(key.clone());
            reader.expect(b':', "a colon after the name")?;
            visit(reader, key)
        })
    }

    /// Reads a list. `visit` is called before each element and has to read it.
    pub fn list(
        &mut self,
        visit: &mut dyn FnMut(&mut Reader<'a>) -> Result<(), String>,
    ) -> Result<(), String> {
        self.between(b'[', b']', "a list", visit)
    }

    /// Reads a list of whole numbers.
    pub fn numbers(&mut self) -> Result<Vec<u64>, String> {
        let mut numbers = Vec::new();
        self.list(&mut |reader| {
            numbers.push(reader.number()?);
            Ok(())
        })?;
        Ok(numbers)
    }

    /// Reads a whole number from 0 to 2^64 - 1; a fraction, an exponent or a sign is an error.
    pub fn number(&mut self) -> Result<u64, String> {
        let start = self.skip_space();
        self.any_number()?;
        let digits = &self.text[start..self.at];
        let whole = digits.bytes().all(|c| c.is_ascii_digit());
        let value = digits.parse().ok().filter(|_| whole);
        value.ok_or_else(|| {
            let shown: String = digits.chars().take(24).collect();
            format!("needs a whole number from 0 to 2^64 - 1, not {shown}")
        })
    }

    /// Reads any value; a whole number is given, everything else is passed over.
    pub fn number_or_skip(&mut self) -> Result<Option<u64>, String> {
        let start = self.skip_space();
        self.skip()?;
        Ok(Reader::new(&self.text[start..self.at]).number().ok())
    }

    /// Reads a string; without escapes it is a part of the text, and nothing is copied.
    pub fn string(&mut self) -> Result<Cow<'a, str>, String> {
        self.expect(b'"', "a string")?;
        let start = self.at;
        let mut written: Option<String> = None;
        loop {
            let plain = self.at;
            let rest = &self.text.as_bytes()[plain..];
            let run = rest.iter().position(|&c| c == b'"' || c == b'\\' || c < b' ');
            let Some(run) = run else { return self.wrong("the end of a string") };
            self.at += run;
            let piece = &self.text[plain..self.at];
            match (rest[run], &mut written) {
                (b'"', None) => {
                    self.at += 1;
                    return Ok(Cow::Borrowed(&self.text[start..self.at - 1]));
                }
                (b'"', Some(text)) => {
                    text.push_str(piece);
                    self.at += 1;
                    return Ok(Cow::Owned(std::mem::take(text)));
                }
                (b'\\', _) => {
                    let text = written.get_or_insert_default();
                    text.push_str(piece);
                    text.push(self.escape()?);
                }
                _ => return self.wrong("a string without raw control characters"),
            }
        }
    }

    /// Reads any value and forgets it.
    pub fn skip(&mut self) -> Result<(), String> {
        match self.next() {
            Some(b'{') => self.object(&mut |reader, _| reader.skip()),
            Some(b'[') => self.list(&mut |reader| reader.skip()),
            Some(b'"') => self.string().map(drop),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.null(),
            _ => self.any_number(),
        }
    }

    /// Reads `null`.
    pub fn null(&mut self) -> Result<(), String> {
        self.word("null")
    }

    /// Whether the next value is `null`.
    pub fn is_null(&mut self) -> bool {
        self.next() == Some(b'n')
    }

    /// Whether the next value is an object.
    pub fn is_object(&mut self) -> bool {
        self.next() == Some(b'{')
    }

    /// The first character of the next value.
    fn next(&mut self) -> Option<u8> {
        let start = self.skip_space();
        self.text.as_bytes().get(start).copied()
    }

    /// The end: only white space may follow.
    pub fn end(mut self) -> Result<(), String> {
        let start = self.skip_space();
        if start == self.text.len() { Ok(()) } else { self.wrong("nothing more") }
    }

    /// What stands between two brackets, with a comma between any two of it.
    fn between(
        &mut self,
        open: u8,
        close: u8,
        what: &str,
        visit: &mut dyn FnMut(&mut Reader<'a>) -> Result<(), String>,
    ) -> Result<(), String> {
        self.expect(open, what)?;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("is nested more than {MAX_DEPTH} deep at byte {}", self.at));
        }
        if !self.found(close) {
            loop {
                visit(self)?;
                if self.found(close) {
                    break;
                }
                self.expect(b',', "a comma or the end of what was opened")?;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn skip_space(&mut self) -> usize {
        let rest = &self.text.as_bytes()[self.at..];
        let is_space = |c: &u8| matches!(c, b' ' | b'\t' | b'\n' | b'\r');
        self.at += rest.iter().position(|c| !is_space(c)).unwrap_or(rest.len());
        self.at
    }

    /// Whether this character comes next; it is read then.
    fn found(&mut self, c: u8) -> bool {
        self.skip_space();
        let found = self.text.as_bytes().get(self.at) == Some(&c);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, c: u8, what: &str) -> Result<(), String> {
        if self.found(c) { Ok(()) } else { self.wrong(what) }
    }

    fn word(&mut self, word: &str) -> Result<(), String> {
        let start = self.skip_space();
        if !self.text[start..].starts_with(word) {
            return self.wrong(word);
        }
        self.at += word.len();
        Ok(())
    }

    /// A number as JSON has it: `-0.5e+3`, but not `+1`, `01` or `.5`.
    fn any_number(&mut self) -> Result<(), String> {
        self.skip_space();
        self.take(b"-");
        let zero = self.take(b"0");
        if !zero && self.digits() == 0 {
            return self.wrong("a number");
        }
        if self.take(b".") && self.digits() == 0 {
            return self.wrong("a digit after the point");
        }
        if self.take(b"eE") {
            self.take(b"+-");
            if self.digits() == 0 {
                return self.wrong("an exponent");
            }
        }
        Ok(())
    }

    /// Whether one of these characters comes next, without space; it is read then.
    fn take(&mut self, any: &[u8]) -> bool {
        let found = self.text.as_bytes().get(self.at).is_some_and(|c| any.contains(c));
        self.at += usize::from(found);
        found
    }

    fn digits(&mut self) -> usize {
        let rest = &self.text.as_bytes()[self.at..];
        let count = rest.iter().position(|c| !c.is_ascii_digit()).unwrap_or(rest.len());
        self.at += count;
        count
    }

    /// The character for which an escape stands, from its backslash on.
    fn escape(&mut self) -> Result<char, String> {
        let kind = self.text.as_bytes().get(self.at + 1).copied();
        self.at += 2;
        Ok(match kind {
            Some(c @ (b'"' | b'\\' | b'/')) => char::from(c),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => {
                self.at -= 2;
                return self.wrong("an escape of JSON");
            }
        })
    }

    /// The four digits of `\u`, and those of the other half where it takes two.
    fn unicode(&mut self) -> Result<char, String> {
        let high = self.four_digits()?;
        if !(0xd800..0xdc00).contains(&high) {
            return char::from_u32(high).map_or_else(|| self.wrong("a whole character"), Ok);
        }
        if !self.text[self.at..].starts_with("\\u") {
            return self.wrong("the other half of a character");
        }
        self.at += 2;
        let low = self.four_digits()?;
        if !(0xdc00..0xe000).contains(&low) {
            return self.wrong("the other half of a character");
        }
        let both = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        char::from_u32(both).map_or_else(|| self.wrong("a character"), Ok)
    }

    fn four_digits(&mut self) -> Result<u32, String> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4);
        let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let Some(digits) = digits else { return self.wrong("four hexadecimal digits") };
        let value = |c: &u8| char::from(*c).to_digit(16).expect("it is a hexadecimal digit");
        let number = digits.iter().fold(0, |number, c| number * 16 + value(c));
        self.at += 4;
        Ok(number)
    }

    fn wrong<T>(&self, expected: &str) -> Result<T, String> {
        let rest = self.text.get(self.at..).unwrap_or("");
        let found: String = rest.chars().take(12).collect();
        let found = if found.is_empty() { "the end".into() } else { Quoted(&found).to_string() };
        Err(format!("is no valid JSON: byte {} needs {expected}, not {found}", self.at))
    }
}

/// An object of strings, `{"a":"b"}`.
pub(super) fn write_strings<'t>(out: &mut String, pairs: impl Iterator<Item = (&'t str, &'t str)>) {
    out.push('{');
    for (number, (key, value)) in pairs.enumerate() {
        if number > 0 {
            out.push(',');
        }
        let _ = write!(out, "{}:{}", JsonText(key), JsonText(value));
    }
    out.push('}');
}

/// The pairs of an object of strings.
pub(super) fn read_strings<'a>(reader: &mut Reader<'a>) -> Result<Pairs<'a>, String> {
    let mut pairs = Vec::new();
    reader.object(&mut |reader, key| {
        let value = reader.string().map_err(|error| format!("{}: {error}", Quoted(&key)))?;
        pairs.push((key, value));
        Ok(())
    })?;
    Ok(pairs)
}
