//! Atomic operations on memory, and what reductions between lanes compute.

use half::{bf16, f16};

use crate::decode::atomic::{Atomic, Rule};
use crate::decode::code::Access;
use crate::l2::Kind;
use crate::memory::{Cell, Lanes};

use super::access::Act;
use super::lanes::{self, lanes_of};

impl Act for Atomic {
    const NAME: &'static str = "atomic operation";
    const KIND: Kind = Kind::Atomic;

    fn apply(&self, lanes: &Lanes, access: &Access, registers: &mut [u64], mask: u32) {
        match access.bytes {
            2 => self.each::<u16>(lanes, registers, mask, |rule, old, a, b| {
                small(rule, old, a as u16, b as u16)
            }),
            4 => self.each::<u32>(lanes, registers, mask, |rule, old, a, b| {
                word(rule, old, a as u32, b as u32)
            }),
            _ => self.each::<u64>(lanes, registers, mask, double),
        }
    }

    fn skip(&self, access: &Access, registers: &mut [u64], mask: u32) {
        if self.returns {
            super::access::Read.skip(access, registers, mask);
        }
    }
}

/// How a number is put into a register.
trait Bits: Cell + Into<u64> {}
impl Bits for u16 {}
impl Bits for u32 {}
impl Bits for u64 {}

impl Atomic {
    fn each<T: Bits>(
        &self,
        lanes: &Lanes,
        registers: &mut [u64],
        mask: u32,
        rule: impl Fn(Rule, T, u64, u64) -> T,
    ) {
        let wide = self.access.wide;
        let source = |slot: u32| match wide {
            true => *lanes::wide(registers, slot),
            false => lanes::widened(registers, slot),
        };
        let (a, b) = (source(self.sources[0]), source(self.sources[1]));
        let mut old = [0; 32];
        for lane in lanes_of(mask) {
            let new = |old: T| rule(self.rule, old, a[lane], b[lane]);
            old[lane] = lanes.update(lane, new).into();
        }
        match (self.returns, wide) {
            (false, _) => {}
            (_, true) => lanes::write_wide(registers, self.access.registers[0], mask, |i| old[i]),
            (_, false) => {
                let value = |lane: usize| old[lane] as u32;
                lanes::write_narrow(registers, self.access.registers[0], mask, value);
            }
        }
    }
}

#[inline]
fn small(rule: Rule, old: u16, a: u16, b: u16) -> u16 {
    match rule {
        Rule::AddF16 => (f16::from_bits(old) + f16::from_bits(a)).to_bits(),
        Rule::AddBf16 => (bf16::from_bits(old) + bf16::from_bits(a)).to_bits(),
        Rule::CompareAndSwap if old != a => old,
        Rule::CompareAndSwap => b,
        _ => a,
    }
}

#[inline]
fn pair(old: u32, a: u32, rule: Rule) -> u32 {
    let low = small(rule, old as u16, a as u16, 0);
    let high = small(rule, (old >> 16) as u16, (a >> 16) as u16, 0);
    u32::from(high) << 16 | u32::from(low)
}

/// What a rule makes of 32 bits.
#[inline]
pub(super) fn word(rule: Rule, old: u32, a: u32, b: u32) -> u32 {
    // Numbers whose signs are extended keep their order, as signed and as unsigned ones.
    let wide = |bits: u32| bits as i32 as u64;
    match rule {
        Rule::Increment if old >= a => 0,
        Rule::Increment => old + 1,
        Rule::Decrement if old == 0 || old > a => a,
        Rule::Decrement => old - 1,
        Rule::AddF32 => add_f32(f32::from_bits(old), f32::from_bits(a)).to_bits(),
        Rule::AddF16x2 => pair(old, a, Rule::AddF16),
        Rule::AddBf16x2 => pair(old, a, Rule::AddBf16),
        _ => double(rule, wide(old), wide(a), wide(b)) as u32,
    }
}

/// A sum, in which a NaN is the one that a GPU makes (§9.7.3.6: 0x7fffffff).
#[inline]
fn add_f32(a: f32, b: f32) -> f32 {
    let sum = a + b;
    if sum.is_nan() { f32::from_bits(0x7fff_ffff) } else { sum }
}

#[inline]
fn double(rule: Rule, old: u64, a: u64, b: u64) -> u64 {
    match rule {
        Rule::Add => old.wrapping_add(a),
        Rule::And => old & a,
        Rule::Or => old | a,
        Rule::Xor => old ^ a,
        Rule::CompareAndSwap if old != a => old,
        Rule::CompareAndSwap => b,
        Rule::MinSigned => (old as i64).min(a as i64) as u64,
        Rule::MaxSigned => (old as i64).max(a as i64) as u64,
        Rule::MinUnsigned => old.min(a),
        Rule::MaxUnsigned => old.max(a),
        Rule::AddF64 => (f64::from_bits(old) + f64::from_bits(a)).to_bits(),
        _ => a,
    }
}
