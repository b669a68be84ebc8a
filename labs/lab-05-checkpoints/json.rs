//! JSON as 5.2 needs it: names that stand twice are kept, and whole numbers stay whole.

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number from 0 to 2^64 - 1, written without sign, point and exponent.
    Whole(u64),
    /// Any other number: `-1`, `8.0`, `1e3`.
    Number(f64),
    /// `"text"`, with its escapes resolved.
    Text(String),
    /// `[..]`
    List(Vec<Json>),
    /// `{..}`: every pair in the order of the text, also where a name stands twice.
    Object(Vec<(String, Json)>),
}

/// How deep lists and objects may lie in each other. A file must not decide how much stack is used.
const DEPTH: usize = 64;

/// The value that a text is, or `None` if it is not JSON.
pub fn parse_json(text: &str) -> Option<Json> {
    let mut reader = Reader { rest: text };
    let value = reader.value(DEPTH)?;
    reader.skip_spaces();
    reader.rest.is_empty().then_some(value)
}

/// What has not been read yet.
struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    /// Whether these words come next. If so, they are read.
    fn take(&mut self, words: &str) -> bool {
        self.skip_spaces();
        let after = self.rest.strip_prefix(words);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        self.skip_spaces();
        match self.rest.chars().next()? {
            '{' => self.object(depth.checked_sub(1)?),
            '[' => self.list(depth.checked_sub(1)?),
            '"' => self.text().map(Json::Text),
            '-' | '0'..='9' => self.number(),
            _ if self.take("null") => Some(Json::Null),
            _ if self.take("true") => Some(Json::Bool(true)),
            _ if self.take("false") => Some(Json::Bool(false)),
            _ => None,
        }
    }

    fn object(&mut self, depth: usize) -> Option<Json> {
        let mut pairs = Vec::new();
        self.take("{");
        if self.take("}") {
            return Some(Json::Object(pairs));
        }
        loop {
            self.skip_spaces();
            let name = self.text()?;
            if !self.take(":") {
                return None;
            }
            pairs.push((name, self.value(depth)?));
            if self.take("}") {
                return Some(Json::Object(pairs));
            }
            if !self.take(",") {
                return None;
            }
        }
    }

    fn list(&mut self, depth: usize) -> Option<Json> {
        let mut items = Vec::new();
        self.take("[");
        if self.take("]") {
            return Some(Json::List(items));
        }
        loop {
            items.push(self.value(depth)?);
            if self.take("]") {
                return Some(Json::List(items));
            }
            if !self.take(",") {
                return None;
            }
        }
    }

    /// A minus, digits without a leading 0, and then a point with digits and an exponent, or not.
    fn number(&mut self) -> Option<Json> {
        let part = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
        let end = self.rest.find(|c| !part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        let unsigned = word.strip_prefix('-').unwrap_or(word);
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let (number, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, Some(exponent)),
            None => (unsigned, None),
        };
        let (whole, fraction) = match number.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (number, None),
        };
        let power = exponent.map(|text| text.strip_prefix(['+', '-']).unwrap_or(text));
        let good = digits(whole) && fraction.is_none_or(digits) && power.is_none_or(digits);
        if !good || (whole.len() > 1 && whole.starts_with('0')) {
            return None;
        }
        // A whole number beyond 64 bits is one of the other numbers.
        word.parse().map(Json::Whole).or_else(|_| word.parse().map(Json::Number)).ok()
    }

    fn text(&mut self) -> Option<String> {
        let mut text = String::new();
        let mut chars = self.rest.strip_prefix('"')?.chars();
        loop {
            match chars.next()? {
                '"' => break,
                '\\' => text.push(escaped(&mut chars)?),
                c if c < ' ' => return None,
                c => text.push(c),
            }
        }
        self.rest = chars.as_str();
        Some(text)
    }
}

/// The character behind a backslash.
fn escaped(chars: &mut std::str::Chars) -> Option<char> {
    match chars.next()? {
        c @ ('"' | '\\' | '/') => Some(c),
        'b' => Some('\u{8}'),
        'f' => Some('\u{c}'),
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        'u' => unicode(chars),
        _ => None,
    }
}

/// Four hexadecimal digits, or two times four: a character beyond 2^16 is written as a pair.
fn unicode(chars: &mut std::str::Chars) -> Option<char> {
    let first = four(chars)?;
    if !(0xd800..0xdc00).contains(&first) {
        return char::from_u32(first);
    }
    if chars.next()? != '\\' || chars.next()? != 'u' {
        return None;
    }
    let second = four(chars)?.checked_sub(0xdc00).filter(|&low| low < 0x400)?;
    char::from_u32(0x10000 + ((first - 0xd800) << 10) + second)
}

fn four(chars: &mut std::str::Chars) -> Option<u32> {
    let mut number = 0;
    for _ in 0..4 {
        number = number << 4 | chars.next()?.to_digit(16)?;
    }
    Some(number)
}
