//! The history of a device's memory: what was taken and given back, in order.
//!
//! Off until it is asked for, and bounded: the oldest entries go first. The actions are those of
//! PyTorch's `torch.cuda.memory._record_memory_history` (2.9.1).

use std::collections::{HashMap, VecDeque};

use crate::memory::Role;
use crate::memory::ledger::ByRole;
use crate::memory::running::Label;

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// A tensor got memory.
    Alloc,
    /// A tensor is gone.
    FreeRequested,
    /// Its memory can be handed out again: at once, unless another stream still used it.
    FreeCompleted,
    /// The allocator took a segment from the driver.
    SegmentAlloc,
    /// The allocator gave a segment back to the driver.
    SegmentFree,
    /// There was not enough memory.
    Oom,
}

impl Action {
    /// PyTorch's word for it.
    pub fn name(self) -> &'static str {
        match self {
            Action::Alloc => "alloc",
            Action::FreeRequested => "free_requested",
            Action::FreeCompleted => "free_completed",
            Action::SegmentAlloc => "segment_alloc",
            Action::SegmentFree => "segment_free",
            Action::Oom => "oom",
        }
    }
}

/// One entry of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceEntry {
    /// What happened.
    pub action: Action,
    /// Where; for [`Action::Oom`], how many bytes the device had left.
    pub address: u64,
    /// Bytes that were asked for; of a segment, all of them; for [`Action::Oom`], those of the
    /// block that there was no room for.
    pub size: u64,
    /// The stream.
    pub stream: usize,
    /// On whose behalf, and what for: the last role that the memory had.
    pub label: Label,
}

#[derive(Debug)]
pub(super) struct History {
    /// How many entries are kept; none at all while this is 0.
    limit: usize,
    entries: VecDeque<TraceEntry>,
    /// The number of the oldest entry that is kept.
    first: u64,
    /// Bytes that were live before the oldest entry.
    before: ByRole,
    /// The number of the entry that handed out the memory at an address.
    open: Option<HashMap<u64, u64>>,
}

impl History {
    pub(super) const fn new() -> History {
        History {
            limit: 0,
            entries: VecDeque::new(),
            first: 0,
            before: [0; Role::ALL.len()],
            open: None,
        }
    }

    /// Forgets everything and keeps up to `limit` entries from now on; `live` is what is there.
    pub(super) fn start(&mut self, limit: usize, live: ByRole) {
        *self = History { limit, before: live, ..History::new() };
    }

    pub(super) fn is_on(&self) -> bool {
        self.limit > 0
    }

    /// One more entry.
    pub(super) fn push(&mut self, entry: TraceEntry) {
        if !self.is_on() {
            return;
        }
        if self.entries.len() == self.limit {
            self.forget_oldest();
        }
        let number = self.first + self.entries.len() as u64;
        let open = self.open.get_or_insert_default();
        match entry.action {
            Action::Alloc => drop(open.insert(entry.address, number)),
            Action::FreeRequested => drop(open.remove(&entry.address)),
            _ => {}
        }
        self.entries.push_back(entry);
    }

    fn forget_oldest(&mut self) {
        if let Some(oldest) = self.entries.pop_front() {
            self.first += 1;
            apply(&mut self.before, &oldest);
        }
    }

    /// The memory at an address got another role. The entry that handed it out gets it too, so that
    /// an entry says what its memory turned out to be for.
    pub(super) fn change_role(&mut self, address: u64, size: u64, from: Role, to: Role) {
        if !self.is_on() {
            return;
        }
        let number = self.open.as_ref().and_then(|open| open.get(&address));
        let place = number.and_then(|number| number.checked_sub(self.first));
        match place.and_then(|place| self.entries.get_mut(place as usize)) {
            Some(entry) => entry.label.role = to,
            None => {
                self.before[from as usize] -= size;
                self.before[to as usize] += size;
            }
        }
    }

    /// All that is kept, oldest first.
    pub(super) fn entries(&self) -> Vec<TraceEntry> {
        self.entries.iter().copied().collect()
    }

    /// Bytes by role that were live before the oldest entry that is kept.
    pub(super) fn before(&self) -> ByRole {
        self.before
    }
}

/// What an entry changes in the bytes that tensors asked for.
pub(super) fn apply(live: &mut ByRole, entry: &TraceEntry) {
    let bytes = &mut live[entry.label.role as usize];
    match entry.action {
        Action::Alloc => *bytes += entry.size,
        Action::FreeRequested => *bytes = bytes.saturating_sub(entry.size),
        _ => {}
    }
}
