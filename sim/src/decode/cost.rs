//! What an instruction costs a multiprocessor, as far as its text says.
//!
//! PTX is not what runs: `ptxas` makes instructions of the chip of it. Most become one. Those that
//! become several (divisions, exact roots) are counted as what they mostly consist of.

use std::collections::HashMap;

use crate::ptx::ast::{Base, Function, Instruction as Text, Operand};

use super::code::{Cost, Pipe};

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
/// reads. A value that comes from further down, around a loop, has been waited for by then.
pub(super) fn needs(function: &Function) -> Vec<Vec<u32>> {
    let mut writers: HashMap<u32, u32> = HashMap::new();
    let mut all = Vec::with_capacity(function.body.len());
    for (at, text) in (0..).zip(&function.body) {
        let mut reads = text.guard.map(|guard| vec![guard.register]).unwrap_or_default();
        let mut writes = Vec::new();
        let targets = usize::from(!has_no_target(text));
        for (i, operand) in text.operands.iter().enumerate() {
            registers(operand, i < targets, &mut reads, &mut writes);
        }
        let mut needed: Vec<u32> =
            reads.iter().filter_map(|register| writers.get(register).copied()).collect();
        needed.sort_unstable();
        needed.dedup();
        all.push(needed);
        writers.extend(writes.into_iter().map(|register| (register, at)));
    }
    all
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
