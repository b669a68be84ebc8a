//! What each arithmetic instruction computes, on the 32 lanes of a warp at a time.
//!
//! [`lookup`] turns the pieces of an opcode (`["add", "rn", "ftz", "f32"]`) into a [`Form`]: the
//! classes of its operands and one function, [`Run`], that reads the operands of all lanes from
//! the registers of a warp, computes, and writes the lanes of a mask. A form that is not here is
//! not supported: [`lookup`] is where the executor learns that, before anything runs.
//!
//! Section numbers in this module are those of NVIDIA's *Parallel Thread Execution ISA 8.6*.

mod approx;
mod bits;
mod carry;
mod compare;
mod convert;
mod dot;
mod double;
mod exact;
mod extremes;
mod float;
mod half;
mod halves;
mod integer;
mod lanes;
mod number;
mod pack;
mod permute;
mod select;
mod single;
mod value;

pub(crate) use lanes::with_vectors;

/// What a register holds, on 32 lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A predicate: one word of a warp's registers, lane *i* is bit *i* of its low half.
    P,
    /// A value of 8, 16 or 32 bits a lane: `[u32; 32]`, 16 words. A narrow value is zero-extended.
    B32,
    /// A value of 64 bits a lane: `[u64; 32]`, 32 words.
    B64,
    /// The carry flag `CC.CF` of §9.7.2, which has no name in the text: kept like a predicate.
    Carry,
}

impl Class {
    /// How many 64-bit words of a warp's registers one register of this class takes.
    #[inline]
    pub const fn words(self) -> usize {
        match self {
            Class::P | Class::Carry => 1,
            Class::B32 => 16,
            Class::B64 => 32,
        }
    }
}

/// Where an instruction's operands lie: indices of the first word of each in a warp's registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slots {
    /// The result.
    pub target: u32,
    /// The second result, if the form has one; where the text names none, a register to spare.
    pub second: u32,
    /// The sources, in the order of the text, then the carry flag if the form reads it.
    pub sources: [u32; 4],
    /// [`Form::code`].
    pub code: u32,
}

/// Computes one instruction for a warp: `registers` are the warp's, as words; the lanes in the
/// mask are written (bit *i* is lane *i*), the others keep what they had. The target may be one
/// of the sources.
///
/// # Panics
/// An index in [`Slots`] beyond the registers: the executor numbers them, so that is its mistake.
pub type Run = fn(registers: &mut [u64], slots: &Slots, mask: u32);

/// One form of one instruction.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The class of the result.
    pub target: Class,
    /// The class of a second result: the `q` of `setp … p|q` (the text may leave it out), or the
    /// carry flag that `.cc` writes.
    pub second: Option<Class>,
    /// The classes of the sources, in the order of the text. An immediate (the table of `lop3`,
    /// the selector of `prmt`) is a source like any other: a constant in a register. Bits above
    /// the type's width are ignored, so that a narrow immediate needs no care.
    pub sources: &'static [Class],
    /// How many bits of a lane of the result are its value: 1, 8, 16, 32 or 64.
    pub bits: u32,
    /// Whether the result is a signed integer, which a wider register receives sign-extended.
    pub signed: bool,
    /// What the function has to know besides: which comparison, which rounding. The executor copies
    /// it to [`Slots::code`].
    pub code: u32,
    /// The function.
    pub run: Run,
}

/// The form of an opcode, given as the pieces between its dots; `None` is "not supported", which
/// includes what the ISA does not allow (`add.ftz.s32`).
///
/// `mov` is here for registers and immediates only: special registers, symbols, and vectors that
/// pack and unpack are the executor's, as are memory, control flow and what crosses lanes.
pub fn lookup(pieces: &[&str]) -> Option<Form> {
    let (name, rest) = pieces.split_first()?;
    let families =
        [integer::form, carry::form, bits::form, compare::form, select::form, convert::form, float];
    families.iter().find_map(|form| form(name, rest))
}

/// Float instructions but `cvt`, `setp` and the like: those whose last piece alone is a type.
fn float(name: &str, rest: &[&str]) -> Option<Form> {
    match rest.split_last()? {
        (&"f32", pieces) => single::form(name, pieces),
        (&"f64", pieces) => double::form(name, pieces),
        (ty, pieces) => halves::form(name, pieces, ty),
    }
}

/// What carries a value of `bits` bits, signed or not, into a register of `register` bits that is
/// wider: only `cvt` may have such a target (§9.4.1). `None` where nothing is to be done.
pub fn extension(form: &Form, register: u32) -> Option<Form> {
    let from = match (form.bits, form.signed) {
        (8 | 16, true) if register > 16 => "s16",
        (32, true) if register > 32 => "s32",
        (8 | 16, false) if register > 32 => "u16",
        (32, false) if register > 32 => "u32",
        _ => return None,
    };
    lookup(&["cvt", if register > 32 { "s64" } else { "s32" }, from])
}
