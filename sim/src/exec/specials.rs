//! The registers that a warp finds filled: constants, its place in the grid (§10).

use crate::decode::code::{Kernel, Special, TRUE};

use super::lanes;

/// Where a warp is.
#[derive(Clone, Copy)]
pub(super) struct Position {
    pub warp: u32,
    pub block: [u32; 3],
    pub threads: [u32; 3],
    pub blocks: [u32; 3],
    pub dynamic_shared: u32,
    pub total_shared: u32,
    pub multiprocessors: u32,
}

/// Puts the constants into registers that are otherwise zero.
pub(super) fn constants(kernel: &Kernel, registers: &mut [u64]) {
    registers[TRUE as usize] = u64::from(u32::MAX);
    for constant in &kernel.constants {
        match constant.wide {
            true => lanes::write_wide(registers, constant.slot, u32::MAX, |_| constant.value),
            false => {
                lanes::write_narrow(registers, constant.slot, u32::MAX, |_| constant.value as u32);
            }
        }
    }
}

/// Fills the special registers that are the same in all blocks of a launch.
pub(super) fn fill(kernel: &Kernel, registers: &mut [u64], at: &Position) {
    for &(special, slot) in kernel.specials.iter().filter(|(special, _)| !moves(*special)) {
        let value = |lane: usize| value(special, at, lane as u32);
        match special {
            Special::Grid => lanes::write_wide(registers, slot, u32::MAX, |_| 1),
            _ => lanes::write_narrow(registers, slot, u32::MAX, value),
        }
    }
}

/// Fills those that say which block it is, which all lanes have in common.
pub(super) fn refill(kernel: &Kernel, registers: &mut [u64], at: &Position) {
    for &(special, slot) in kernel.specials.iter().filter(|(special, _)| moves(*special)) {
        let value = value(special, at, 0);
        lanes::write_narrow(registers, slot, u32::MAX, |_| value);
    }
}

fn moves(special: Special) -> bool {
    matches!(special, Special::Block(_) | Special::Multiprocessor)
}

fn value(special: Special, at: &Position, lane: u32) -> u32 {
    let thread = at.warp * 32 + lane;
    let [x, y, z] = at.threads;
    let linear = |p: [u32; 3], n: [u32; 3]| p[0] + n[0] * (p[1] + n[1] * p[2]);
    match special {
        Special::Thread(0) => thread % x,
        Special::Thread(1) => thread / x % y,
        Special::Thread(_) => thread / (x * y),
        Special::Threads(axis) => at.threads[axis],
        Special::Block(axis) => at.block[axis],
        Special::Blocks(axis) => at.blocks[axis],
        Special::Lane => lane,
        Special::Warp => at.warp,
        Special::Warps => (x * y * z).div_ceil(32),
        Special::LanesEqual => 1 << lane,
        Special::LanesBelow => (1 << lane) - 1,
        Special::LanesUpTo => (2u32 << lane).wrapping_sub(1),
        Special::LanesAbove => !(2u32 << lane).wrapping_sub(1),
        Special::LanesFrom => !((1 << lane) - 1),
        Special::Multiprocessor => linear(at.block, at.blocks) % at.multiprocessors,
        Special::Multiprocessors => at.multiprocessors,
        Special::DynamicShared => at.dynamic_shared,
        Special::TotalShared => at.total_shared,
        Special::Grid | Special::Zero => 0,
    }
}
