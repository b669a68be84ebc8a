//! Cuts PTX into tokens (PTX ISA 4.1 to 4.5: source format, identifiers, constants).

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A name or the first piece of an opcode: `add`, `%r1`, `$L__BB0_2`, `_`.
    Word,
    /// `.global`, `.f32`, `.shared::cta`: with the dot.
    Dotted,
    /// A number in any of its forms.
    Number,
    /// `"text"`: with the quotes.
    Text,
    /// One character of punctuation.
    Mark(u8),
    /// Where the text ends; the last token.
    End,
}

/// A piece of the text.
#[derive(Debug, Clone, Copy)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Its first byte.
    pub start: u32,
    /// The byte behind its last.
    pub end: u32,
    /// Its line, from 1.
    pub line: u32,
}

/// Cuts a text into tokens, the last of them [`Kind::End`].
///
/// # Errors
///
/// The line, and what is wrong there: a character that PTX does not have, a comment or a string
/// without an end.
pub fn tokens(text: &str) -> Result<Vec<Token>, (u32, String)> {
    if u32::try_from(text.len()).is_err() {
        return Err((1, "the text has 4 GiB or more".into()));
    }
    let mut lexer = Lexer { bytes: text.as_bytes(), at: 0, line: 1 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_space()?;
        let (start, line) = (lexer.at, lexer.line);
        let kind = lexer.next()?;
        tokens.push(Token { kind, start: start as u32, end: lexer.at as u32, line });
        if kind == Kind::End {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u32,
}

impl Lexer<'_> {
    /// The byte that lies `ahead` of the current one; 0 behind the end.
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn skip_while(&mut self, wanted: impl Fn(u8) -> bool) {
        while self.at < self.bytes.len() && wanted(self.bytes[self.at]) {
            self.line += u32::from(self.bytes[self.at] == b'\n');
            self.at += 1;
        }
    }

    /// Skips blanks, comments, and the `@@DWARF` lines of PTX before version 2.
    fn skip_space(&mut self) -> Result<(), (u32, String)> {
        loop {
            self.skip_while(|byte| byte.is_ascii_whitespace() || byte == 0);
            match (self.peek(0), self.peek(1)) {
                (b'/', b'/') | (b'@', b'@') => self.skip_while(|byte| byte != b'\n'),
                (b'/', b'*') => self.skip_comment()?,
                _ => return Ok(()),
            }
        }
    }

    fn skip_comment(&mut self) -> Result<(), (u32, String)> {
        let line = self.line;
        let rest = &self.bytes[self.at + 2..];
        let Some(length) = rest.windows(2).position(|pair| pair == b"*/") else {
            return Err((line, "this comment has no end".into()));
        };
        let end = self.at + length + 4;
        self.line += self.bytes[self.at..end].iter().filter(|byte| **byte == b'\n').count() as u32;
        self.at = end;
        Ok(())
    }

    fn next(&mut self) -> Result<Kind, (u32, String)> {
        let first = self.peek(0);
        match first {
            _ if self.at >= self.bytes.len() => Ok(Kind::End),
            b'0'..=b'9' => Ok(self.number()),
            b'"' => self.string(),
            b'.' if is_word(self.peek(1)) => {
                self.at += 1;
                self.skip_while(|byte| is_word(byte) || byte == b':');
                self.give_back_colon();
                Ok(Kind::Dotted)
            }
            b'%' | b'$' | b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                self.at += 1;
                self.skip_while(is_word);
                Ok(Kind::Word)
            }
            33..=126 => {
                self.at += 1;
                Ok(Kind::Mark(first))
            }
            _ => Err((self.line, format!("the byte {first:#04x} is no part of PTX"))),
        }
    }

    /// `.shared::cta` is one token, but the colon of `.x:` is none of it.
    fn give_back_colon(&mut self) {
        while self.bytes[self.at - 1] == b':' {
            self.at -= 1;
        }
    }

    /// Digits and letters, and the fraction and exponent of a decimal one.
    fn number(&mut self) -> Kind {
        let decimal = !(self.peek(0) == b'0' && self.peek(1).is_ascii_alphabetic());
        self.skip_while(|byte| byte.is_ascii_digit());
        if decimal && self.peek(0) == b'.' && !self.peek(1).is_ascii_alphabetic() {
            self.at += 1;
            self.skip_while(|byte| byte.is_ascii_digit());
        }
        let sign = usize::from(matches!(self.peek(1), b'+' | b'-'));
        if decimal && matches!(self.peek(0), b'e' | b'E') && self.peek(1 + sign).is_ascii_digit() {
            self.at += 1 + sign;
        }
        self.skip_while(|byte| byte.is_ascii_alphanumeric());
        Kind::Number
    }

    fn string(&mut self) -> Result<Kind, (u32, String)> {
        let line = self.line;
        self.at += 1;
        loop {
            self.skip_while(|byte| !matches!(byte, b'"' | b'\\' | b'\n'));
            match self.peek(0) {
                b'"' => break,
                b'\\' if self.peek(1) != b'\n' && self.at + 1 < self.bytes.len() => self.at += 2,
                _ => return Err((line, "this string has no end".into())),
            }
        }
        self.at += 1;
        Ok(Kind::Text)
    }
}

/// Whether a byte may stand inside a name.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
}
