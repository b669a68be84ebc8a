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

/// What the lanes bring: for each the mask of its partners, and the sources.
struct Brought {
    members: [u32; 32],
    sources: [[u64; 32]; 3],
}

/// Whether every lane of a path finds its partners on the path; if so, they exchange.
pub(super) fn together(warp: &mut Warp, exchange: &Exchange, mask: u32) -> bool {
    let brought = bring(warp, exchange, mask);
    let absent = warp.alive & !mask;
    let complete = lanes_of(mask).all(|lane| brought.members[lane] & absent == 0);
    if complete {
        perform(warp, exchange, mask, mask, &brought);
    }
    complete
}

/// The lanes that execute an exchange whose mask does not name them.
pub(super) fn strangers(warp: &Warp, exchange: &Exchange, mask: u32) -> u32 {
    let Some(members) = exchange.members else { return 0 };
    let members = lanes::narrow(&warp.registers, members);
    mask_of(lanes_of(mask).filter(|&lane| members[lane] >> lane & 1 == 0))
}

fn bring(warp: &Warp, exchange: &Exchange, mask: u32) -> Brought {
    let registers = &warp.registers;
    let members = exchange.members.map_or([mask; 32], |slot| *lanes::narrow(registers, slot));
    let narrow = |slot: u32| lanes::narrow(registers, slot).map(u64::from);
    let sources = match exchange.rule {
        Swap::Vote(_) => {
            let bits = registers[exchange.sources[0] as usize] as u32 ^ exchange.flip;
            [std::array::from_fn(|lane| u64::from(bits >> lane & 1)), [0; 32], [0; 32]]
        }
        Swap::MatchAny { wide: true } | Swap::MatchAll { wide: true } => {
            [*lanes::wide(registers, exchange.sources[0]), [0; 32], [0; 32]]
        }
        Swap::MatchAny { .. } | Swap::MatchAll { .. } | Swap::Reduce(_) => {
            [narrow(exchange.sources[0]), [0; 32], [0; 32]]
        }
        Swap::Elect | Swap::Barrier => [[0; 32]; 3],
        _ => exchange.sources.map(narrow),
    };
    Brought { members, sources }
}

/// Exchanges, for the lanes of `mask` among those that are `present`.
fn perform(warp: &mut Warp, exchange: &Exchange, mask: u32, present: u32, brought: &Brought) {
    let mut result = [0u32; 32];
    let mut holds = 0;
    for lane in lanes_of(mask) {
        let members = brought.members[lane] & present;
        let (value, predicate) = one(exchange.rule, lane, members, brought);
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

/// What one lane gets: a value and a predicate.
fn one(rule: Swap, lane: usize, members: u32, brought: &Brought) -> (u32, bool) {
    let [a, ..] = &brought.sources;
    let same = |value: u64| lanes_of(members).filter(move |&other| a[other] == value);
    let holding = mask_of(same(1));
    match rule {
        Swap::Vote(Vote::All) => (0, holding == members),
        Swap::Vote(Vote::Any) => (0, holding != 0),
        Swap::Vote(Vote::Uniform) => (0, holding == 0 || holding == members),
        Swap::Vote(Vote::Ballot) => (holding, false),
        Swap::Vote(Vote::Count) => (holding.count_ones(), false),
        Swap::MatchAny { .. } => (mask_of(same(a[lane])), false),
        Swap::MatchAll { .. } => {
            let all = same(a[lane]).count() == members.count_ones() as usize;
            (if all { members } else { 0 }, all)
        }
        Swap::Reduce(rule) => {
            let values = lanes_of(members).map(|other| a[other] as u32);
            (values.reduce(|x, y| atomic::word(rule, x, y, 0)).unwrap_or(0), false)
        }
        Swap::Elect => {
            let leader = members.trailing_zeros();
            (leader, leader as usize == lane)
        }
        Swap::Barrier => (0, false),
        _ => shuffle(rule, lane, members, brought),
    }
}

/// §9.7.9.6, lane for lane as its pseudo-code has it. The value of a lane that takes no part is
/// undefined there; here a lane then keeps its own.
fn shuffle(rule: Swap, lane: usize, members: u32, brought: &Brought) -> (u32, bool) {
    let [a, b, c] = &brought.sources;
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
                let members = bring(warp, exchange, mask).members;
                lanes_of(mask).all(|lane| members[lane] & absent == 0)
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
    let mut all = Brought { members: [0; 32], sources: [[0; 32]; 3] };
    let mut present = 0;
    let masks: Vec<u32> =
        set.iter().map(|&at| warp.paths[at].mask & on(kernel, warp, at)).collect();
    for (&at, &mask) in set.iter().zip(&masks) {
        let Some(exchange) = exchange(kernel, warp, at) else { continue };
        let brought = bring(warp, exchange, mask);
        for lane in lanes_of(mask) {
            all.members[lane] = brought.members[lane];
            for (all, brought) in all.sources.iter_mut().zip(&brought.sources) {
                all[lane] = brought[lane];
            }
        }
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
