//! Memory that counts the cache lines which a copy fetches.

/// Numbers in one line of the cache: 64 bytes of `f32`.
pub const LINE: usize = 16;

/// Lines that each of the two caches holds: 4 KiB.
pub const LINES: usize = 64;

/// A storage to copy from, and packed memory to copy to, each behind a small cache.
///
/// Only the machine itself moves numbers here, one at a time. Before a number moves, the line it
/// lies in and the line it goes to must be in their caches. A line that is not is fetched and
/// counted, and the one that was used longest ago makes room for it.
pub struct Memory {
    source: Vec<f32>,
    target: Vec<f32>,
    read: Cache,
    written: Cache,
    copies: u64,
}

/// Lines that have been fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fetched {
    /// Of the storage.
    pub source: u64,
    /// Of the packed memory.
    pub target: u64,
}

impl Memory {
    /// A storage with these numbers, and packed memory for `room` numbers. The caches are empty.
    pub fn new(source: Vec<f32>, room: usize) -> Memory {
        let (read, written) = (Cache::default(), Cache::default());
        Memory { source, target: vec![f32::NAN; room], read, written, copies: 0 }
    }

    /// Copies the number at place `from` of the storage to place `to` of the packed memory.
    ///
    /// # Panics
    /// If there is no such place.
    pub fn copy(&mut self, from: usize, to: usize) {
        let (places, room) = (self.source.len(), self.target.len());
        assert!(from < places, "the storage has {places} places, and there is no place {from}");
        assert!(to < room, "the packed memory has {room} places, and there is no place {to}");
        self.read.touch(from / LINE);
        self.written.touch(to / LINE);
        self.target[to] = self.source[from];
        self.copies += 1;
    }

    /// The packed memory; NaN where nothing has been copied to.
    pub fn target(&self) -> &[f32] {
        &self.target
    }

    /// The lines fetched so far.
    pub fn fetched(&self) -> Fetched {
        Fetched { source: self.read.fetched, target: self.written.fetched }
    }

    /// How many numbers have been copied so far.
    pub fn copies(&self) -> u64 {
        self.copies
    }
}

/// Which lines are held, the one used last at the end.
#[derive(Default)]
struct Cache {
    held: Vec<usize>,
    fetched: u64,
}

impl Cache {
    fn touch(&mut self, line: usize) {
        if self.held.last() == Some(&line) {
            return;
        }
        match self.held.iter().position(|&held| held == line) {
            Some(at) => self.held[at..].rotate_left(1),
            None => {
                if self.held.len() == LINES {
                    self.held.remove(0);
                }
                self.held.push(line);
                self.fetched += 1;
            }
        }
    }
}
