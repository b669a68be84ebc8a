//! A device whose memory has no end: where the engine's allocator gets its segments in 6.1 and 6.2.

use std::cell::{Cell, RefCell};

use engine_room::Error;
use engine_room::memory::Source;
use engine_room::rng::Generator;

/// It hands out addresses without a gap between them: segments lie side by side.
pub struct Endless {
    /// The lowest address that was handed out, and the one after the highest.
    low: Cell<u64>,
    high: Cell<u64>,
    /// Whether the next segment lies below all others or above; above without it.
    below: Option<RefCell<Generator>>,
}

impl Endless {
    /// Each segment above the one before.
    pub fn upwards() -> Endless {
        Endless { low: Cell::new(1 << 40), high: Cell::new(1 << 40), below: None }
    }

    /// Each segment above or below all others, as it happens.
    pub fn both_ways(rng: &mut Generator) -> Endless {
        let below = Some(RefCell::new(Generator::new(u64::from(rng.next_u32()))));
        Endless { below, ..Endless::upwards() }
    }
}

impl Source for Endless {
    type Event = ();

    fn capacity(&self) -> u64 {
        u64::MAX
    }

    fn alloc(&self, bytes: u64) -> Result<u64, Error> {
        let below = self.below.as_ref().is_some_and(|rng| rng.borrow_mut().below(2) == 0);
        if below {
            self.low.set(self.low.get() - bytes);
            return Ok(self.low.get());
        }
        Ok(self.high.replace(self.high.get() + bytes))
    }

    fn reserve(&self, bytes: u64) -> Result<u64, Error> {
        self.alloc(bytes)
    }

    fn free(&self, _: u64) -> Result<(), Error> {
        Ok(())
    }

    fn lend(&self, _: u64, _: u64) -> Result<(), Error> {
        Ok(())
    }

    fn take_back(&self, _: u64) {}

    fn record(&self, _: usize) -> Result<(), Error> {
        Ok(())
    }

    fn is_done(&self, _: &()) -> Result<bool, Error> {
        Ok(true)
    }

    fn release(&self, _: ()) {}

    fn synchronize(&self) -> Result<(), Error> {
        Ok(())
    }
}
