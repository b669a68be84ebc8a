//! What an instruction costs a multiprocessor, as far as its text says.
//!
//! PTX is not what runs: `ptxas` makes instructions of the chip of it. Most become one. Those that
//! become several (divisions, exact roots) are counted as what they mostly consist of.

use std::collections::HashMap;

use crate::ptx::ast::{Base, Function, Instruction as Text, Operand, Symbol};

use super::code::{Cost, Loop, Pipe};

impl Cost {
    /// The cost of an instruction, without what it has to wait for.
    pub(super) fn of(text: &Text) -> Cost {
        let pieces: Vec<&str> = text.pieces().collect();
        let wide = pieces.iter().skip(1).any(|piece| matches!(*piece, "b64" | "u64" | "s64"));
        let float = match pieces.last() {
            Some(&"f64") => Some(Pipe::Double),
            Some(&"f32" | &"f32x2") => Some(Pipe::Single),
            Some(&("f16" | "f16x2" | "bf16" | "bf16x2")) => Some(Pipe::Half),
            _ => None,
        };
        let (pipe, turns) = match pieces[0] {
            "add" | "sub" | "mul" | "fma" | "mad" if float.is_some() => (float, 1),
            "div" | "rcp" | "sqrt" | "rsqrt" if float == Some(Pipe::Double) => {
                (Some(Pipe::Double), DOUBLE_DIVISION)
            }
            "div" | "rem" if float.is_none() => (Some(Pipe::Integer), INTEGER_DIVISION),
            "div" | "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh" | "popc"
            | "clz" | "bfind" | "brev" => (Some(Pipe::Special), 1),
            "cvt" => (Some(Pipe::Convert), 1),
            "shfl" | "vote" | "match" | "redux" => (Some(Pipe::Exchange), 1),
            name if ELSEWHERE.contains(&name) => (None, 0),
            _ => (Some(Pipe::Integer), if wide { 2 } else { 1 }),
        };
        Cost { pipe, turns, needs: Vec::new() }
    }
}

/// Instructions that keep no lanes of arithmetic busy.
const ELSEWHERE: [&str; 27] = [
    "ld",
    "ldu",
    "st",
    "atom",
    "red",
    "bra",
    "brx",
    "call",
    "ret",
    "exit",
    "trap",
    "brkpt",
    "bar",
    "barrier",
    "membar",
    "fence",
    "nanosleep",
    "pragma",
    "prefetch",
    "prefetchu",
    "applypriority",
    "discard",
    "activemask",
    "elect",
    "cvta",
    "mov",
    "isspacep",
];

/// Multiply-adds of 64 bits that a division or a root of that type takes: Newton's steps and their
/// correction, about eight of them.
const DOUBLE_DIVISION: u32 = 8;

/// Integer instructions of a division without hardware for it: "below 20" (NVIDIA Nsight
/// documentation, "Achieved IOPs").
const INTEGER_DIVISION: u32 = 20;

/// For each instruction of a function, those that wrote last, in the order of the text, what it
/// reads. What comes around a loop is in [`loops`].
pub(super) fn needs(function: &Function) -> Vec<Vec<u32>> {
    let mut writers: HashMap<u32, u32> = HashMap::new();
    let mut all = Vec::with_capacity(function.body.len());
    for (at, text) in (0..).zip(&function.body) {
        let (reads, writes) = uses(text);
        let mut needed: Vec<u32> =
            reads.iter().filter_map(|register| writers.get(register).copied()).collect();
        needed.sort_unstable();
        needed.dedup();
        all.push(needed);
        writers.extend(writes.into_iter().map(|register| (register, at)));
    }
    all
}

/// The innermost loops of a function, with what each of their turns needs of the one before.
pub(super) fn loops(function: &Function) -> Vec<Loop> {
    let mut found: Vec<Loop> = Vec::new();
    let mut end = 0;
    for (last, text) in (0u32..).zip(&function.body) {
        let Some(Operand::Symbol(Symbol::Label(label), _)) = text.operands.first() else {
            continue;
        };
        let first = function.labels[*label as usize].at;
        if text.pieces().next() == Some("bra") && (end..=last).contains(&first) {
            end = last + 1;
            found.push(Loop { first, last, carried: carried(function, first, last) });
        }
    }
    found
}

/// In a loop, each instruction that reads a register before the turn has written it, and the last
/// one that writes it.
fn carried(function: &Function, first: u32, last: u32) -> Vec<(u32, u32)> {
    let (mut written, mut wanted) = (HashMap::new(), Vec::new());
    for (at, text) in (first..=last).zip(&function.body[first as usize..]) {
        let (reads, writes) = uses(text);
        let early = reads.into_iter().filter(|register| !written.contains_key(register));
        wanted.extend(early.map(|register| (at, register)));
        written.extend(writes.into_iter().map(|register| (register, at)));
    }
    let pair = |(at, register)| Some((at, *written.get(&register)?));
    wanted.into_iter().filter_map(pair).collect()
}

/// The registers that an instruction reads, and those that it writes.
fn uses(text: &Text) -> (Vec<u32>, Vec<u32>) {
    let mut reads: Vec<u32> = text.guard.iter().map(|guard| guard.register).collect();
    let mut writes = Vec::new();
    let targets = usize::from(!has_no_target(text));
    for (i, operand) in text.operands.iter().enumerate() {
        registers(operand, i < targets, &mut reads, &mut writes);
    }
    (reads, writes)
}

/// Whether the first operand is read like the others.
fn has_no_target(text: &Text) -> bool {
    let mut pieces = text.pieces();
    let name = pieces.next().unwrap_or_default();
    matches!(name, "st" | "red" | "bra" | "brx" | "nanosleep" | "membar" | "fence")
        || matches!(name, "bar" | "barrier") && !pieces.any(|piece| piece == "red")
}

/// The registers of an operand.
fn registers(operand: &Operand, target: bool, reads: &mut Vec<u32>, writes: &mut Vec<u32>) {
    match operand {
        Operand::Register(register) if target => writes.push(*register),
        Operand::Register(register) | Operand::Not(register) => reads.push(*register),
        Operand::Address { base: Base::Register(register), .. } => reads.push(*register),
        Operand::Vector(parts) | Operand::List(parts) => {
            parts.iter().for_each(|part| registers(part, target, reads, writes));
        }
        Operand::Pair(first, second) => {
            registers(first, target, reads, writes);
            registers(second, target, reads, writes);
        }
        _ => {}
    }
}
