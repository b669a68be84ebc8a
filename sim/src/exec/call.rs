//! Calls: arguments into the activation of a function, results out of it.
//!
//! A function's registers have one place in the warp's, so a call of a function that is active
//! already saves them first. Lanes leave a function one by one if they must, and go on together.

use crate::decode::code::{Call, Carrier, Kernel, MOST_LOCAL, NOWHERE, Op};
use crate::memory::Cells;

use super::lanes::{self, lanes_of, mask_of};
use super::warp::{Frame, State, Warp};

/// What a call takes of it at least, so that endless recursion comes to an end.
const LEAST_FRAME: u32 = 16;

/// Calls the function with a number by lanes of a path, which then waits. `false` if the threads
/// have no room for one more activation.
pub(super) fn enter(
    kernel: &Kernel,
    warp: &mut Warp,
    at: usize,
    call: &Call,
    callee: u32,
    lanes: u32,
) -> bool {
    let function = &kernel.functions[callee as usize];
    let caller = warp.frame(at);
    let (caller_base, base) = (caller.base, caller.top);
    let saves = warp.active[callee as usize] > 0;
    let words = &function.words;
    let saved = saves.then(|| warp.registers[words.start as usize..words.end as usize].into());
    let room = match saves {
        // What a lane of these words takes.
        true => function.local.max(LEAST_FRAME) + (words.end - words.start) * 8 / 32,
        false => function.local.max(LEAST_FRAME),
    };
    let top = base + room.next_multiple_of(16);
    if top > MOST_LOCAL || !reserve(warp, top) {
        return false;
    }
    let frame = Frame { function: callee, base, top, call: warp.paths[at].pc, saved };
    let values: Vec<_> = call.arguments.iter().map(|from| take(warp, from, caller_base)).collect();
    for (value, to) in values.iter().zip(&function.params) {
        put(warp, to, base, value, lanes);
    }
    warp.active[callee as usize] += 1;
    let free = warp.frames.iter().position(Option::is_none);
    let number = free.unwrap_or(warp.frames.len());
    match free {
        Some(_) => warp.frames[number] = Some(frame),
        None => warp.frames.push(Some(frame)),
    }
    warp.paths[at].state = State::Calling(number as u32);
    warp.spawn(function.entry, lanes, NOWHERE, at as u32, number as u32);
    true
}

/// Ends an activation: the path that waited for it gets the results.
pub(super) fn leave(kernel: &Kernel, warp: &mut Warp, at: usize, frame: u32) {
    let Some(frame) = warp.frames[frame as usize].take() else { return };
    let function = &kernel.functions[frame.function as usize];
    warp.active[frame.function as usize] -= 1;
    let lanes = warp.paths[at].mask;
    let base = warp.frame(at).base;
    let results = results(kernel, &frame);
    let values: Vec<_> = function.results.iter().map(|r| take(warp, r, frame.base)).collect();
    if let Some(saved) = &frame.saved {
        let words = function.words.start as usize..function.words.end as usize;
        lanes::blend_all(&mut warp.registers[words], saved, &function.classes, lanes);
    }
    for (value, to) in values.iter().zip(results) {
        put(warp, to, base, value, lanes);
    }
    warp.paths[at].pc = frame.call + 1;
}

/// Where the results of the call go that a frame is of.
fn results<'a>(kernel: &'a Kernel, frame: &Frame) -> &'a [Carrier] {
    match &kernel.code[frame.call as usize].op {
        Op::Call(call) => &call.results,
        _ => &[],
    }
}

/// Lets local memory have room for so many bytes a lane.
fn reserve(warp: &mut Warp, bytes: u32) -> bool {
    let old = warp.local_bytes as usize;
    if bytes as usize <= old {
        return true;
    }
    let new = (bytes as usize).max(2 * old).next_multiple_of(64);
    let Some(cells) = Cells::zeroed(32 * new) else { return false };
    let mut buffer = vec![0; old];
    for lane in 0..32 {
        warp.local.read(lane * old, &mut buffer);
        cells.write(lane * new, &buffer);
    }
    (warp.local, warp.local_bytes) = (cells, new as u32);
    true
}

/// What a carrier holds in all lanes, in pieces of 8 bytes.
pub(super) fn take(warp: &Warp, from: &Carrier, base: u32) -> Vec<[u64; 32]> {
    match *from {
        Carrier::Register { slot, words: 32 } => vec![*lanes::wide(&warp.registers, slot)],
        Carrier::Register { slot, words: 16 } => {
            vec![lanes::widened(&warp.registers, slot)]
        }
        Carrier::Register { slot, .. } => {
            let bits = warp.registers[slot as usize];
            vec![std::array::from_fn(|lane| bits >> lane & 1)]
        }
        Carrier::Local { offset, bytes } => {
            let mut value = vec![[0; 32]; bytes.div_ceil(8) as usize];
            for lane in 0..32 {
                let start = lane * warp.local_bytes as usize + (base + offset) as usize;
                for (i, piece) in value.iter_mut().enumerate() {
                    let mut word = [0; 8];
                    let len = (bytes as usize - 8 * i).min(8);
                    warp.local.read(start + 8 * i, &mut word[..len]);
                    piece[lane] = u64::from_le_bytes(word);
                }
            }
            value
        }
    }
}

/// Puts a value that [`take`] took elsewhere, in some lanes.
pub(super) fn put(warp: &mut Warp, to: &Carrier, base: u32, value: &[[u64; 32]], mask: u32) {
    let first = value.first().copied().unwrap_or([0; 32]);
    match *to {
        Carrier::Register { slot, words: 32 } => {
            lanes::write_wide(&mut warp.registers, slot, mask, |lane| first[lane]);
        }
        Carrier::Register { slot, words: 16 } => {
            lanes::write_narrow(&mut warp.registers, slot, mask, |lane| first[lane] as u32);
        }
        Carrier::Register { slot, .. } => {
            let bits = mask_of((0..32).filter(|&lane| first[lane] & 1 != 0));
            lanes::write_bits(&mut warp.registers, slot, mask, bits);
        }
        Carrier::Local { offset, bytes } => {
            for lane in lanes_of(mask) {
                let start = lane * warp.local_bytes as usize + (base + offset) as usize;
                for (i, piece) in value.iter().enumerate().take(bytes.div_ceil(8) as usize) {
                    let len = (bytes as usize - 8 * i).min(8);
                    warp.local.write(start + 8 * i, &piece[lane].to_le_bytes()[..len]);
                }
            }
        }
    }
}
