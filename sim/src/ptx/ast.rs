//! The syntax tree of a PTX module: what the text says, with every name found.
//!
//! An operand that names something holds an index, not the name: of a register in
//! [`Function::registers`], a label in [`Function::labels`], and so on by [`Symbol`]. The blocks
//! `{ .. }` inside a function are gone: what they declare is listed with the rest of the function.

use std::sync::Arc;

/// A module: one PTX file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Module {
    /// The name of the PTX file, as reports shall print it.
    pub path: String,
    /// `.version 8.1` is (8, 1).
    pub version: (u32, u32),
    /// `.target sm_80`, with what follows it.
    pub target: String,
    /// Bits of an address, 32 or 64.
    pub address_size: u32,
    /// The paths of the `.file` directives, in the order of the text.
    pub files: Vec<String>,
    /// The places that instructions come from, by [`Instruction::position`].
    pub positions: Vec<Position>,
    /// The variables outside of functions.
    pub globals: Vec<Variable>,
    /// Kernels and functions; one that is only declared has no [`Function::defined`].
    pub functions: Vec<Function>,
}

/// A line of the CUDA source (a `.loc` directive).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Position {
    /// Its file, in [`Module::files`].
    pub file: u32,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 is unknown.
    pub column: u32,
    /// Where the function around this line was inlined, in [`Module::positions`].
    pub inlined_at: Option<u32>,
}

/// Whether a function is a kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kind {
    /// `.entry`: a kernel.
    Entry,
    /// `.func`: called from kernels and functions.
    #[default]
    Device,
}

/// A kernel or a function.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Kernel or function.
    pub kind: Kind,
    /// Whether the module has its body.
    pub defined: bool,
    /// The line of the PTX text that names it.
    pub line: u32,
    /// What it returns: at most one in what compilers write.
    pub returns: Vec<Variable>,
    /// What it is passed.
    pub params: Vec<Variable>,
    /// The registers that its instructions name, `%r<9>` one by one, in the order of their use.
    pub registers: Vec<Register>,
    /// The variables that it declares: local, shared, and `.param` ones for calls.
    pub variables: Vec<Variable>,
    /// The labels, with the instruction that each stands before.
    pub labels: Vec<Label>,
    /// Lists of labels (`.branchtargets`) and prototypes, in the order of the text.
    pub tables: Vec<Table>,
    /// The instructions.
    pub body: Vec<Instruction>,
    /// Bounds on the launch.
    pub bounds: Bounds,
}

/// The directives of a kernel that bound its launch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bounds {
    /// `.maxntid`: at most this many threads a block.
    pub maxntid: Option<[u32; 3]>,
    /// `.reqntid`: exactly this block.
    pub reqntid: Option<[u32; 3]>,
    /// `.minnctapersm`: blocks on a multiprocessor that the code shall allow.
    pub minnctapersm: Option<u32>,
    /// `.maxnreg`: at most so many registers a thread.
    pub maxnreg: Option<u32>,
}

/// A register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Register {
    /// The name in the text, `%r3`; of an element of a vector register, `%v.x`.
    pub name: Arc<str>,
    /// What it was declared as.
    pub kind: Type,
}

/// A label and the number of the instruction that it stands before; that of the last label may be
/// the length of the body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Its name.
    pub name: Arc<str>,
    /// The instruction, in [`Function::body`].
    pub at: u32,
}

/// What a label in front of a directive names.
#[derive(Debug, Clone, PartialEq)]
pub enum Table {
    /// `.branchtargets`: labels, in [`Function::labels`].
    Branches(Vec<u32>),
    /// `.calltargets`: functions, in [`Module::functions`].
    Calls(Vec<u32>),
    /// `.callprototype`: returns and parameters of a call by pointer.
    Prototype {
        /// What the callee returns.
        returns: Vec<Variable>,
        /// What the callee takes.
        params: Vec<Variable>,
    },
}

/// An instruction.
#[derive(Debug, Clone, PartialEq)]
pub struct Instruction {
    /// `@%p1` or `@!%p1`.
    pub guard: Option<Guard>,
    /// The opcode as in the text, `add.rn.f32`.
    pub opcode: Arc<str>,
    /// Its operands in the order of the text. A `call` always has three: a list of what it
    /// returns, the callee, a list of arguments; and a fourth where a prototype or a list of
    /// callees follows.
    pub operands: Vec<Operand>,
    /// Where it comes from, in [`Module::positions`].
    pub position: Option<u32>,
    /// The line of the PTX text.
    pub line: u32,
}

impl Instruction {
    /// The pieces of the opcode: `add.rn.f32` gives `add`, `rn`, `f32`.
    pub fn pieces(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.opcode.split('.')
    }
}

/// The predicate in front of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard {
    /// The predicate register.
    pub register: u32,
    /// Whether the instruction runs where the predicate is false.
    pub negated: bool,
}

/// An operand.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    /// A register, in [`Function::registers`].
    Register(u32),
    /// A special register by its name, `%tid.x`.
    Special(Arc<str>),
    /// An integer constant, in two's complement.
    Integer(u64),
    /// The bits of `0f3F800000`.
    Single(u32),
    /// The bits of `0d3FF0000000000000`, or of a decimal fraction.
    Double(u64),
    /// A variable, a function, a label or a table, plus bytes.
    Symbol(Symbol, i64),
    /// `[base+offset]`.
    Address {
        /// What the offset counts from.
        base: Base,
        /// In bytes.
        offset: i64,
    },
    /// `{a, b}`: a vector.
    Vector(Vec<Operand>),
    /// `(a, b)`: what a call returns, or its arguments.
    List(Vec<Operand>),
    /// `p|q`: two targets.
    Pair(Box<Operand>, Box<Operand>),
    /// `!p`: a predicate register, negated.
    Not(u32),
    /// `_`: a target that is not wanted.
    Sink,
    /// Anything else, as it is written: a byte of a register, an address of a texture.
    Other(Arc<str>),
}

/// What an address counts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// A register, in [`Function::registers`].
    Register(u32),
    /// A variable.
    Symbol(Symbol),
    /// Nothing: the offset is the address.
    Zero,
}

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symbol {
    /// In [`Function::params`].
    Parameter(u32),
    /// In [`Function::returns`].
    Return(u32),
    /// In [`Function::variables`].
    Variable(u32),
    /// In [`Function::labels`].
    Label(u32),
    /// In [`Function::tables`].
    Table(u32),
    /// In [`Module::globals`].
    Global(u32),
    /// In [`Module::functions`].
    Function(u32),
}

/// A variable, a parameter, or what a function returns.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// Its name; empty in a prototype.
    pub name: String,
    /// Where it is.
    pub space: Space,
    /// Declared `.extern`: in shared memory, the dynamic part.
    pub external: bool,
    /// In bytes; always a power of two.
    pub alignment: u32,
    /// The type of an element.
    pub element: Type,
    /// How many elements; `None` for `[]`.
    pub length: Option<u64>,
    /// What the elements begin with, others with zero; by ascending index.
    pub initial: Vec<Initial>,
    /// The line of the PTX text.
    pub line: u32,
}

impl Variable {
    /// Bytes of the variable; 0 where the text does not say, `[]`.
    ///
    /// The parser has made sure that the product fits.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.length.unwrap_or(0) * u64::from(self.element.bytes())
    }
}

/// What one element of a variable begins with.
#[derive(Debug, Clone, PartialEq)]
pub struct Initial {
    /// The number of the element.
    pub index: u64,
    /// Its value.
    pub value: Value,
}

/// A value that a variable begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// The bits of the element, low ones first.
    Bits(u64),
    /// The address of a variable or a function plus bytes; of it, the bits above `shift`, so
    /// that `0xFF00(name)` stores the second byte.
    Address {
        /// Of what.
        symbol: Symbol,
        /// In bytes.
        offset: i64,
        /// Whether `generic(name)`: an address that any instruction takes.
        generic: bool,
        /// How far the address is shifted to the right before it is stored.
        shift: u32,
    },
}

/// Where a variable is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Space {
    /// A register: a parameter of a function in old PTX.
    Register,
    /// `.param`.
    Param,
    /// `.local`.
    Local,
    /// `.shared`.
    Shared,
    /// `.global`.
    Global,
    /// `.const`.
    Const,
}

/// A type of registers and variables.
#[expect(missing_docs, reason = "the names are PTX's own")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Type {
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    F32,
    F64,
    Pred,
}

impl Type {
    /// Every type with its name in PTX, without the dot, and its bits.
    pub const ALL: [(Type, &'static str, u32); 20] = [
        (Type::B8, "b8", 8),
        (Type::B16, "b16", 16),
        (Type::B32, "b32", 32),
        (Type::B64, "b64", 64),
        (Type::B128, "b128", 128),
        (Type::U8, "u8", 8),
        (Type::U16, "u16", 16),
        (Type::U32, "u32", 32),
        (Type::U64, "u64", 64),
        (Type::S8, "s8", 8),
        (Type::S16, "s16", 16),
        (Type::S32, "s32", 32),
        (Type::S64, "s64", 64),
        (Type::F16, "f16", 16),
        (Type::F16x2, "f16x2", 32),
        (Type::Bf16, "bf16", 16),
        (Type::Bf16x2, "bf16x2", 32),
        (Type::F32, "f32", 32),
        (Type::F64, "f64", 64),
        (Type::Pred, "pred", 1),
    ];

    /// The type of a name, without its dot.
    #[must_use]
    pub fn named(name: &str) -> Option<Type> {
        Type::ALL.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// Its name, without the dot.
    #[must_use]
    pub fn name(self) -> &'static str {
        Type::ALL[self as usize].1
    }

    /// Its bits; of a predicate, one.
    #[must_use]
    pub fn bits(self) -> u32 {
        Type::ALL[self as usize].2
    }

    /// Its bytes in memory; of a predicate, one.
    #[must_use]
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }
}
