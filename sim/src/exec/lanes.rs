//! The registers of a warp as lanes.

use crate::alu::Class;

/// The lanes of a mask.
#[inline]
pub(super) fn lanes_of(mask: u32) -> impl Iterator<Item = usize> {
    let mut left = mask;
    std::iter::from_fn(move || {
        let lane = left.trailing_zeros() as usize;
        left &= left.wrapping_sub(1);
        (lane < 32).then_some(lane)
    })
}

/// The mask of some lanes.
pub(super) fn mask_of(lanes: impl Iterator<Item = usize>) -> u32 {
    lanes.fold(0, |mask, lane| mask | 1 << lane)
}

/// A register of 32 bits a lane.
#[inline(always)]
pub(super) fn narrow(registers: &[u64], slot: u32) -> &[u32; 32] {
    let words: &[u64; 16] = registers[slot as usize..].first_chunk().expect("a register");
    bytemuck::cast_ref(words)
}

/// A register of 64 bits a lane.
#[inline(always)]
pub(super) fn wide(registers: &[u64], slot: u32) -> &[u64; 32] {
    registers[slot as usize..].first_chunk().expect("a register")
}

/// A register of 32 bits a lane, zero-extended. (A loop, as others here: in a build that is cut in
/// many units the closures of `map`, `zip` and `from_fn` are calls.)
#[inline]
pub(super) fn widened(registers: &[u64], slot: u32) -> [u64; 32] {
    let from = narrow(registers, slot);
    let mut to = [0; 32];
    for lane in 0..32 {
        to[lane] = from[lane].into();
    }
    to
}

/// As [`narrow`], to write to.
#[inline(always)]
pub(super) fn narrow_mut(registers: &mut [u64], slot: u32) -> &mut [u32; 32] {
    let words: &mut [u64; 16] = registers[slot as usize..].first_chunk_mut().expect("a register");
    bytemuck::cast_mut(words)
}

/// As [`wide`], to write to.
#[inline(always)]
pub(super) fn wide_mut(registers: &mut [u64], slot: u32) -> &mut [u64; 32] {
    registers[slot as usize..].first_chunk_mut().expect("a register")
}

/// Writes some lanes of a register of 32 bits.
#[inline(always)]
pub(super) fn write_narrow(
    registers: &mut [u64],
    slot: u32,
    mask: u32,
    value: impl Fn(usize) -> u32,
) {
    for (lane, to) in narrow_mut(registers, slot).iter_mut().enumerate() {
        if mask == u32::MAX || mask >> lane & 1 != 0 {
            *to = value(lane);
        }
    }
}

/// Writes some lanes of a register of 64 bits.
#[inline(always)]
pub(super) fn write_wide(
    registers: &mut [u64],
    slot: u32,
    mask: u32,
    value: impl Fn(usize) -> u64,
) {
    for (lane, to) in wide_mut(registers, slot).iter_mut().enumerate() {
        if mask == u32::MAX || mask >> lane & 1 != 0 {
            *to = value(lane);
        }
    }
}

/// Writes some lanes of a predicate.
#[inline(always)]
pub(super) fn write_bits(registers: &mut [u64], slot: u32, mask: u32, bits: u32) {
    let word = &mut registers[slot as usize];
    *word = u64::from(*word as u32 & !mask | bits & mask);
}

/// Writes some lanes of registers of these classes, which lie one after the other, from a copy.
pub(super) fn blend_all(registers: &mut [u64], from: &[u64], classes: &[Class], mask: u32) {
    let mut slot = 0;
    for class in classes {
        match class {
            Class::P | Class::Carry => {
                write_bits(registers, slot, mask, from[slot as usize] as u32)
            }
            Class::B32 => {
                let from = narrow(from, slot);
                write_narrow(registers, slot, mask, |lane| from[lane]);
            }
            Class::B64 => {
                let from = wide(from, slot);
                write_wide(registers, slot, mask, |lane| from[lane]);
            }
        }
        slot += class.words() as u32;
    }
}
