//! Giving segments back to the driver.

use super::block::Segment;
use super::sizes::Request;
use super::{CachingAllocator, Metric, Source};
use crate::error::Error;
use crate::memory::history::Action;
use crate::memory::running::Label;

impl<S: Source> CachingAllocator<S> {
    /// Gives back every segment that no tensor has a part of, after waiting for all streams.
    ///
    /// # Errors
    /// If the device has failed.
    pub fn empty_cache(&mut self) -> Result<(), Error> {
        self.release_cached()
    }

    pub(super) fn release_cached(&mut self) -> Result<(), Error> {
        self.wait_for_events()?;
        for small in [false, true] {
            let free: Vec<_> = self.heap.free_blocks(small).iter().copied().collect();
            for (_, _, at) in free {
                if !self.heap.is_split(at) {
                    self.release_segment(at)?;
                }
            }
        }
        Ok(())
    }

    /// Gives back a free block that is a whole segment.
    pub(super) fn release_segment(&mut self, at: u64) -> Result<(), Error> {
        self.heap.remove_free(at);
        self.heap.blocks.remove(&at);
        let segment = self.heap.segments.remove(&at).expect("the block is a segment");
        let Segment { size, stream, small, .. } = segment;
        self.stats.num_device_free += 1;
        self.stats.sub(Metric::Segment, small, 1);
        self.stats.sub(Metric::ReservedBytes, small, size);
        if size >= self.settings.max_split_size {
            self.stats.oversize_segments.sub(1);
        }
        self.record(Action::SegmentFree, at, size, stream, Label::NONE);
        self.source.free(at)
    }

    /// Where blocks have a largest size to be split: gives back just enough of those above it. The
    /// answer says whether that was enough.
    pub(super) fn release_enough(&mut self, request: &Request) -> Result<bool, Error> {
        let largest = self.settings.max_split_size;
        if largest == u64::MAX {
            return Ok(false);
        }
        let wanted = request.size.max(largest);
        let free = self.heap.free_blocks(request.small);
        let stream = request.stream;
        let enough = free.range((stream, wanted, 0)..=(stream, u64::MAX, u64::MAX)).next();
        if let Some(&(_, _, at)) = enough {
            return self.release_segment(at).map(|()| true);
        }
        let several = free.range((stream, largest, 0)..(stream, wanted, 0)).rev();
        let (mut released, mut chosen) = (0, Vec::new());
        for &(_, size, at) in several {
            if released >= wanted {
                break;
            }
            released += size;
            chosen.push(at);
        }
        for at in chosen {
            self.release_segment(at)?;
        }
        Ok(released >= wanted)
    }

    /// Gives back segments that have been free for long, if too much of the device is reserved:
    /// those of at least the average age, again and again, until it is less.
    pub(super) fn collect_garbage(&mut self) -> Result<(), Error> {
        let Some(part) = self.settings.garbage_collection_threshold else { return Ok(()) };
        let allowed = (part * self.source.capacity() as f64) as u64;
        let reserved = self.stats.of(Metric::ReservedBytes).current;
        let mut surplus = reserved.saturating_sub(allowed);
        while surplus > 0 {
            let ages = self.whole_free_segments();
            let total: u64 = ages.iter().map(|(_, age)| age).sum();
            // The age times their number, so that nothing is rounded.
            let old = ages.iter().filter(|(_, age)| age * ages.len() as u64 >= total);
            let old: Vec<u64> = old.map(|&(at, _)| at).collect();
            if old.is_empty() {
                break;
            }
            for at in old {
                surplus = surplus.saturating_sub(self.heap.blocks[&at].size);
                self.release_segment(at)?;
            }
        }
        Ok(())
    }

    /// The large segments that are one free block, with their ages.
    fn whole_free_segments(&self) -> Vec<(u64, u64)> {
        let free = self.heap.free_blocks(false).iter().map(|&(_, _, at)| at);
        let whole = free.filter(|&at| !self.heap.is_split(at));
        whole.map(|at| (at, self.searches - self.heap.blocks[&at].free_since)).collect()
    }
}
