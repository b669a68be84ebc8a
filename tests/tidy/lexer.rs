//! Splits Rust source into code, comments and the text of literals, line by line.
//!
//! The rules must not take a word in a string for code, nor a brace in a comment for a block. A
//! parser would be exact; these few states are enough, and need no dependency.

/// One line of a Rust file, taken apart.
#[derive(Default)]
pub struct Line {
    /// What the compiler sees; the text of literals is blanked out.
    pub code: String,
    /// The comment on this line with its slashes, or nothing.
    pub comment: String,
    /// The text of the string literals on this line.
    pub text: String,
}

impl Line {
    /// A line that holds nothing but a comment.
    pub fn is_comment(&self) -> bool {
        self.code.trim().is_empty() && !self.comment.trim().is_empty()
    }

    /// A line of documentation (`///` or `//!`).
    pub fn is_doc(&self) -> bool {
        let text = self.comment.trim_start();
        text.starts_with("///") || text.starts_with("//!")
    }

    pub fn is_blank(&self) -> bool {
        self.code.trim().is_empty() && self.comment.trim().is_empty()
    }

    pub fn is_attribute(&self) -> bool {
        let code = self.code.trim_start();
        code.starts_with("#[") || code.starts_with("#![")
    }
}

enum State {
    Code,
    Comment,
    Block(usize),
    Text,
    Raw(usize),
}

/// Takes a whole file apart.
pub fn lines(text: &str) -> Vec<Line> {
    let mut lexer =
        Lexer { chars: text.chars().collect(), at: 0, state: State::Code, line: Line::default() };
    let mut lines = Vec::new();
    while lexer.at < lexer.chars.len() {
        if lexer.chars[lexer.at] == '\n' {
            lines.push(std::mem::take(&mut lexer.line));
            if matches!(lexer.state, State::Comment) {
                lexer.state = State::Code;
            }
            lexer.at += 1;
        } else {
            lexer.step();
        }
    }
    if !text.ends_with('\n') {
        lines.push(lexer.line);
    }
    lines
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
    state: State,
    line: Line,
}

impl Lexer {
    fn peek(&self, ahead: usize) -> char {
        self.chars.get(self.at + ahead).copied().unwrap_or('\n')
    }

    fn step(&mut self) {
        let c = self.peek(0);
        match self.state {
            State::Code => self.code(c),
            State::Comment => self.comment(1),
            State::Block(depth) => self.block(depth),
            State::Text if c == '\\' => {
                self.text();
                if self.peek(0) != '\n' {
                    self.text();
                }
            }
            State::Text if c == '"' => self.close(1),
            State::Raw(hashes) if c == '"' && (1..=hashes).all(|i| self.peek(i) == '#') => {
                self.close(1 + hashes);
            }
            State::Text | State::Raw(_) => self.text(),
        }
    }

    fn code(&mut self, c: char) {
        let next = self.peek(1);
        match c {
            '/' if next == '/' => {
                self.state = State::Comment;
                self.comment(2);
            }
            '/' if next == '*' => {
                self.state = State::Block(1);
                self.comment(2);
            }
            '"' => {
                self.keep();
                self.state = State::Text;
            }
            'r' if !self.after_word() => self.raw(),
            '\'' if next == '\\' => {
                let end = (3..12).find(|&i| self.peek(i) == '\'').unwrap_or(0);
                self.blank(end + 1);
            }
            '\'' if self.peek(2) == '\'' => self.blank(3),
            _ => self.keep(),
        }
    }

    /// `r"…"`, `r#"…"#`, or a name that begins with r.
    fn raw(&mut self) {
        let hashes = (1..).take_while(|&i| self.peek(i) == '#').count();
        let opens = self.peek(1 + hashes) == '"';
        self.keep();
        if opens {
            (0..=hashes).for_each(|_| self.keep());
            self.state = State::Raw(hashes);
        }
    }

    /// Whether the character before is part of a name; `br"…"` is a literal all the same.
    fn after_word(&self) -> bool {
        let before = |n: usize| self.at.checked_sub(n).map_or(' ', |i| self.chars[i]);
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let prefix = matches!(before(1), 'b' | 'c') && !word(before(2));
        word(before(1)) && !prefix
    }

    fn block(&mut self, depth: usize) {
        match (self.peek(0), self.peek(1)) {
            ('*', '/') => {
                self.comment(2);
                self.state = if depth == 1 { State::Code } else { State::Block(depth - 1) };
            }
            ('/', '*') => {
                self.comment(2);
                self.state = State::Block(depth + 1);
            }
            _ => self.comment(1),
        }
    }

    fn keep(&mut self) {
        self.line.code.push(self.chars[self.at]);
        self.at += 1;
    }

    fn blank(&mut self, count: usize) {
        self.line.code.extend(std::iter::repeat_n(' ', count));
        self.at += count;
    }

    fn comment(&mut self, count: usize) {
        self.line.comment.extend(&self.chars[self.at..self.at + count]);
        self.at += count;
    }

    fn text(&mut self) {
        self.line.text.push(self.chars[self.at]);
        self.blank(1);
    }

    fn close(&mut self, count: usize) {
        (0..count).for_each(|_| self.keep());
        self.state = State::Code;
    }
}

#[test]
fn strings_comments_and_code_are_told_apart() {
    let lines = lines(concat!(
        "let a = \"// { \\\" }\"; // x\n",
        "/* { /* } */ */ b('{', '\\'', &'a c)\n",
        "br#\"un\"safe\"# r_x\n",
    ));
    let code: Vec<&str> = lines.iter().map(|line| line.code.trim_end()).collect();
    assert_eq!(code[0], "let a = \"         \";");
    assert_eq!(code[1].trim_start(), "b(   ,     , &'a c)");
    assert_eq!(code[2], "br#\"       \"# r_x");
    assert_eq!(lines[0].comment, "// x");
    assert_eq!(lines[2].text, "un\"safe");
}
