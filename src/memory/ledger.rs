//! The ledger of a device: who holds how many bytes for what, now and at the peak.

use std::cmp::Reverse;
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

/// What one operation holds.
#[derive(Clone, Copy)]
struct Row {
    op: RunningOp,
    bytes: ByRole,
}

/// How many rows are remembered by where the name of their operation lies.
const SEEN: usize = 64;

pub(super) struct Ledger {
    live: u64,
    peak: u64,
    rows: Vec<Row>,
    /// Numbers of rows, by where in the memory the name of their operation lies.
    seen: [u32; SEEN],
    /// The rows when `live` left the peak; out of date until then.
    at_peak: Vec<Row>,
    is_at_peak: bool,
    /// The allocations of the host; those of a device are in its allocator.
    pub(super) history: History,
}

impl Ledger {
    const fn new() -> Ledger {
        Ledger {
            live: 0,
            peak: 0,
            rows: Vec::new(),
            seen: [0; SEEN],
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
        let mut sum = ByRole::default();
        for row in &self.rows {
            sum.iter_mut().zip(row.bytes).for_each(|(sum, bytes)| *sum += bytes);
        }
        sum
    }

    /// The operation of a row.
    pub(super) fn op(&self, row: u32) -> RunningOp {
        self.rows[row as usize].op
    }

    /// Counts bytes in, with no particular role; gives the row of the operation.
    pub(super) fn add(&mut self, op: RunningOp, bytes: u64) -> u32 {
        let row = self.row(op);
        self.rows[row as usize].bytes[Role::Other as usize] += bytes;
        self.live += bytes;
        if self.live > self.peak {
            self.peak = self.live;
            self.is_at_peak = true;
        }
        row
    }

    /// The row of an operation, a new one if need be.
    fn row(&mut self, op: RunningOp) -> u32 {
        // Looked for by where the name lies first: that is almost always enough, and fast.
        let place = (op.name.as_ptr() as usize / 4 + usize::from(op.backward)) % SEEN;
        let seen = self.seen[place];
        if self.rows.get(seen as usize).is_some_and(|row| row.op.is_same_text(&op)) {
            return seen;
        }
        let known = self.rows.iter().position(|row| row.op == op);
        let row = known.unwrap_or_else(|| {
            self.rows.push(Row { op, bytes: ByRole::default() });
            self.rows.len() - 1
        });
        self.seen[place] = row as u32;
        row as u32
    }

    /// Counts bytes out again.
    pub(super) fn remove(&mut self, row: u32, role: Role, bytes: u64) {
        // The table is copied when the peak is left, not at each step of a climb.
        if self.is_at_peak && bytes > 0 {
            self.at_peak.clone_from(&self.rows);
            self.is_at_peak = false;
        }
        self.live -= bytes;
        self.rows[row as usize].bytes[role as usize] -= bytes;
    }

    /// Moves bytes from one role to another.
    pub(super) fn change_role(&mut self, row: u32, from: Role, to: Role, bytes: u64) {
        let of_row = &mut self.rows[row as usize].bytes;
        of_row[from as usize] -= bytes;
        of_row[to as usize] += bytes;
    }

    /// Starts the peak anew from what is live now.
    pub(super) fn reset_peak(&mut self) {
        self.peak = self.live;
        self.is_at_peak = true;
    }

    /// What is held now, or was at the peak; the largest first.
    pub(super) fn holdings(&self, at_peak: bool) -> Vec<Holding> {
        let rows = if at_peak && !self.is_at_peak { &self.at_peak } else { &self.rows };
        let mut holdings = Vec::new();
        for &Row { op, bytes } in rows {
            let held = Role::ALL.into_iter().zip(bytes).filter(|&(_, bytes)| bytes > 0);
            holdings.extend(held.map(|(role, bytes)| Holding { op, role, bytes }));
        }
        holdings.sort_by_key(|it| (Reverse(it.bytes), it.op));
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
