//! A kernel as it is run: instructions with their operands found, in one list for all functions.
//!
//! The registers of a warp are one run of 64-bit words. First come the registers of each function
//! at a place of its own, then the constants and the special registers that the code names, so that
//! an operand is the index of its first word. What two activations of one function need at the same
//! time (recursion) is saved by the call.

use std::ops::Range;

use super::atomic::Atomic;
use crate::alu::{Class, Run, Slots};

pub use super::space::*;
pub use super::special::*;
pub use super::together::*;

/// The word that holds a predicate that is true in every lane.
pub const TRUE: u32 = 0;

/// The word that holds a predicate that is false in every lane.
pub const FALSE: u32 = 1;

/// "No instruction": where lanes do not meet again before they exit.
pub const NOWHERE: u32 = u32::MAX;

/// Local memory and saved registers of one thread can take so many bytes: what a GPU allows
/// (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
pub const MOST_LOCAL: u32 = 512 << 10;

/// A kernel with every function that it may call.
#[derive(Debug, Default)]
pub struct Kernel {
    /// The name in the PTX.
    pub name: String,
    /// The functions; the first is the kernel itself.
    pub functions: Vec<Function>,
    /// The instructions of all functions, one after the other.
    pub code: Vec<Instruction>,
    /// What each instruction costs.
    pub costs: Vec<Cost>,
    /// The innermost loops of all functions.
    pub loops: Vec<Loop>,
    /// How many words the registers of a warp take.
    pub words: u32,
    /// The words of the registers that a new warp finds zero: all but constants and special ones.
    pub variables: Range<u32>,
    /// The constants in registers.
    pub constants: Vec<Constant>,
    /// The special registers that the code names.
    pub specials: Vec<(Special, u32)>,
    /// Bytes of the parameters.
    pub params: u32,
    /// Bytes of shared memory that the kernel declares, before the dynamic ones.
    pub shared: u32,
    /// Where the dynamic shared memory begins: `shared` rounded up to what it is aligned to.
    pub dynamic: u32,
    /// The function of each handle that a pointer to a function may hold.
    pub handles: Vec<Option<u32>>,
    /// How many instructions access memory: each has a number below.
    pub accesses: u32,
    /// The threads of a block that the kernel demands (`.reqntid`) and allows (`.maxntid`).
    pub exact_threads: Option<[u32; 3]>,
    /// As above.
    pub most_threads: Option<[u32; 3]>,
}

/// A value in a register that never changes, the same in every lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Constant {
    /// Its first word.
    pub slot: u32,
    /// Whether the register has 64 bits a lane.
    pub wide: bool,
    /// The value.
    pub value: u64,
}

/// A function of a kernel.
#[derive(Debug, Default)]
pub struct Function {
    /// The name in the PTX.
    pub name: String,
    /// Its first instruction.
    pub entry: u32,
    /// The words of its registers.
    pub words: Range<u32>,
    /// The classes of its registers, in the order in which they lie.
    pub classes: Vec<Class>,
    /// Bytes of local memory of one activation: parameters, results and variables.
    pub local: u32,
    /// Where its parameters are, then its results.
    pub params: Vec<Carrier>,
    /// As above.
    pub results: Vec<Carrier>,
}

/// Where an argument or a result of a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    /// In a register of 1, 32 or 64 bits a lane, at this word.
    Register {
        /// Its first word.
        slot: u32,
        /// How many words.
        words: u32,
    },
    /// In local memory, so many bytes from the start of the frame.
    Local {
        /// The first byte.
        offset: u32,
        /// How many.
        bytes: u32,
    },
}

/// One instruction.
#[derive(Debug)]
pub struct Instruction {
    /// The predicate that switches lanes on; [`TRUE`] if there is none.
    pub guard: u32,
    /// All ones if the predicate is negated, else zero.
    pub flip: u32,
    /// Where it stands in the source.
    pub location: Location,
    /// The floating-point operations of one lane.
    pub flops: u32,
    /// One, or zero for what only helps to execute the next one.
    pub weight: u32,
    /// What it does.
    pub op: Op,
}

/// What an instruction costs, for the modelled time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cost {
    /// The lanes that compute it, if any do.
    pub pipe: Option<Pipe>,
    /// How often they have to.
    pub turns: u32,
    /// The instructions before it whose results it uses.
    pub needs: Vec<u32>,
}

/// A loop that has no other within.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loop {
    /// Its first instruction.
    pub first: u32,
    /// The branch back to it.
    pub last: u32,
    /// Instructions that use what the turn before has left, and those that left it.
    pub carried: Vec<(u32, u32)>,
}

/// The kinds of lanes that a multiprocessor has, as of [`crate::gpu::Rates`].
#[expect(missing_docs, reason = "the fields of `Rates` say what each does")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pipe {
    Single,
    Half,
    Double,
    Integer,
    Special,
    Convert,
    Exchange,
}

impl Op {
    /// The access to memory that it makes, if any.
    pub fn access(&self) -> Option<&Access> {
        match self {
            Op::Load(access) | Op::Store(access) => Some(access),
            Op::Atomic(atomic) => Some(&atomic.access),
            _ => None,
        }
    }
}

impl Kernel {
    /// The function that an instruction belongs to.
    pub fn function_at(&self, pc: u32) -> &Function {
        let after = self.functions.partition_point(|function| function.entry <= pc);
        &self.functions[after - 1]
    }
}

/// Where an instruction stands in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Location {
    /// In the CUDA source: an index of [`crate::ptx::ast::Module::positions`].
    pub position: Option<u32>,
    /// The line of the PTX text.
    pub line: u32,
}

/// What an instruction does.
#[derive(Debug)]
pub enum Op {
    /// Computes something lane by lane.
    Compute(Run, Slots),
    /// Reads memory.
    Load(Box<Access>),
    /// Writes memory.
    Store(Box<Access>),
    /// Reads, computes and writes memory in one step.
    Atomic(Box<Atomic>),
    /// Splits a register into smaller ones, or joins smaller ones: `mov.b64 {a, b}, c`.
    Split(Box<Pieces>),
    /// As above, the other way round.
    Join(Box<Pieces>),
    /// The address in local memory of something in the frame.
    FrameAddress {
        /// The register for it, of 32 or 64 bits.
        target: u32,
        /// As above.
        wide: bool,
        /// Bytes from the start of the frame.
        offset: u32,
    },
    /// Which lanes hold a generic address of a kind of memory.
    IsSpace {
        /// The predicate for it.
        target: u32,
        /// The address, of 64 bits.
        source: u32,
        /// The kind of memory.
        space: Space,
    },
    /// Jumps, in the lanes that the guard leaves on.
    Branch {
        /// Where to.
        target: u32,
        /// Where the lanes meet again.
        meet: u32,
    },
    /// Jumps to the place in a table that a register has the index of.
    Indexed(Box<Indexed>),
    /// Calls a function.
    Call(Box<Call>),
    /// Leaves a function; in a kernel, ends its lanes.
    Return,
    /// Ends its lanes.
    Exit,
    /// Ends its lanes and reports them.
    Trap,
    /// Waits for the other threads of the block.
    Barrier(Box<Barrier>),
    /// Reads what other lanes of the warp have.
    Exchange(Box<Exchange>),
    /// Which lanes execute this together.
    ActiveMask(u32),
    /// Instructions executed so far: a clock.
    Clock {
        /// The register for it, of 32 or 64 bits.
        target: u32,
        /// As above.
        wide: bool,
        /// The lowest bit that is wanted.
        shift: u32,
    },
    /// Orders memory for all host threads.
    Fence,
    /// Prints: the register (or frame) that has the format's and the arguments' addresses.
    Print(Box<Call>),
    /// A failed assertion, with the addresses of its text.
    Assert(Box<Call>),
    /// Does nothing that can be seen.
    Nothing,
}

/// An access to memory.
#[derive(Debug, Clone, Copy)]
pub struct Access {
    /// Which memory.
    pub space: Space,
    /// Bytes of one number: 1, 2, 4 or 8.
    pub bytes: u32,
    /// How many numbers: 1, 2 or 4.
    pub count: u32,
    /// Whether a narrow number is sign-extended when it is read.
    pub signed: bool,
    /// The registers to read into or write from: of 64 bits each, or of 32.
    pub wide: bool,
    /// As above.
    pub registers: [u32; 4],
    /// Where.
    pub address: Address,
    /// Its number among the accesses of the kernel.
    pub number: u32,
}

/// An address: a register, if any, and a distance.
#[derive(Debug, Clone, Copy)]
pub struct Address {
    /// What the distance is from.
    pub base: Base,
    /// Bytes from there; it may be an address itself.
    pub offset: u64,
}

/// What an address counts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// Zero.
    Zero,
    /// A register of 32 bits.
    Narrow(u32),
    /// A register of 64 bits.
    Wide(u32),
    /// The start of the frame in local memory.
    Frame,
}

/// A register and the smaller ones that it is made of.
#[derive(Debug)]
pub struct Pieces {
    /// The register: its first word, and bits a lane (32 or 64; 16 for bytes).
    pub whole: u32,
    /// As above.
    pub bits: u32,
    /// The parts, lowest first; each has `bits / parts.len()` bits and lies in 32.
    pub parts: Vec<u32>,
}

/// A jump through a table.
#[derive(Debug)]
pub struct Indexed {
    /// The register of the index, of 32 bits.
    pub index: u32,
    /// Where to, by index.
    pub targets: Vec<u32>,
    /// Where the lanes meet again.
    pub meet: u32,
}

/// A call.
#[derive(Debug)]
pub struct Call {
    /// What is called.
    pub callee: Callee,
    /// The arguments, then where the results go.
    pub arguments: Vec<Carrier>,
    /// As above.
    pub results: Vec<Carrier>,
}

/// What is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Callee {
    /// The function with this number.
    Function(u32),
    /// The function whose handle is in a register of 64 bits.
    Handle(u32),
    /// Nothing in the PTX: the instruction itself says what.
    System,
}
