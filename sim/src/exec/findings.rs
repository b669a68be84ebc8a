//! Collects what is wrong: the first thread for each instruction and kind, and how many more.

use std::collections::BTreeMap;

use super::core::Core;
use super::report::Kind;
use super::warp::Warp;

/// What is known of one instruction and kind.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub message: String,
    /// The number of the block in the grid: the first one counts.
    pub order: u64,
    pub block: [u32; 3],
    pub thread: [u32; 3],
    pub address: Option<u64>,
    pub threads: u64,
    /// The calls that the thread was in, innermost first.
    pub calls: Vec<u32>,
}

/// Findings by instruction and kind.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub seen: BTreeMap<(u32, Kind), Seen>,
}

impl Findings {
    /// Takes another collection in.
    pub fn merge(&mut self, other: Findings) {
        for (key, seen) in other.seen {
            match self.seen.get_mut(&key) {
                None => {
                    self.seen.insert(key, seen);
                }
                Some(ours) => {
                    let threads = ours.threads + seen.threads;
                    if seen.order < ours.order {
                        *ours = seen;
                    }
                    ours.threads = threads;
                }
            }
        }
    }
}

impl Core<'_> {
    /// Notes that something is wrong in some lanes of a warp; `message` is asked for the first.
    pub fn report(
        &mut self,
        kind: Kind,
        pc: u32,
        (warp, lanes): (u32, u32),
        address: Option<u64>,
        message: impl FnOnce(&Self) -> String,
    ) {
        let threads = u64::from(lanes.count_ones());
        let order = self.here.order;
        let first = self.findings.seen.get(&(pc, kind)).is_none_or(|seen| order < seen.order);
        let before = self.findings.seen.get(&(pc, kind)).map_or(0, |seen| seen.threads);
        if first {
            let message = message(self);
            let thread = self.thread(warp, lanes.trailing_zeros());
            let block = self.here.block;
            let (threads, calls) = (before, Vec::new());
            let seen = Seen { message, order, block, thread, address, threads, calls };
            self.findings.seen.insert((pc, kind), seen);
        }
        if let Some(seen) = self.findings.seen.get_mut(&(pc, kind)) {
            seen.threads += threads;
        }
    }

    /// Notes which calls a path was in when what is wrong at an instruction was first reported.
    pub fn report_calls(&mut self, pc: u32, warp: &Warp, at: usize) {
        let order = self.here.order;
        let found = self.findings.seen.iter_mut().filter(|((seen, _), _)| *seen == pc);
        for (_, seen) in found.filter(|(_, seen)| seen.order == order && seen.calls.is_empty()) {
            let calls = warp.calls(at);
            // An instruction that is blamed may be one of them.
            let inner = calls.iter().position(|call| *call == pc).map_or(0, |at| at + 1);
            seen.calls = calls[inner..].to_vec();
        }
    }
}
