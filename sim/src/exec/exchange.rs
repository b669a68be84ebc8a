//! What lanes of a warp exchange: shuffles, votes, matches, reductions (§9.7.9.6, §9.7.13.8-11).
//!
//! A `.sync` instruction waits until all lanes of its mask that have not exited execute one like
//! it. Mostly all are there at once. If not, their path waits, and when nothing else of the warp
//! can run, the largest set of waiting paths is looked for in which every lane has all its
//! partners; those exchange and go on together.

use crate::decode::code::{Exchange, Kernel, Op, Swap, Vote};

use super::atomic;
use super::lanes::{self, lanes_of, mask_of};
use super::warp::{State, Warp};

/// What the lanes bring.
struct Brought {
    /// For each the mask of its partners.
    members: [u32; 32],
    /// The first source, if it is a predicate.
    bits: u32,
    /// The first source, if it is not, and the others.
    sources: ([u64; 32], [u32; 32], [u32; 32]),
}

/// Whether every lane of a path finds its partners on the path; if so, they exchange.
pub(super) fn together(warp: &mut Warp, exchange: &Exchange, mask: u32) -> bool {
    let brought = bring(warp, exchange, mask);
    let complete = wanted(&brought.members, mask) & warp.alive & !mask == 0;
    if complete {
        perform(warp, exchange, mask, mask, &brought);
    }
    complete
}

/// The partners of all lanes of a mask.
fn wanted(members: &[u32; 32], mask: u32) -> u32 {
    lanes_of(mask).fold(0, |all, lane| all | members[lane])
}

/// The lanes that execute an exchange whose mask does not name them.
pub(super) fn strangers(warp: &Warp, exchange: &Exchange, mask: u32) -> u32 {
    let Some(members) = exchange.members else { return 0 };
    let members = lanes::narrow(&warp.registers, members);
    let mut named = 0;
    for (lane, members) in members.iter().enumerate() {
        named |= members & 1 << lane;
    }
    mask & !named
}

fn bring(warp: &Warp, exchange: &Exchange, mask: u32) -> Brought {
    let registers = &warp.registers;
    let members = exchange.members.map_or([mask; 32], |slot| *lanes::narrow(registers, slot));
    let (mut bits, mut sources) = (0, ([0; 32], [0; 32], [0; 32]));
    let [a, b, c] = exchange.sources;
    match exchange.rule {
        Swap::Vote(_) => bits = registers[a as usize] as u32 ^ exchange.flip,
        Swap::MatchAny { wide: true } | Swap::MatchAll { wide: true } => {
            sources.0 = *lanes::wide(registers, a);
        }
        Swap::Elect | Swap::Barrier => {}
        rule => {
            sources.0 = lanes::widened(registers, a);
            if is_shuffle(rule) {
                (sources.1, sources.2) =
                    (*lanes::narrow(registers, b), *lanes::narrow(registers, c));
            }
        }
    }
    Brought { members, bits, sources }
}

fn is_shuffle(rule: Swap) -> bool {
    use Swap::{ShuffleButterfly, ShuffleDown, ShuffleIndex, ShuffleUp};
    matches!(rule, ShuffleUp | ShuffleDown | ShuffleButterfly | ShuffleIndex)
}

/// Exchanges, for the lanes of `mask` among those that are `present`.
fn perform(warp: &mut Warp, exchange: &Exchange, mask: u32, present: u32, brought: &Brought) {
    let mut result = [0u32; 32];
    let mut holds = 0;
    let mut before = None;
    for lane in lanes_of(mask) {
        let members = brought.members[lane] & present;
        let (value, predicate) = match (exchange.rule, before) {
            (rule, _) if is_shuffle(rule) => shuffle(rule, lane, members, brought),
            // Lanes with the same partners, as mostly all are, get the same.
            (Swap::Vote(_) | Swap::Reduce(_), Some((same, got))) if same == members => got,
            (rule, _) => one(rule, lane, members, brought),
        };
        before = Some((members, (value, predicate)));
        result[lane] = value;
        holds |= u32::from(predicate) << lane;
    }
    let registers = &mut warp.registers;
    match exchange.rule {
        Swap::Barrier => {}
        Swap::Vote(Vote::All | Vote::Any | Vote::Uniform) => {
            lanes::write_bits(registers, exchange.target, mask, holds);
        }
        _ => {
            lanes::write_narrow(registers, exchange.target, mask, |lane| result[lane]);
            lanes::write_bits(registers, exchange.second, mask, holds);
        }
    }
}

/// What one lane gets of an exchange that is no shuffle: a value and a predicate.
fn one(rule: Swap, lane: usize, members: u32, brought: &Brought) -> (u32, bool) {
    let a = &brought.sources.0;
    let same = || mask_of(lanes_of(members).filter(|&other| a[other] == a[lane]));
    let holding = brought.bits & members;
    match rule {
        Swap::Vote(Vote::All) => (0, holding == members),
        Swap::Vote(Vote::Any) => (0, holding != 0),
        Swap::Vote(Vote::Uniform) => (0, holding == 0 || holding == members),
        Swap::Vote(Vote::Ballot) => (holding, false),
        Swap::Vote(Vote::Count) => (holding.count_ones(), false),
        Swap::MatchAny { .. } => (same(), false),
        Swap::MatchAll { .. } => match same() == members {
            true => (members, true),
            false => (0, false),
        },
        Swap::Reduce(rule) => {
            let values = lanes_of(members).map(|other| a[other] as u32);
            (values.reduce(|x, y| atomic::word(rule, x, y, 0)).unwrap_or(0), false)
        }
        Swap::Elect => {
            let leader = members.trailing_zeros();
            (leader, leader as usize == lane)
        }
        _ => (0, false),
    }
}

/// §9.7.9.6, lane for lane as its pseudo-code has it. The value of a lane that takes no part is
/// undefined there; here a lane then keeps its own.
#[inline(always)]
fn shuffle(rule: Swap, lane: usize, members: u32, brought: &Brought) -> (u32, bool) {
    let (a, b, c) = &brought.sources;
    let (own, step) = (lane as i32, (b[lane] & 31) as i32);
    let (clamp, segment) = ((c[lane] & 31) as i32, (c[lane] >> 8 & 31) as i32);
    let (most, least) = ((own & segment) | (clamp & !segment), own & segment);
    let (from, holds) = match rule {
        Swap::ShuffleUp => (own - step, own - step >= most),
        Swap::ShuffleDown => (own + step, own + step <= most),
        Swap::ShuffleButterfly => (own ^ step, own ^ step <= most),
        _ => {
            let from = least | (step & !segment);
            (from, from <= most)
        }
    };
    let from = if holds { from as usize & 31 } else { lane };
    let from = if members >> from & 1 != 0 { from } else { lane };
    (a[from] as u32, holds)
}

/// Lets those waiting paths go on that have all partners among them. `false` if there are none.
pub(super) fn resolve(kernel: &Kernel, warp: &mut Warp) -> bool {
    let mut set: Vec<usize> = (0..warp.paths.len())
        .filter(|&at| warp.paths[at].state == State::Exchange)
        .filter(|&at| exchange(kernel, warp, at).is_some())
        .collect();
    loop {
        let present = set.iter().fold(0, |lanes, &at| lanes | warp.paths[at].mask);
        let absent = warp.alive & !present;
        let complete = |&at: &usize| {
            let mask = warp.paths[at].mask & on(kernel, warp, at);
            exchange(kernel, warp, at).is_some_and(|exchange| {
                wanted(&bring(warp, exchange, mask).members, mask) & absent == 0
            })
        };
        let before = set.len();
        set.retain(complete);
        if set.is_empty() {
            return false;
        }
        if set.len() == before {
            break;
        }
    }
    exchange_all(kernel, warp, &set);
    warp.join();
    true
}

/// The exchange that a path waits at.
fn exchange<'a>(kernel: &'a Kernel, warp: &Warp, at: usize) -> Option<&'a Exchange> {
    match &kernel.code[warp.paths[at].pc as usize].op {
        Op::Exchange(exchange) => Some(exchange),
        _ => None,
    }
}

/// The lanes that the guard of a path's instruction leaves on.
fn on(kernel: &Kernel, warp: &Warp, at: usize) -> u32 {
    let instruction = &kernel.code[warp.paths[at].pc as usize];
    warp.registers[instruction.guard as usize] as u32 ^ instruction.flip
}

fn exchange_all(kernel: &Kernel, warp: &mut Warp, set: &[usize]) {
    let sources = ([0; 32], [0; 32], [0; 32]);
    let mut all = Brought { members: [0; 32], bits: 0, sources };
    let mut present = 0;
    let masks: Vec<u32> =
        set.iter().map(|&at| warp.paths[at].mask & on(kernel, warp, at)).collect();
    for (&at, &mask) in set.iter().zip(&masks) {
        let Some(exchange) = exchange(kernel, warp, at) else { continue };
        let brought = bring(warp, exchange, mask);
        for lane in lanes_of(mask) {
            all.members[lane] = brought.members[lane];
            all.sources.0[lane] = brought.sources.0[lane];
            all.sources.1[lane] = brought.sources.1[lane];
            all.sources.2[lane] = brought.sources.2[lane];
        }
        all.bits |= brought.bits & mask;
        present |= mask;
    }
    for (&at, &mask) in set.iter().zip(&masks) {
        if let Some(exchange) = exchange(kernel, warp, at) {
            perform(warp, exchange, mask, present, &all);
        }
        warp.paths[at].pc += 1;
        warp.paths[at].state = State::Ready;
    }
}
