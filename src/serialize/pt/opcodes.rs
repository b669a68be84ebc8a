//! The opcodes of a pickle: their names, what follows each, and which of them are carried out.
//!
//! A pickle is a program for a small machine with a stack: each byte is an instruction, and some
//! have an argument behind them. Reading the instructions does nothing; `unpickler.rs` carries
//! them out, and only those that have an [`Op`] here.

use std::ops::Range;

/// The instructions that are carried out. All others are refused by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Append,
    Appends,
    BinPersId,
    Build,
    Bytes,
    EmptyDict,
    EmptyList,
    EmptySet,
    EmptyTuple,
    False,
    Float,
    Frame,
    FrozenSet,
    Get,
    Global,
    Int,
    Long,
    Mark,
    Memoize,
    None,
    Proto,
    Put,
    Reduce,
    SetItem,
    SetItems,
    StackGlobal,
    Stop,
    Text,
    True,
    Tuple,
    TupleOf(usize),
}

impl Op {
    /// Whether it can make a value that was not there before.
    pub fn makes_a_value(self) -> bool {
        use Op::{
            Append, Appends, Build, Frame, Get, Mark, Memoize, Proto, Put, SetItem, SetItems,
        };
        let moves = matches!(self, Append | Appends | Build | Get | Mark | Memoize | Put);
        !moves && !matches!(self, Frame | Proto | SetItem | SetItems | Op::Stop)
    }
}

/// How the argument behind an opcode is written.
#[derive(Clone, Copy)]
enum Form {
    Nothing,
    /// A number of so many bytes, the lowest first.
    Unsigned(usize),
    Signed4,
    /// Eight bytes, the highest first.
    Float8,
    /// Text up to the end of the line, and two such lines.
    Line,
    Lines2,
    /// A length of so many bytes, and as many bytes as it says.
    Bytes(usize),
    /// The same, and the bytes are UTF-8.
    Text(usize),
}

/// The argument of one instruction. Bytes and text are named by where they lie in the stream.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Argument {
    Nothing,
    Number(i64),
    Float(f64),
    Bytes(Range<usize>),
    Text(Range<usize>),
    Lines2(Range<usize>, Range<usize>),
}

/// One instruction of a stream.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// Bytes of the stream before it.
    pub position: usize,
    /// Its name in Python's `pickle`.
    pub name: &'static str,
    /// What carries it out, if anything does.
    pub op: Option<Op>,
    /// What follows it.
    pub argument: Argument,
}

/// Name, argument and meaning of every opcode up to protocol 5; `None` for the other bytes.
/// Source: CPython 3.11, `Lib/pickletools.py`.
#[rustfmt::skip]
fn row(opcode: u8) -> Option<(&'static str, Form, Option<Op>)> {
    use Form::{Bytes, Float8, Line, Lines2, Nothing, Signed4, Text, Unsigned};
    Some(match opcode {
        // What `torch.save` writes by itself, in protocol 2.
        0x80 => ("PROTO", Unsigned(1), Some(Op::Proto)),
        b'.' => ("STOP", Nothing, Some(Op::Stop)),
        b'(' => ("MARK", Nothing, Some(Op::Mark)),
        b'}' => ("EMPTY_DICT", Nothing, Some(Op::EmptyDict)),
        b']' => ("EMPTY_LIST", Nothing, Some(Op::EmptyList)),
        b')' => ("EMPTY_TUPLE", Nothing, Some(Op::EmptyTuple)),
        b't' => ("TUPLE", Nothing, Some(Op::Tuple)),
        0x85 => ("TUPLE1", Nothing, Some(Op::TupleOf(1))),
        0x86 => ("TUPLE2", Nothing, Some(Op::TupleOf(2))),
        0x87 => ("TUPLE3", Nothing, Some(Op::TupleOf(3))),
        b'N' => ("NONE", Nothing, Some(Op::None)),
        0x88 => ("NEWTRUE", Nothing, Some(Op::True)),
        0x89 => ("NEWFALSE", Nothing, Some(Op::False)),
        b'J' => ("BININT", Signed4, Some(Op::Int)),
        b'K' => ("BININT1", Unsigned(1), Some(Op::Int)),
        b'M' => ("BININT2", Unsigned(2), Some(Op::Int)),
        0x8a => ("LONG1", Bytes(1), Some(Op::Long)),
        b'G' => ("BINFLOAT", Float8, Some(Op::Float)),
        b'X' => ("BINUNICODE", Text(4), Some(Op::Text)),
        b'a' => ("APPEND", Nothing, Some(Op::Append)),
        b'e' => ("APPENDS", Nothing, Some(Op::Appends)),
        b's' => ("SETITEM", Nothing, Some(Op::SetItem)),
        b'u' => ("SETITEMS", Nothing, Some(Op::SetItems)),
        b'q' => ("BINPUT", Unsigned(1), Some(Op::Put)),
        b'r' => ("LONG_BINPUT", Unsigned(4), Some(Op::Put)),
        b'h' => ("BINGET", Unsigned(1), Some(Op::Get)),
        b'j' => ("LONG_BINGET", Unsigned(4), Some(Op::Get)),
        b'c' => ("GLOBAL", Lines2, Some(Op::Global)),
        b'R' => ("REDUCE", Nothing, Some(Op::Reduce)),
        b'b' => ("BUILD", Nothing, Some(Op::Build)),
        b'Q' => ("BINPERSID", Nothing, Some(Op::BinPersId)),
        // What it writes besides when it is asked for protocol 3, 4 or 5.
        b'C' => ("SHORT_BINBYTES", Bytes(1), Some(Op::Bytes)),
        b'B' => ("BINBYTES", Bytes(4), Some(Op::Bytes)),
        0x8e => ("BINBYTES8", Bytes(8), Some(Op::Bytes)),
        0x96 => ("BYTEARRAY8", Bytes(8), Some(Op::Bytes)),
        0x8c => ("SHORT_BINUNICODE", Text(1), Some(Op::Text)),
        0x8d => ("BINUNICODE8", Text(8), Some(Op::Text)),
        0x95 => ("FRAME", Unsigned(8), Some(Op::Frame)),
        0x94 => ("MEMOIZE", Nothing, Some(Op::Memoize)),
        0x93 => ("STACK_GLOBAL", Nothing, Some(Op::StackGlobal)),
        0x8f => ("EMPTY_SET", Nothing, Some(Op::EmptySet)),
        0x90 => ("ADDITEMS", Nothing, Some(Op::Appends)),
        0x91 => ("FROZENSET", Nothing, Some(Op::FrozenSet)),
        // Instances of classes, calls by other ways, and objects from elsewhere.
        0x81 => ("NEWOBJ", Nothing, None),
        0x92 => ("NEWOBJ_EX", Nothing, None),
        b'i' => ("INST", Lines2, None),
        b'o' => ("OBJ", Nothing, None),
        b'P' => ("PERSID", Line, None),
        0x82 => ("EXT1", Unsigned(1), None),
        0x83 => ("EXT2", Unsigned(2), None),
        0x84 => ("EXT4", Signed4, None),
        0x97 => ("NEXT_BUFFER", Nothing, None),
        0x98 => ("READONLY_BUFFER", Nothing, None),
        // Older ways to write values, and moves on the stack, which `torch.save` does without.
        b'I' => ("INT", Line, None),
        b'L' => ("LONG", Line, None),
        b'F' => ("FLOAT", Line, None),
        b'S' => ("STRING", Line, None),
        b'V' => ("UNICODE", Line, None),
        b'T' => ("BINSTRING", Bytes(4), None),
        b'U' => ("SHORT_BINSTRING", Bytes(1), None),
        0x8b => ("LONG4", Bytes(4), None),
        b'd' => ("DICT", Nothing, None),
        b'l' => ("LIST", Nothing, None),
        b'p' => ("PUT", Line, None),
        b'g' => ("GET", Line, None),
        b'0' => ("POP", Nothing, None),
        b'1' => ("POP_MARK", Nothing, None),
        b'2' => ("DUP", Nothing, None),
        _ => return None,
    })
}

/// The instructions of a stream, one after the other, up to and with `STOP`. An error is the last.
pub(super) struct Opcodes<'a> {
    bytes: &'a [u8],
    at: usize,
    done: bool,
}

impl<'a> Opcodes<'a> {
    /// The instructions of `bytes`, from the first on.
    pub fn new(bytes: &'a [u8]) -> Opcodes<'a> {
        Opcodes { bytes, at: 0, done: false }
    }

    /// The bytes behind what was read so far.
    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    fn step(&mut self) -> Result<Step, String> {
        let position = self.at;
        let Some(&opcode) = self.bytes.get(position) else {
            return Err(format!("it ends after {position} bytes without STOP; it is cut short"));
        };
        let Some((name, form, op)) = row(opcode) else {
            return Err(format!("byte 0x{opcode:02x} at position {position} is no opcode"));
        };
        self.at += 1;
        let argument = self.argument(form).map_err(|why| {
            format!("the argument of {name} at position {position} {why}; the stream is damaged")
        })?;
        self.done = opcode == b'.';
        Ok(Step { position, name, op, argument })
    }

    fn argument(&mut self, form: Form) -> Result<Argument, &'static str> {
        Ok(match form {
            Form::Nothing => Argument::Nothing,
            Form::Unsigned(bytes) => Argument::Number(self.unsigned(bytes)?),
            // The lower four bytes of the number, sign and all.
            Form::Signed4 => Argument::Number(i64::from(self.unsigned(4)? as u32 as i32)),
            Form::Float8 => {
                let bytes = self.take(8)?;
                let bytes = self.bytes[bytes].try_into().expect("eight were taken");
                Argument::Float(f64::from_be_bytes(bytes))
            }
            Form::Line => Argument::Text(self.line()?),
            Form::Lines2 => Argument::Lines2(self.line()?, self.line()?),
            Form::Bytes(count) => Argument::Bytes(self.counted(count)?),
            Form::Text(count) => {
                let text = self.counted(count)?;
                Argument::Text(self.utf8(text)?)
            }
        })
    }

    /// None of the stream's numbers is trusted: each is compared with the bytes that are left.
    fn take(&mut self, bytes: usize) -> Result<Range<usize>, &'static str> {
        if bytes > self.left() {
            return Err("goes beyond the end");
        }
        self.at += bytes;
        Ok(self.at - bytes..self.at)
    }

    fn unsigned(&mut self, bytes: usize) -> Result<i64, &'static str> {
        let taken = self.take(bytes)?;
        let digits = self.bytes[taken].iter().rev();
        let number = digits.fold(0u64, |number, &byte| number << 8 | u64::from(byte));
        i64::try_from(number).map_err(|_| "is larger than any file")
    }

    fn counted(&mut self, bytes: usize) -> Result<Range<usize>, &'static str> {
        let length = self.unsigned(bytes)?;
        self.take(usize::try_from(length).map_err(|_| "goes beyond the end")?)
    }

    /// Text up to the end of the line, which is read too.
    fn line(&mut self) -> Result<Range<usize>, &'static str> {
        let left = &self.bytes[self.at..];
        let length = left.iter().position(|&byte| byte == b'\n').ok_or("goes beyond the end")?;
        let line = self.take(length)?;
        self.at += 1;
        self.utf8(line)
    }

    fn utf8(&self, text: Range<usize>) -> Result<Range<usize>, &'static str> {
        match std::str::from_utf8(&self.bytes[text.clone()]) {
            Ok(_) => Ok(text),
            Err(_) => Err("is not UTF-8"),
        }
    }
}

impl Iterator for Opcodes<'_> {
    type Item = Result<Step, String>;

    fn next(&mut self) -> Option<Result<Step, String>> {
        if self.done {
            return None;
        }
        let step = self.step();
        self.done |= step.is_err();
        Some(step)
    }
}
