//! Blocks that other streams use: each is free only when these have come past their use of it.

use super::{CachingAllocator, Source};
use crate::error::Error;

impl<S: Source> CachingAllocator<S> {
    /// Work of `stream` uses the block at an address too: it will not be handed out again before
    /// that is done (PyTorch's `Tensor.record_stream`). The stream that it was taken for needs no
    /// mention.
    ///
    /// # Panics
    /// If no tensor has a block at that address.
    pub fn record_stream(&mut self, at: u64, stream: usize) {
        let own = self.segment_of_allocated(at).stream;
        if stream != own {
            self.heap.blocks.get_mut(&at).expect("it has a segment").uses.insert(stream);
        }
    }

    /// Marks the place in each stream up to which the block may be in use.
    pub(super) fn wait_for_uses(&mut self, at: u64) -> Result<(), Error> {
        let block = self.heap.blocks.get_mut(&at).expect("it was freed just now");
        for stream in std::mem::take(&mut block.uses) {
            let event = self.source.record(stream)?;
            block.marks += 1;
            self.waiting.entry(stream).or_default().push_back((event, at));
        }
        Ok(())
    }

    /// Frees the blocks whose marks have been passed; the first one of a stream that is not passed
    /// stands for all after it.
    pub(super) fn process_events(&mut self) -> Result<(), Error> {
        let streams: Vec<usize> = self.waiting.keys().copied().collect();
        for stream in streams {
            while let Some(queue) = self.waiting.get_mut(&stream) {
                match queue.pop_front() {
                    None => drop(self.waiting.remove(&stream)),
                    Some((event, at)) if self.source.is_done(&event)? => self.passed(event, at)?,
                    Some(first) => {
                        queue.push_front(first);
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Waits for all streams and frees every block that waits for one.
    pub(super) fn wait_for_events(&mut self) -> Result<(), Error> {
        self.stats.num_sync_all_streams += 1;
        if self.waiting.is_empty() {
            return Ok(());
        }
        self.source.synchronize()?;
        for (event, at) in std::mem::take(&mut self.waiting).into_values().flatten() {
            self.passed(event, at)?;
        }
        Ok(())
    }

    fn passed(&mut self, event: S::Event, at: u64) -> Result<(), Error> {
        self.source.release(event);
        let block = self.heap.blocks.get_mut(&at).expect("it waits");
        block.marks -= 1;
        if block.marks == 0 { self.complete_free(at) } else { Ok(()) }
    }
}
