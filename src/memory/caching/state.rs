//! What an allocator shows of itself, and how it is set.

use super::block::Segment;
use super::{CachingAllocator, LARGE_SEGMENT, Settings, Source, State, Stats};
use crate::error::misuse;
use crate::memory::Role;
use crate::memory::history::TraceEntry;
use crate::memory::ledger::ByRole;
use crate::memory::running::Label;

/// A segment and its blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentState {
    /// Its first address.
    pub address: u64,
    /// Its bytes.
    pub size: u64,
    /// The stream that it is for.
    pub stream: usize,
    /// Whether it is of the small pool.
    pub small: bool,
    /// Its blocks, from the first address on; they fill it.
    pub blocks: Vec<BlockState>,
}

/// A block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockState {
    /// Its first address.
    pub address: u64,
    /// Its bytes.
    pub size: u64,
    /// Bytes that a tensor asked for; 0 if it is free.
    pub requested: u64,
    /// What it is doing.
    pub state: State,
    /// On whose behalf it was taken last.
    pub label: Label,
}

impl<S: Source> CachingAllocator<S> {
    /// How it is set.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// Sets it; what is held already stays as it is.
    ///
    /// # Panics
    /// With a `Misuse` if `max_split_size` is not above the 20 MiB of a large segment, as in
    /// PyTorch, if it changes while segments are held that were cut under another limit, or if the
    /// threshold is no part of a whole.
    #[track_caller]
    pub fn set(&mut self, settings: Settings) {
        let Settings { max_split_size, garbage_collection_threshold: threshold, .. } = settings;
        if max_split_size <= LARGE_SEGMENT {
            let message = format!(
                "must be more than the {LARGE_SEGMENT} bytes of a segment for middling requests, \
                 which is there to be split"
            );
            misuse("max_split_size", &[&max_split_size], message);
        }
        if max_split_size != self.settings.max_split_size && !self.heap.segments.is_empty() {
            let message = "segments are held that were cut under another limit; set it before the \
                           first tensor, or drop all tensors and call empty_cache";
            misuse("max_split_size", &[&max_split_size], message.to_string());
        }
        if threshold.is_some_and(|part| !(part > 0.0 && part < 1.0)) {
            let message = "the threshold is a part of the device's memory, between 0 and 1";
            misuse("garbage_collection_threshold", &[], message.to_string());
        }
        self.settings = settings;
    }

    /// What the allocator's segments come from.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// The statistics.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// Starts the peaks anew from what is now.
    pub fn reset_peaks(&mut self) {
        self.stats.reset_peaks();
    }

    /// All segments by address.
    pub fn segments(&self) -> Vec<SegmentState> {
        let state = |(&address, segment): (&u64, &Segment)| SegmentState {
            address,
            size: segment.size,
            stream: segment.stream,
            small: segment.small,
            blocks: self.blocks_of(address, segment.size),
        };
        self.heap.segments.iter().map(state).collect()
    }

    fn blocks_of(&self, segment: u64, size: u64) -> Vec<BlockState> {
        let blocks = self.heap.blocks.range(segment..segment + size);
        let state = blocks.map(|(&address, block)| BlockState {
            address,
            size: block.size,
            requested: block.requested,
            state: block.state,
            label: block.label,
        });
        state.collect()
    }

    /// Bytes of the block at an address; 0 for address 0.
    pub(in crate::memory) fn block_size(&self, at: u64) -> u64 {
        self.heap.blocks.get(&at).map_or(0, |block| block.size)
    }

    /// Bytes of the largest free block.
    pub(in crate::memory) fn largest_free(&self) -> u64 {
        let free = [false, true].map(|small| self.heap.free_blocks(small).iter());
        free.into_iter().flatten().map(|&(_, size, _)| size).max().unwrap_or(0)
    }

    /// A tensor's memory is for something else now.
    pub(in crate::memory) fn change_role(&mut self, at: u64, role: Role) {
        if let Some(block) = self.heap.blocks.get_mut(&at) {
            let before = std::mem::replace(&mut block.label.role, role);
            self.history.change_role(at, block.requested, before, role);
        }
    }

    /// Keeps up to `limit` entries of history from now on; 0 for none.
    pub(in crate::memory) fn start_history(&mut self, limit: usize) {
        let mut live = ByRole::default();
        let blocks = self.heap.blocks.values().filter(|block| block.state == State::Allocated);
        blocks.for_each(|block| live[block.label.role as usize] += block.requested);
        self.history.start(limit, live);
    }

    /// The entries that are kept, and what was live before them.
    pub(in crate::memory) fn history(&self) -> (ByRole, Vec<TraceEntry>) {
        (self.history.before(), self.history.entries())
    }
}
