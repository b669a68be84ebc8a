//! A device that is only an account of its memory: what the caching allocator is tested over.
//!
//! It never hands out an address twice, refuses what would exceed its capacity, and checks that
//! what is lent lies within what is reserved, apart from all else that is lent. A stream comes past
//! its marks when the test says so.

use std::cell::RefCell;
use std::collections::BTreeMap;

use engine_room::Error;
use engine_room::memory::Source;

#[derive(Default)]
pub struct Fake {
    pub state: RefCell<State>,
}

#[derive(Default)]
pub struct State {
    pub capacity: u64,
    next: u64,
    /// First address and bytes.
    pub segments: BTreeMap<u64, u64>,
    pub lent: BTreeMap<u64, u64>,
    /// How far each stream has been given work, and how far it has come.
    pub streams: BTreeMap<usize, (u64, u64)>,
    pub released: u64,
    pub recorded: u64,
}

impl Fake {
    pub fn new(capacity: u64) -> Fake {
        let fake = Fake::default();
        fake.state.borrow_mut().capacity = capacity;
        fake
    }

    /// Lets a stream come past all marks so far.
    pub fn finish(&self, stream: usize) {
        let mut state = self.state.borrow_mut();
        let (given, done) = state.streams.entry(stream).or_default();
        *done = *given;
    }
}

impl Source for Fake {
    type Event = (usize, u64);

    fn capacity(&self) -> u64 {
        self.state.borrow().capacity
    }

    fn alloc(&self, bytes: u64) -> Result<u64, Error> {
        let mut state = self.state.borrow_mut();
        let allocated: u64 = state.segments.values().sum();
        let capacity = state.capacity;
        if bytes > capacity.saturating_sub(allocated) {
            let (device, report) = ("fake".to_string(), String::new());
            let (requested, capacity) = (bytes, Some(capacity));
            return Err(Error::OutOfMemory { device, requested, allocated, capacity, report });
        }
        state.next += 1 << 32;
        let at = state.next;
        state.segments.insert(at, bytes);
        Ok(at)
    }

    fn reserve(&self, bytes: u64) -> Result<u64, Error> {
        self.alloc(bytes)
    }

    fn free(&self, at: u64) -> Result<(), Error> {
        let mut state = self.state.borrow_mut();
        let bytes = state.segments.remove(&at).expect("a segment begins there");
        assert_eq!(state.lent.range(at..at + bytes).next(), None, "some of it is lent");
        Ok(())
    }

    fn lend(&self, at: u64, bytes: u64) -> Result<(), Error> {
        let mut state = self.state.borrow_mut();
        let (start, size) = state.segments.range(..=at).next_back().expect("a segment");
        assert!(at + bytes <= start + size, "beyond the segment");
        let below = state.lent.range(..=at).next_back().map_or(0, |(at, bytes)| at + bytes);
        let above = state.lent.range(at..).next().map_or(u64::MAX, |(&at, _)| at);
        assert!(below <= at && at + bytes <= above, "two tensors overlap");
        state.lent.insert(at, bytes);
        Ok(())
    }

    fn take_back(&self, at: u64) {
        self.state.borrow_mut().lent.remove(&at).expect("it is lent");
    }

    fn record(&self, stream: usize) -> Result<(usize, u64), Error> {
        let mut state = self.state.borrow_mut();
        state.recorded += 1;
        let (given, _) = state.streams.entry(stream).or_default();
        *given += 1;
        Ok((stream, *given))
    }

    fn is_done(&self, &(stream, mark): &(usize, u64)) -> Result<bool, Error> {
        Ok(self.state.borrow().streams[&stream].1 >= mark)
    }

    fn release(&self, _: (usize, u64)) {
        self.state.borrow_mut().released += 1;
    }

    fn synchronize(&self) -> Result<(), Error> {
        let mut state = self.state.borrow_mut();
        state.streams.values_mut().for_each(|(given, done)| *done = *given);
        Ok(())
    }
}
