//! The caching allocator under a script, with what must be true after each step.
#![allow(dead_code, reason = "each test needs some of it")]

use std::collections::HashMap;

use engine_room::Error;
use engine_room::memory::{CachingAllocator, Label, Metric};

use super::fake_device::Fake;

/// What a script does, and what must be true after it: allocated and reserved bytes.
pub type Step = (Do, u64, u64);

pub enum Do {
    Alloc(&'static str, u64),
    Free(&'static str),
    EmptyCache,
}
/// An allocator and the addresses of what it gave, by name.
pub struct Script {
    pub allocator: CachingAllocator<Fake>,
    pub at: HashMap<&'static str, u64>,
}

impl Script {
    pub fn new(capacity: u64) -> Script {
        Script { allocator: CachingAllocator::new(Fake::new(capacity)), at: HashMap::new() }
    }

    pub fn of(&self, metric: Metric) -> u64 {
        self.allocator.stats().of(metric).current
    }

    pub fn alloc(&mut self, name: &'static str, bytes: u64) -> Result<u64, Error> {
        let at = self.allocator.alloc(bytes, 0, Label::NONE)?;
        self.at.insert(name, at);
        Ok(at)
    }

    pub fn free(&mut self, name: &str) {
        let at = self.at.remove(name).expect("it was allocated");
        self.allocator.free(at).unwrap();
    }

    #[track_caller]
    pub fn run(&mut self, steps: &[Step]) {
        for (number, (step, allocated, reserved)) in steps.iter().enumerate() {
            match *step {
                Do::Alloc(name, bytes) => drop(self.alloc(name, bytes).unwrap()),
                Do::Free(name) => self.free(name),
                Do::EmptyCache => self.allocator.empty_cache().unwrap(),
            }
            let found = [Metric::AllocatedBytes, Metric::ReservedBytes].map(|it| self.of(it));
            assert_eq!(found, [*allocated, *reserved], "after step {number}");
        }
    }
}
