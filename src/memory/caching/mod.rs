//! The caching allocator: PyTorch's rules over the memory of a device.
//!
//! A driver's `free` waits for the device, so freed memory is kept and handed out again. Segments
//! come from the driver and are cut into blocks; a request gets the smallest free block that is
//! large enough, of its stream and its pool. Pure bookkeeping over a [`Source`]: nothing here knows
//! a tensor. Expandable segments are left out: they need virtual memory of the driver.
//!
//! Source: PyTorch 2.9.1, `c10/cuda/CUDACachingAllocator.cpp`.

mod block;
mod release;
mod sizes;
mod source;
mod state;
mod stats;
mod streams;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use block::{Block, Heap, Segment};

pub use block::State;
pub(super) use sizes::Request;
pub use sizes::{
    BLOCK_UNIT, LARGE_SEGMENT, OWN_SEGMENT, SEGMENT_UNIT, SMALL_SEGMENT, SMALL_SIZE, Settings,
};
pub use source::{DriverSource, Source};
pub use state::{BlockState, SegmentState};
pub use stats::{Metric, Stat, Stats};

use crate::error::Error;
use crate::memory::history::{Action, History, TraceEntry};
use crate::memory::running::Label;

/// The allocator of one device.
pub struct CachingAllocator<S: Source> {
    source: S,
    settings: Settings,
    heap: Heap,
    /// By stream, the marks that it has still to pass and the block that waits for each.
    waiting: BTreeMap<usize, VecDeque<(S::Event, u64)>>,
    /// How often the large pool was searched, while there is a threshold for garbage: the age of a
    /// free block.
    searches: u64,
    stats: Stats,
    history: History,
}

/// What is done before the driver is asked for a segment once more.
#[derive(Clone, Copy)]
enum Effort {
    CollectGarbage,
    ReleaseEnough,
    ReleaseAll,
}

impl<S: Source> CachingAllocator<S> {
    /// An allocator that holds nothing yet.
    pub fn new(source: S) -> CachingAllocator<S> {
        CachingAllocator {
            source,
            settings: Settings::default(),
            heap: Heap::default(),
            waiting: BTreeMap::new(),
            searches: 0,
            stats: Stats::default(),
            history: History::new(),
        }
    }

    /// The address of a block with room for so many bytes, for work of `stream`; 0 for no bytes.
    ///
    /// # Errors
    /// `OutOfMemory` if the device has not that much left, even after the cache was given back;
    /// any other error of the driver.
    pub fn alloc(&mut self, bytes: u64, stream: usize, label: Label) -> Result<u64, Error> {
        if bytes == 0 {
            return Ok(0);
        }
        let Some(request) = Request::new(bytes, stream) else {
            return Err(self.refuse((bytes, bytes), stream, label, None));
        };
        self.process_events()?;
        let at = match self.best_fit(&request) {
            Some(at) => at,
            None => match self.new_segment(&request) {
                Err(Error::OutOfMemory { device, allocated, capacity, .. }) => {
                    let full = Some((device, allocated, capacity));
                    return Err(self.refuse((bytes, request.size), stream, label, full));
                }
                result => result?,
            },
        };
        self.hand_out(at, &request, label)
    }

    /// Takes the free block that fits best, if one fits.
    fn best_fit(&mut self, request: &Request) -> Option<u64> {
        if !self.settings.caching {
            return None;
        }
        let ages = self.settings.garbage_collection_threshold.is_some();
        self.searches += u64::from(ages && !request.small);
        let free = self.heap.free_blocks(request.small);
        let &(stream, size, at) = free.range((request.stream, request.size, 0)..).next()?;
        if stream != request.stream || !self.settings.fits(request, size) {
            return None;
        }
        self.heap.remove_free(at);
        Some(at)
    }

    /// Asks the driver for a segment, with more and more effort.
    fn new_segment(&mut self, request: &Request) -> Result<u64, Error> {
        let mut full = None;
        for effort in [Effort::CollectGarbage, Effort::ReleaseEnough, Effort::ReleaseAll] {
            if self.make_room(effort, request)? {
                match self.take_segment(request) {
                    Err(error @ Error::OutOfMemory { .. }) => full = Some(error),
                    result => return result,
                }
            }
        }
        Err(full.expect("the first effort and the last always ask"))
    }

    /// Gives segments back; whether it is worth asking now.
    fn make_room(&mut self, effort: Effort, request: &Request) -> Result<bool, Error> {
        match effort {
            Effort::CollectGarbage => self.collect_garbage().map(|()| true),
            Effort::ReleaseEnough => self.release_enough(request),
            Effort::ReleaseAll => {
                self.release_cached()?;
                self.stats.num_alloc_retries += 1;
                Ok(true)
            }
        }
    }

    /// A segment that is one block, in no pool.
    fn take_segment(&mut self, request: &Request) -> Result<u64, Error> {
        let direct = !self.settings.caching;
        let size = if direct { request.size } else { request.segment };
        let at = match direct {
            true => self.source.alloc(request.bytes)?,
            false => self.source.reserve(size)?,
        };
        let Request { stream, small, .. } = *request;
        self.heap.segments.insert(at, Segment { size, stream, small, direct });
        self.heap.blocks.insert(
            at,
            Block {
                size,
                requested: 0,
                segment: at,
                state: State::Free,
                uses: BTreeSet::new(),
                marks: 0,
                free_since: 0,
                label: Label::NONE,
            },
        );
        self.stats.add(Metric::Segment, small, 1);
        self.stats.add(Metric::ReservedBytes, small, size);
        self.stats.num_device_alloc += 1;
        if size >= self.settings.max_split_size {
            self.stats.oversize_segments.add(1);
        }
        self.record(Action::SegmentAlloc, at, size, stream, Label::NONE);
        Ok(at)
    }

    /// Gives a block that is in no pool to a tensor, without what it does not need.
    fn hand_out(&mut self, at: u64, request: &Request, label: Label) -> Result<u64, Error> {
        let (was_split, small) = (self.heap.is_split(at), request.small);
        let whole = self.heap.blocks[&at].size;
        if self.settings.splits(request, whole) {
            self.heap.split(at, request.size);
            let rest = whole - request.size;
            match was_split {
                true => self.stats.sub(Metric::InactiveSplitBytes, small, request.size),
                false => {
                    self.stats.add(Metric::InactiveSplitBytes, small, rest);
                    self.stats.add(Metric::InactiveSplit, small, 1);
                }
            }
        } else if was_split {
            self.stats.sub(Metric::InactiveSplitBytes, small, whole);
            self.stats.sub(Metric::InactiveSplit, small, 1);
        }
        let direct = self.heap.segment_of(at).direct;
        let block = self.heap.blocks.get_mut(&at).expect("it was found by its address");
        (block.state, block.requested, block.label) = (State::Allocated, request.bytes, label);
        let size = block.size;
        self.stats.add(Metric::Allocation, small, 1);
        self.stats.add(Metric::AllocatedBytes, small, size);
        self.stats.add(Metric::Active, small, 1);
        self.stats.add(Metric::ActiveBytes, small, size);
        self.stats.add(Metric::RequestedBytes, small, request.bytes);
        if size >= self.settings.max_split_size {
            self.stats.oversize_allocations.add(1);
        }
        self.record(Action::Alloc, at, request.bytes, request.stream, label);
        if !direct && let Err(error) = self.source.lend(at, request.bytes) {
            self.free(at)?;
            return Err(error);
        }
        Ok(at)
    }

    /// Takes a tensor's block back; of address 0 there is nothing to take.
    ///
    /// # Errors
    /// If the device has failed.
    ///
    /// # Panics
    /// If no tensor has a block at that address.
    pub fn free(&mut self, at: u64) -> Result<(), Error> {
        if at == 0 {
            return Ok(());
        }
        let Segment { small, stream, direct, .. } = self.segment_of_allocated(at);
        let block = self.heap.blocks.get_mut(&at).expect("it has a segment");
        let (size, requested, label) = (block.size, block.requested, block.label);
        block.state = State::AwaitingFree;
        if !direct {
            self.source.take_back(at);
        }
        self.stats.sub(Metric::Allocation, small, 1);
        self.stats.sub(Metric::AllocatedBytes, small, size);
        if size >= self.settings.max_split_size {
            self.stats.oversize_allocations.sub(1);
        }
        self.record(Action::FreeRequested, at, requested, stream, label);
        match self.heap.blocks[&at].uses.is_empty() {
            true => self.complete_free(at),
            false => self.wait_for_uses(at),
        }
    }

    /// Puts a block that nobody uses any more among the free ones.
    fn complete_free(&mut self, at: u64) -> Result<(), Error> {
        let Segment { small, stream, direct, .. } = self.heap.segment_of(at);
        let block = self.heap.blocks.get_mut(&at).expect("it has a segment");
        let (size, requested, label) = (block.size, block.requested, block.label);
        (block.state, block.requested, block.free_since) = (State::Free, 0, self.searches);
        self.record(Action::FreeCompleted, at, requested, stream, label);
        let (at, blocks, bytes) = self.heap.merge(at);
        self.heap.insert_free(at);
        let split = i64::from(self.heap.is_split(at));
        let whole = split * self.heap.blocks[&at].size as i64;
        self.stats.change(Metric::InactiveSplit, small, split - blocks);
        self.stats.change(Metric::InactiveSplitBytes, small, whole - bytes);
        self.stats.sub(Metric::Active, small, 1);
        self.stats.sub(Metric::ActiveBytes, small, size);
        self.stats.sub(Metric::RequestedBytes, small, requested);
        if direct { self.release_segment(at) } else { Ok(()) }
    }

    fn segment_of_allocated(&self, at: u64) -> Segment {
        let block = self.heap.blocks.get(&at).filter(|block| block.state == State::Allocated);
        let block = block.unwrap_or_else(|| panic!("no tensor has a block at {at:#x}"));
        self.heap.segments[&block.segment]
    }

    /// The error for a request that cannot be served. The history has its rounded size.
    fn refuse(
        &mut self,
        (requested, size): (u64, u64),
        stream: usize,
        label: Label,
        full: Option<(String, u64, Option<u64>)>,
    ) -> Error {
        self.stats.num_ooms += 1;
        let reserved = self.stats.of(Metric::ReservedBytes).current;
        let (device, allocated, capacity) =
            full.unwrap_or_else(|| (String::new(), reserved, Some(self.source.capacity())));
        let free = capacity.unwrap_or(0).saturating_sub(allocated);
        self.record(Action::Oom, free, size, stream, label);
        Error::OutOfMemory { device, requested, allocated, capacity, report: String::new() }
    }

    fn record(&mut self, action: Action, address: u64, size: u64, stream: usize, label: Label) {
        self.history.push(TraceEntry { action, address, size, stream, label });
    }
}
