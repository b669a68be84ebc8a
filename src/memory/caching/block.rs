//! Segments and the blocks that they consist of.

use std::collections::{BTreeMap, BTreeSet};

use crate::memory::running::Label;

/// What a block is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// A tensor has it.
    Allocated,
    /// No tensor has it, but work of another stream may still use it.
    AwaitingFree,
    /// It can be handed out.
    Free,
}

/// A part of a segment.
#[derive(Debug, Clone)]
pub(super) struct Block {
    /// Its bytes.
    pub size: u64,
    /// Bytes that the tensor asked for.
    pub requested: u64,
    /// The first address of its segment.
    pub segment: u64,
    pub state: State,
    /// The other streams that use it.
    pub uses: BTreeSet<usize>,
    /// The marks that must be passed before it is free.
    pub marks: usize,
    /// The search in the large pool since which it has been free.
    pub free_since: u64,
    /// On whose behalf it was taken last.
    pub label: Label,
}

/// An allocation of the driver's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    pub size: u64,
    /// The stream whose work it is for. Within a stream, work that uses a block again comes after
    /// the work before; that is why a free block can be handed out although it is still in use.
    pub stream: usize,
    /// Its pool.
    pub small: bool,
    /// Whether it is for one tensor alone, and goes with it.
    pub direct: bool,
}

/// A free block as best fit looks for it: of the stream, large enough, the smallest, the lowest.
pub(super) type Key = (usize, u64, u64);

/// All blocks by address. The neighbours of a block in its segment are its neighbours here.
#[derive(Debug, Default)]
pub(super) struct Heap {
    pub blocks: BTreeMap<u64, Block>,
    pub segments: BTreeMap<u64, Segment>,
    /// The free blocks of the large and of the small pool.
    free: [BTreeSet<Key>; 2],
}

impl Heap {
    /// The free blocks of a pool, as best fit looks for them.
    pub fn free_blocks(&self, small: bool) -> &BTreeSet<Key> {
        &self.free[usize::from(small)]
    }

    /// The segment that the block at an address is part of.
    pub fn segment_of(&self, at: u64) -> Segment {
        self.segments[&self.blocks[&at].segment]
    }

    /// Whether other blocks are in the same segment.
    pub fn is_split(&self, at: u64) -> bool {
        self.blocks[&at].size != self.segment_of(at).size
    }

    fn key(&self, at: u64) -> (usize, Key) {
        let segment = self.segment_of(at);
        (usize::from(segment.small), (segment.stream, self.blocks[&at].size, at))
    }

    /// Puts a block among the free ones.
    pub fn insert_free(&mut self, at: u64) {
        let (pool, key) = self.key(at);
        self.free[pool].insert(key);
    }

    /// Takes a block out of the free ones.
    pub fn remove_free(&mut self, at: u64) {
        let (pool, key) = self.key(at);
        self.free[pool].remove(&key);
    }

    /// Cuts a block that is in no pool: it keeps `size` bytes, the rest becomes a free block.
    pub fn split(&mut self, at: u64, size: u64) -> u64 {
        let block = self.blocks.get_mut(&at).expect("it was found by its address");
        let rest = Block { size: block.size - size, ..block.clone() };
        block.size = size;
        self.blocks.insert(at + size, rest);
        self.insert_free(at + size);
        at + size
    }

    /// Joins a block that is in no pool with its free neighbours. Gives its address then, and how
    /// many blocks and bytes it took in.
    pub fn merge(&mut self, at: u64) -> (u64, i64, i64) {
        let (mut at, mut count, mut bytes) = (at, 0, 0);
        let segment = self.blocks[&at].segment;
        let mergeable = |block: &Block| block.segment == segment && block.state == State::Free;
        let above = at + self.blocks[&at].size;
        if self.blocks.get(&above).is_some_and(mergeable) {
            bytes += self.take_in(at, above);
            count += 1;
        }
        let below = self.blocks.range(..at).next_back();
        if let Some((&below, _)) = below.filter(|(_, block)| mergeable(block)) {
            self.remove_free(below);
            let size = self.blocks[&below].size;
            let upper = self.blocks.remove(&at).expect("it is there");
            self.blocks.insert(below, Block { size: size + upper.size, ..upper });
            at = below;
            bytes += size as i64;
            count += 1;
        }
        (at, count, bytes)
    }

    /// The free block at `above` becomes part of the one before it.
    fn take_in(&mut self, at: u64, above: u64) -> i64 {
        self.remove_free(above);
        let size = self.blocks.remove(&above).expect("it is there").size;
        self.blocks.get_mut(&at).expect("it is there").size += size;
        size as i64
    }
}
