//! The ledger of a device: who holds how many bytes for what, now and at the peak.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::device::{Device, cuda, sim};
use crate::memory::Role;
use crate::memory::history::History;
use crate::memory::running::RunningOp;

/// Bytes by role, in the order of [`Role::ALL`].
pub(super) type ByRole = [u64; Role::ALL.len()];

/// What one operation holds for one purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holding {
    /// The operation that made the tensors.
    pub op: RunningOp,
    /// What they are for.
    pub role: Role,
    /// Bytes of all of them.
    pub bytes: u64,
}

/// How many rows are remembered by where the name of their operation lies.
const SEEN: usize = 64;

pub(super) struct Ledger {
    live: u64,
    peak: u64,
    by_role: ByRole,
    /// Which row of the tables below belongs to an operation.
    rows: BTreeMap<RunningOp, usize>,
    now: Vec<ByRole>,
    /// Rows that were asked for, by address and length of the operation's name.
    seen: [((usize, usize, bool), usize); SEEN],
    /// The table when `live` left the peak; out of date until then.
    at_peak: Vec<ByRole>,
    is_at_peak: bool,
    /// The allocations of the host; those of a device are in its allocator.
    pub(super) history: History,
}

impl Ledger {
    const fn new() -> Ledger {
        Ledger {
            live: 0,
            peak: 0,
            by_role: [0; Role::ALL.len()],
            rows: BTreeMap::new(),
            now: Vec::new(),
            seen: [((0, 0, false), 0); SEEN],
            at_peak: Vec::new(),
            is_at_peak: true,
            history: History::new(),
        }
    }

    /// Bytes that are live.
    pub(super) fn live(&self) -> u64 {
        self.live
    }

    /// The most bytes that were live at once.
    pub(super) fn peak(&self) -> u64 {
        self.peak
    }

    pub(super) fn by_role(&self) -> ByRole {
        self.by_role
    }

    /// Counts bytes in, with no particular role; gives the row of the operation.
    pub(super) fn add(&mut self, op: RunningOp, bytes: u64) -> usize {
        let row = self.row(op);
        self.live += bytes;
        self.by_role[Role::Other as usize] += bytes;
        self.now[row][Role::Other as usize] += bytes;
        if self.live > self.peak {
            self.peak = self.live;
            self.is_at_peak = true;
        }
        row
    }

    /// The row of an operation, a new one if need be.
    fn row(&mut self, op: RunningOp) -> usize {
        // Looked for by where the name lies first: that is almost always enough, and fast.
        let at = op.name.as_ptr() as usize;
        let seen = &mut self.seen[(at / 8 + usize::from(op.backward)) % SEEN];
        if seen.0 == (at, op.name.len(), op.backward) {
            return seen.1;
        }
        let next = self.now.len();
        let row = *self.rows.entry(op).or_insert(next);
        if row == next {
            self.now.push(ByRole::default());
        }
        *seen = ((at, op.name.len(), op.backward), row);
        row
    }

    /// Counts bytes out again.
    pub(super) fn remove(&mut self, row: usize, role: Role, bytes: u64) {
        // The table is copied when the peak is left, not at each step of a climb.
        if self.is_at_peak && bytes > 0 {
            self.at_peak.clone_from(&self.now);
            self.is_at_peak = false;
        }
        self.live -= bytes;
        self.by_role[role as usize] -= bytes;
        self.now[row][role as usize] -= bytes;
    }

    /// Moves bytes from one role to another.
    pub(super) fn change_role(&mut self, row: usize, from: Role, to: Role, bytes: u64) {
        for table in [&mut self.by_role, &mut self.now[row]] {
            table[from as usize] -= bytes;
            table[to as usize] += bytes;
        }
    }

    /// Starts the peak anew from what is live now.
    pub(super) fn reset_peak(&mut self) {
        self.peak = self.live;
        self.is_at_peak = true;
    }

    /// What is held now, or was at the peak; the largest first.
    pub(super) fn holdings(&self, at_peak: bool) -> Vec<Holding> {
        let table = if at_peak && !self.is_at_peak { &self.at_peak } else { &self.now };
        let mut holdings = Vec::new();
        for (&op, &row) in &self.rows {
            for (role, bytes) in Role::ALL.into_iter().zip(*table.get(row).unwrap_or(&[0; 5])) {
                if bytes > 0 {
                    holdings.push(Holding { op, role, bytes });
                }
            }
        }
        holdings.sort_by_key(|it| Reverse(it.bytes));
        holdings
    }
}

static CPU: Mutex<Ledger> = Mutex::new(Ledger::new());
static NONE: Mutex<Ledger> = Mutex::new(Ledger::new());
static SIM: [Mutex<Ledger>; sim::MAX_DEVICES] =
    [const { Mutex::new(Ledger::new()) }; sim::MAX_DEVICES];
static CUDA: [Mutex<Ledger>; cuda::MAX_DEVICES] =
    [const { Mutex::new(Ledger::new()) }; cuda::MAX_DEVICES];

/// The ledger of a device. It is held for a moment only, and nothing is called meanwhile.
pub(super) fn ledger(device: Device) -> MutexGuard<'static, Ledger> {
    let ledger = match device {
        Device::Cpu => &CPU,
        // A device that does not exist has no memory; its driver says so.
        Device::Sim(n) => SIM.get(n).unwrap_or(&NONE),
        Device::Cuda(n) => CUDA.get(n).unwrap_or(&NONE),
    };
    ledger.lock().unwrap_or_else(PoisonError::into_inner)
}
