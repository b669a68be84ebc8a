//! Comparisons, §9.7.6 and §9.7.7.
//!
//! A comparison yields a word with a bit for each lane. What is made of it (a predicate and its
//! complement, combined with a third source, or a value in each lane) is decided once a warp, by
//! the form's code.

use std::marker::PhantomData;

use super::float::flush;
use super::half::{Binary16, Brain16, Half};
use super::lanes::{Loop, build};
use super::value::{Lane, Value};
use super::{Class, Form, Slots};

/// What is compared, in the code's lowest bits: the others follow by exchanging the operands, or
/// by taking the complement, which also holds for NaN.
const EQUAL: u32 = 0;
const UNEQUAL: u32 = 1;
const LESS: u32 = 2;
const AT_MOST: u32 = 3;
const ORDERED: u32 = 4;
/// Exchange the operands.
const SWAP: u32 = 8;
/// Take the complement.
const NOT: u32 = 16;
/// Where the code has the combination with a third source, and the value that stands for true.
const COMBINATION: u32 = 5;
const TRUTH: u32 = 7;

/// The code of a comparison for a type (§9.7.6, tables of comparison operators).
fn comparison(name: &str, ty: &str) -> Option<u32> {
    let (float, kind) = (is_float(ty), ty.as_bytes()[0]);
    Some(match name {
        "eq" => EQUAL,
        "ne" => UNEQUAL,
        _ if kind == b'b' && !float => return None,
        "lt" => LESS,
        "le" => AT_MOST,
        "gt" => LESS | SWAP,
        "ge" => AT_MOST | SWAP,
        "lo" if kind == b'u' => LESS,
        "ls" if kind == b'u' => AT_MOST,
        "hi" if kind == b'u' => LESS | SWAP,
        "hs" if kind == b'u' => AT_MOST | SWAP,
        _ if !float => return None,
        "equ" => UNEQUAL | NOT,
        "neu" => EQUAL | NOT,
        "ltu" => AT_MOST | SWAP | NOT,
        "leu" => LESS | SWAP | NOT,
        "gtu" => AT_MOST | NOT,
        "geu" => LESS | NOT,
        "num" => ORDERED,
        "nan" => ORDERED | NOT,
        _ => return None,
    })
}

fn is_float(ty: &str) -> bool {
    ty.starts_with('f') || ty.starts_with("bf")
}

/// The values that stand for true, by the number in the code: all ones, or one.
const TRUTHS: [(&str, u32); 10] = [
    ("u32", u32::MAX),
    ("s32", u32::MAX),
    ("f32", 0x3f80_0000),
    ("u16", 0xffff),
    ("s16", 0xffff),
    ("f16", 0x3c00),
    ("bf16", 0x3f80),
    ("f16x2", 0x3c00),
    ("bf16x2", 0x3f80),
    ("mask", 0xffff),
];

/// The comparison of two lanes, as the host compares them.
trait Ordered: Value {
    type Host: PartialOrd + Copy;
    fn host(self) -> Self::Host;
}

impl<T: Lane + PartialOrd> Ordered for T {
    type Host = T;
    #[inline(always)]
    fn host(self) -> T {
        self
    }
}

/// A number of 16 bits, from the high half of a lane if `HIGH`, flushed if `FTZ`.
#[derive(Clone, Copy)]
struct Part<T, const HIGH: bool, const FTZ: bool>(T);

impl<T: Half, const HIGH: bool, const FTZ: bool> Lane for Part<T, HIGH, FTZ> {
    type Slot = u32;
    const BITS: u32 = 16;

    #[inline(always)]
    fn from_lane(lane: u32) -> Self {
        let half = T::from_bits(if HIGH { lane >> 16 } else { lane } as u16);
        Part(if FTZ { half.flush() } else { half })
    }

    #[inline(always)]
    fn to_lane(self) -> u32 {
        self.0.to_lane()
    }
}

impl<T: Half, const HIGH: bool, const FTZ: bool> Ordered for Part<T, HIGH, FTZ> {
    type Host = f32;
    #[inline(always)]
    fn host(self) -> f32 {
        self.0.widen()
    }
}

/// An `f32`, flushed.
#[derive(Clone, Copy)]
struct Flushed(f32);

impl Lane for Flushed {
    type Slot = u32;
    const BITS: u32 = 32;

    #[inline(always)]
    fn from_lane(lane: u32) -> Flushed {
        Flushed(flush(f32::from_bits(lane)))
    }

    #[inline(always)]
    fn to_lane(self) -> u32 {
        self.0.to_bits()
    }
}

impl Ordered for Flushed {
    type Host = f32;
    #[inline(always)]
    fn host(self) -> f32 {
        self.0
    }
}

#[inline(always)]
fn word<T: Ordered>(
    a: T::Source<'_>,
    b: T::Source<'_>,
    f: impl Fn(T::Host, T::Host) -> bool,
) -> u32 {
    bool::of_lanes(
        #[inline(always)]
        |i| f(T::lane(a, i).host(), T::lane(b, i).host()),
    )
}

/// The lanes in which the comparison of the code holds.
#[inline(always)]
fn holds<T: Ordered>(registers: &[u64], slots: &Slots) -> u32 {
    let [a, b, ..] = slots.sources;
    let (a, b) = if slots.code & SWAP == 0 { (a, b) } else { (b, a) };
    let (a, b) = (T::source(registers, a), T::source(registers, b));
    let word = match slots.code & 7 {
        EQUAL => word::<T>(a, b, |a, b| a == b),
        // Not so where neither or both hold: of NaN, of equals.
        UNEQUAL => word::<T>(a, b, |a, b| (a < b) != (a > b)),
        LESS => word::<T>(a, b, |a, b| a < b),
        AT_MOST => word::<T>(a, b, |a, b| a <= b),
        _ => word::<T>(a, b, |a, b| a <= b || a > b),
    };
    if slots.code & NOT == 0 { word } else { !word }
}

/// The word, combined with the third source if the code says so.
#[inline(always)]
fn combined(registers: &[u64], slots: &Slots, word: u32) -> u32 {
    match slots.code >> COMBINATION & 3 {
        0 => word,
        1 => word & bool::source(registers, slots.sources[2]),
        2 => word | bool::source(registers, slots.sources[2]),
        _ => word ^ bool::source(registers, slots.sources[2]),
    }
}

/// `setp p|q`: the comparison and its complement.
struct Predicate<T>(PhantomData<T>);

impl<T: Ordered> Loop for Predicate<T> {
    type Home = Self;

    #[inline(always)]
    fn go(registers: &mut [u64], slots: &Slots, mask: u32) {
        let word = holds::<T>(registers, slots);
        let p = combined(registers, slots, word);
        let q = combined(registers, slots, !word);
        bool::store(q, registers, slots.second, mask);
        bool::store(p, registers, slots.target, mask);
    }
}

/// `setp p|q` of pairs: the comparison of the low halves and that of the high ones.
struct Predicates<L, H>(PhantomData<(L, H)>);

impl<L: Ordered, H: Ordered> Loop for Predicates<L, H> {
    type Home = Self;
    const RARE: bool = true;

    #[inline(always)]
    fn go(registers: &mut [u64], slots: &Slots, mask: u32) {
        let words = [holds::<L>(registers, slots), holds::<H>(registers, slots)];
        let [p, q] = words.map(|word| combined(registers, slots, word));
        bool::store(q, registers, slots.second, mask);
        bool::store(p, registers, slots.target, mask);
    }
}

/// `set`: a value in each lane.
struct Set<T>(PhantomData<T>);

impl<T: Ordered> Loop for Set<T> {
    type Home = Self;
    const RARE: bool = true;

    #[inline(always)]
    fn go(registers: &mut [u64], slots: &Slots, mask: u32) {
        let word = combined(registers, slots, holds::<T>(registers, slots));
        let truth = TRUTHS[(slots.code >> TRUTH) as usize].1;
        let result = u32::of_lanes(|i| (word >> i & 1) * truth);
        u32::store(result, registers, slots.target, mask);
    }
}

/// `set` of pairs: a value in each half of each lane.
struct Sets<L, H>(PhantomData<(L, H)>);

impl<L: Ordered, H: Ordered> Loop for Sets<L, H> {
    type Home = Self;
    const RARE: bool = true;

    #[inline(always)]
    fn go(registers: &mut [u64], slots: &Slots, mask: u32) {
        let low = combined(registers, slots, holds::<L>(registers, slots));
        let high = combined(registers, slots, holds::<H>(registers, slots));
        let truth = TRUTHS[(slots.code >> TRUTH) as usize].1;
        let halves = |i: usize| ((low >> i & 1) * truth) | (((high >> i & 1) * truth) << 16);
        u32::store(u32::of_lanes(halves), registers, slots.target, mask);
    }
}

/// `setp` and `set`; `rest` is the comparison, a combination, `.ftz` and the types.
pub(super) fn form(name: &str, rest: &[&str]) -> Option<Form> {
    let (compared, mut rest) = rest.split_first()?;
    let combination = match *rest.first()? {
        "and" => 1,
        "or" => 2,
        "xor" => 3,
        _ => 0,
    };
    rest = &rest[usize::from(combination > 0)..];
    let ftz = rest.first()? == &"ftz";
    rest = &rest[usize::from(ftz)..];
    let mut form = match (name, rest) {
        ("setp", [ty]) => of_type::<ToPredicates>(ty, ftz)?,
        ("set", [target, ty]) => set(target, ty, ftz)?,
        _ => return None,
    };
    form.code |= comparison(compared, rest.last()?)? | combination << COMBINATION;
    if combination > 0 {
        form.sources = match form.sources[0] {
            Class::B64 => &[Class::B64, Class::B64, Class::P],
            _ => &[Class::B32, Class::B32, Class::P],
        };
    }
    Some(form)
}

/// What is made of a comparison of two registers.
trait Maker {
    /// Of single numbers.
    fn single<T: Ordered>() -> Form;
    /// Of pairs, from the low and from the high halves.
    fn pairs<L: Ordered, H: Ordered>() -> Form;
}

/// `setp`.
struct ToPredicates;

impl Maker for ToPredicates {
    fn single<T: Ordered>() -> Form {
        build::<(bool, bool), Predicate<T>>(const { &[T::CLASS, T::CLASS] }, 0)
    }

    fn pairs<L: Ordered, H: Ordered>() -> Form {
        build::<(bool, bool), Predicates<L, H>>(&[Class::B32, Class::B32], 0)
    }
}

/// `set`.
struct ToValues;

impl Maker for ToValues {
    fn single<T: Ordered>() -> Form {
        build::<u32, Set<T>>(const { &[T::CLASS, T::CLASS] }, 0)
    }

    fn pairs<L: Ordered, H: Ordered>() -> Form {
        build::<u32, Sets<L, H>>(&[Class::B32, Class::B32], 0)
    }
}

fn of_type<M: Maker>(ty: &str, ftz: bool) -> Option<Form> {
    Some(match (ty, ftz) {
        ("b16" | "u16", false) => M::single::<u16>(),
        ("s16", false) => M::single::<i16>(),
        ("b32" | "u32", false) => M::single::<u32>(),
        ("s32", false) => M::single::<i32>(),
        ("b64" | "u64", false) => M::single::<u64>(),
        ("s64", false) => M::single::<i64>(),
        ("f32", false) => M::single::<f32>(),
        ("f32", true) => M::single::<Flushed>(),
        ("f64", false) => M::single::<f64>(),
        ("f16", false) => M::single::<Part<Binary16, false, false>>(),
        ("f16", true) => M::single::<Part<Binary16, false, true>>(),
        ("bf16", false) => M::single::<Part<Brain16, false, false>>(),
        ("f16x2", false) => M::pairs::<Part<Binary16, false, false>, Part<Binary16, true, false>>(),
        ("f16x2", true) => M::pairs::<Part<Binary16, false, true>, Part<Binary16, true, true>>(),
        ("bf16x2", false) => M::pairs::<Part<Brain16, false, false>, Part<Brain16, true, false>>(),
        _ => return None,
    })
}

fn set(target: &str, ty: &str, ftz: bool) -> Option<Form> {
    let half = matches!(ty, "f16" | "bf16");
    let truth = match (target, ty) {
        ("u32" | "s32", "f16x2" | "bf16x2") => "mask",
        ("f16x2", "f16x2") | ("bf16x2", "bf16x2") => target,
        (_, "f16x2" | "bf16x2") => return None,
        ("u32" | "s32" | "f32", _) if !half || target != "f32" => target,
        ("u16" | "s16", _) if half => target,
        ("f16", _) if ty != "bf16" => target,
        ("bf16", _) if ty != "f16" => target,
        _ => return None,
    };
    let number = TRUTHS.iter().position(|(name, _)| *name == truth)? as u32;
    let form = of_type::<ToValues>(ty, ftz)?;
    let bits = if target.ends_with("16") { 16 } else { 32 };
    Some(Form { code: number << TRUTH, bits, signed: target.starts_with('s'), ..form })
}
