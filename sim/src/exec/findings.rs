//! Collects what is wrong: the first thread for each instruction and kind, and how many more.

use std::collections::BTreeMap;

use super::core::Core;
use super::report::Kind;

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
            let seen = Seen { message, order, block, thread, address, threads: before };
            self.findings.seen.insert((pc, kind), seen);
        }
        if let Some(seen) = self.findings.seen.get_mut(&(pc, kind)) {
            seen.threads += threads;
        }
    }
}
