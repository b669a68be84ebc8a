//! The reader's functions in place of the engine's.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine_room::Tensor;
use engine_room::memory::{Action, Snapshot, TraceEntry};
use engine_room::nn::Module;

use crate::again::Again;
use crate::blocks::{Block, Segment};
use crate::events::{Event, Peak};
use crate::exercise;
use crate::experiments::trace::After;

/// An allocator of the functions of 6.1 and 6.2, over a driver that never runs out.
#[derive(Default)]
pub struct Allocator {
    segments: Vec<Segment>,
    /// The address of each tensor.
    tensors: BTreeMap<String, u64>,
}

/// A driver gives out segments far apart.
const DISTANCE: u64 = 1 << 32;

impl Allocator {
    /// Makes a tensor of so many bytes, or drops it.
    pub fn line(&mut self, name: &str, bytes: Option<u64>) -> After {
        match bytes {
            Some(bytes) => self.take(name, bytes),
            None => {
                let at = self.tensors.remove(name).expect("it was made before");
                exercise::give_back(&mut self.segments, at);
            }
        }
        let used = self.blocks().filter(|block| block.used).map(|block| block.size).sum();
        After {
            place: self.tensors.get(name).and_then(|&at| self.place(at)),
            allocated: used,
            reserved: self.blocks().map(|block| block.size).sum(),
            calls: self.segments.len() as u64,
        }
    }

    fn take(&mut self, name: &str, bytes: u64) {
        let request = exercise::round_request(bytes).expect("nothing here is that large");
        let take = |segments: &mut Vec<Segment>| {
            exercise::take_block(segments, request.pool, request.block)
        };
        let at = take(&mut self.segments).or_else(|| {
            let start = (self.segments.len() as u64 + 1) * DISTANCE;
            let block = Block { start, size: request.segment, used: false };
            self.segments.push(Segment { pool: request.pool, blocks: vec![block] });
            take(&mut self.segments)
        });
        if let Some(at) = at {
            self.tensors.insert(name.to_string(), at);
        }
    }

    fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.segments.iter().flat_map(|segment| &segment.blocks)
    }

    fn place(&self, at: u64) -> Option<(u64, usize, u64)> {
        self.segments.iter().enumerate().find_map(|(number, segment)| {
            let block = segment.blocks.iter().find(|block| block.start == at)?;
            Some((block.size, number, at - segment.blocks[0].start))
        })
    }
}

/// The peak of a history by the function of 6.3.
pub fn peak(history: &Snapshot) -> Peak {
    let event = |entry: &TraceEntry| {
        let (bytes, role) = (entry.size, entry.label.role);
        match entry.action {
            Action::Alloc => Some(Event::Alloc { bytes, role }),
            Action::FreeRequested => Some(Event::Free { bytes, role }),
            _ => None,
        }
    };
    let events: Vec<Event> = history.trace.iter().filter_map(event).collect();
    exercise::peak(&history.time_line()[0], &events)
}

/// A block that runs again by the functions of 6.5.
pub fn recompute(block: &Arc<dyn Module>, x: &Tensor) -> Tensor {
    Again::new(block.clone(), exercise::first_run, exercise::second_run).forward(x)
}
