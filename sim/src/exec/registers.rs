//! Instructions that change registers, but not lane by lane from other registers.

use crate::decode::code::{Op, Pieces, Space};

use super::access::Site;
use super::core::Core;
use super::lanes::{self, lanes_of, mask_of};
use super::warp::Warp;

/// What only changes registers, but not lane by lane from other registers.
pub(super) fn simple(core: &mut Core, warp: &mut Warp, site: Site, op: &Op, on: u32, path: u32) {
    let registers = &mut warp.registers;
    match op {
        Op::Split(pieces) => take_apart(registers, pieces, on),
        Op::Join(pieces) => put_together(registers, pieces, on),
        Op::FrameAddress { target, wide, offset } => {
            let address = u64::from(site.base + offset);
            match wide {
                true => lanes::write_wide(registers, *target, on, |_| address),
                false => lanes::write_narrow(registers, *target, on, |_| address as u32),
            }
        }
        Op::IsSpace { target, source, space } => {
            let addresses = lanes::wide(registers, *source);
            let holds = |&lane: &usize| Space::Generic.of(addresses[lane]).0 == *space;
            let bits = mask_of(lanes_of(on).filter(holds));
            lanes::write_bits(registers, *target, on, bits);
        }
        Op::ActiveMask(target) => lanes::write_narrow(registers, *target, on, |_| path),
        Op::Clock { target, wide, shift } => {
            let time = core.time >> shift;
            match wide {
                true => lanes::write_wide(registers, *target, on, |_| time),
                false => lanes::write_narrow(registers, *target, on, |_| time as u32),
            }
        }
        Op::Fence => std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst),
        _ => {}
    }
}

/// A register into its parts.
fn take_apart(registers: &mut [u64], pieces: &Pieces, on: u32) {
    let bits = pieces.bits / pieces.parts.len() as u32;
    let whole = match pieces.bits {
        64 => *lanes::wide(registers, pieces.whole),
        _ => lanes::widened(registers, pieces.whole),
    };
    let keep = u64::MAX >> (64 - bits);
    for (i, &part) in (0..).zip(&pieces.parts) {
        let value = |lane: usize| (whole[lane] >> (i * bits) & keep) as u32;
        lanes::write_narrow(registers, part, on, value);
    }
}

/// A register from its parts.
fn put_together(registers: &mut [u64], pieces: &Pieces, on: u32) {
    let bits = pieces.bits / pieces.parts.len() as u32;
    let keep = u64::MAX >> (64 - bits);
    let mut whole = [0; 32];
    for (i, &part) in (0..).zip(&pieces.parts) {
        let from = lanes::narrow(registers, part);
        for (lane, to) in whole.iter_mut().enumerate() {
            *to |= (u64::from(from[lane]) & keep) << (i * bits);
        }
    }
    match pieces.bits {
        64 => lanes::write_wide(registers, pieces.whole, on, |lane| whole[lane]),
        _ => lanes::write_narrow(registers, pieces.whole, on, |lane| whole[lane] as u32),
    }
}
