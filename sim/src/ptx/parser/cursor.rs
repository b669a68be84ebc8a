//! Walks over the tokens of a text.

use crate::ptx::error::Error;
use crate::ptx::lexer::{Kind, Token};

/// The tokens of a text, and which of them is next.
pub struct Cursor<'a> {
    path: &'a str,
    text: &'a str,
    tokens: Vec<Token>,
    /// The number of the next token.
    pub at: usize,
}

impl<'a> Cursor<'a> {
    /// Stands before the first token; the last must be [`Kind::End`].
    pub fn new(path: &'a str, text: &'a str, tokens: Vec<Token>) -> Cursor<'a> {
        Cursor { path, text, tokens, at: 0 }
    }

    /// The name of the file.
    pub fn path(&self) -> &'a str {
        self.path
    }

    /// The token with this number; behind the end, the last one.
    pub fn token(&self, number: usize) -> Token {
        self.tokens[number.min(self.tokens.len() - 1)]
    }

    /// The next token.
    pub fn peek(&self) -> Token {
        self.token(self.at)
    }

    /// What the next token is.
    pub fn kind(&self) -> Kind {
        self.peek().kind
    }

    /// The text of the next token.
    pub fn word(&self) -> &'a str {
        self.spell(self.peek())
    }

    /// The text of a token.
    pub fn spell(&self, token: Token) -> &'a str {
        self.slice(token.start, token.end)
    }

    /// A piece of the text, between ends of tokens.
    pub fn slice(&self, start: u32, end: u32) -> &'a str {
        &self.text[start as usize..end as usize]
    }

    /// Whether the next token follows the one before it without a blank.
    pub fn adjacent(&self) -> bool {
        self.at > 0 && self.token(self.at - 1).end == self.peek().start
    }

    /// Whether the next token is this punctuation.
    pub fn sees(&self, mark: u8) -> bool {
        self.kind() == Kind::Mark(mark)
    }

    /// Whether the next token is this directive, with its dot.
    pub fn sees_dotted(&self, name: &str) -> bool {
        self.kind() == Kind::Dotted && self.word() == name
    }

    /// Steps over this punctuation if it is next.
    pub fn eat(&mut self, mark: u8) -> bool {
        let seen = self.sees(mark);
        self.at += usize::from(seen);
        seen
    }

    /// Steps over this directive if it is next.
    pub fn eat_dotted(&mut self, name: &str) -> bool {
        let seen = self.sees_dotted(name);
        self.at += usize::from(seen);
        seen
    }

    /// Steps over this word if it is next.
    pub fn eat_word(&mut self, name: &str) -> bool {
        let seen = self.kind() == Kind::Word && self.word() == name;
        self.at += usize::from(seen);
        seen
    }

    /// Steps over punctuation that must be next.
    pub fn expect(&mut self, mark: u8) -> Result<(), Error> {
        if self.eat(mark) { Ok(()) } else { Err(self.wanted(&format!("`{}`", mark as char))) }
    }

    /// Steps over a name, and returns it.
    pub fn name(&mut self) -> Result<&'a str, Error> {
        if self.kind() != Kind::Word {
            return Err(self.wanted("a name"));
        }
        let name = self.word();
        self.at += 1;
        Ok(name)
    }

    /// Steps over a string, and returns what is between its quotes.
    pub fn string(&mut self) -> Result<&'a str, Error> {
        if self.kind() != Kind::Text {
            return Err(self.wanted("a string"));
        }
        let text = self.word();
        self.at += 1;
        Ok(&text[1..text.len() - 1])
    }

    /// Steps over everything up to the bracket that closes the one which is next, such as `{`.
    pub fn skip_brackets(&mut self, opening: u8, closing: u8) -> Result<(), Error> {
        let first = self.peek();
        self.expect(opening)?;
        let mut depth = 1_u32;
        while depth > 0 {
            match self.kind() {
                Kind::Mark(mark) if mark == opening => depth += 1,
                Kind::Mark(mark) if mark == closing => depth -= 1,
                Kind::End => return Err(self.unclosed(first)),
                _ => {}
            }
            self.at += 1;
        }
        Ok(())
    }

    /// An error at a token.
    pub fn error(&self, token: Token, message: String) -> Error {
        Error { path: self.path.into(), line: token.line, message }
    }

    /// An error: a bracket has no other that closes it.
    pub fn unclosed(&self, bracket: Token) -> Error {
        self.error(bracket, format!("this `{}` is never closed", self.spell(bracket)))
    }

    /// An error: the next token is not what was wanted.
    pub fn wanted(&self, wanted: &str) -> Error {
        let found = match self.kind() {
            Kind::End => "the end of the text".into(),
            _ => format!("`{}`", shortened(self.word())),
        };
        self.error(self.peek(), format!("expected {wanted}, found {found}"))
    }
}

/// At most 40 characters of a text.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text.into(),
    }
}
