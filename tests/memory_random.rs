//! A million random calls of the caching allocator against a model of it that is too simple to be
//! wrong: every block in a list, every number counted anew.

#[path = "engine/fake_device.rs"]
mod fake_device;

use engine_room::memory::{
    BLOCK_UNIT, CachingAllocator, LARGE_SEGMENT, Label, Metric, OWN_SEGMENT, SEGMENT_UNIT,
    SMALL_SEGMENT, SMALL_SIZE, State,
};
use engine_room::rng::Generator;
use fake_device::Fake;

const MIB: u64 = 1 << 20;
const CAPACITY: u64 = 1024 * MIB;

#[derive(Debug, Clone, PartialEq)]
struct Block {
    at: u64,
    size: u64,
    requested: u64,
    state: State,
    /// The streams, beside its own, that use it; when it was freed, each with the number of the
    /// mark that it waits for.
    uses: Vec<(usize, u64)>,
}

#[derive(Debug)]
struct Segment {
    at: u64,
    size: u64,
    stream: usize,
    small: bool,
    blocks: Vec<Block>,
}

#[derive(Default)]
struct Model {
    segments: Vec<Segment>,
    /// The number of the last mark in each stream, and of the last one that it has come past.
    marks: [(u64, u64); 3],
}

impl Model {
    fn reserved(&self) -> u64 {
        self.segments.iter().map(|it| it.size).sum()
    }

    /// Where the block goes if a free one has room.
    fn best_fit(&self, size: u64, stream: usize) -> Option<(usize, usize)> {
        let mut best: Option<(u64, u64, usize, usize)> = None;
        for (s, segment) in self.segments.iter().enumerate() {
            if segment.stream != stream || segment.small != (size <= SMALL_SIZE) {
                continue;
            }
            for (b, block) in segment.blocks.iter().enumerate() {
                let better = best.is_none_or(|best| (block.size, block.at) < (best.0, best.1));
                if block.state == State::Free && block.size >= size && better {
                    best = Some((block.size, block.at, s, b));
                }
            }
        }
        best.map(|(_, _, s, b)| (s, b))
    }

    fn place(&mut self, (s, b): (usize, usize), size: u64, requested: u64) -> u64 {
        let segment = &mut self.segments[s];
        let block = &mut segment.blocks[b];
        let rest = block.size - size;
        (block.state, block.requested) = (State::Allocated, requested);
        let at = block.at;
        if if segment.small { rest >= BLOCK_UNIT } else { rest > MIB } {
            block.size = size;
            let state = State::Free;
            let rest = Block { at: at + size, size: rest, requested: 0, state, uses: Vec::new() };
            segment.blocks.insert(b + 1, rest);
        }
        at
    }

    fn find(&mut self, at: u64) -> &mut Block {
        let blocks = self.segments.iter_mut().flat_map(|it| &mut it.blocks);
        blocks.into_iter().find(|block| block.at == at).expect("a block")
    }

    /// Joins all neighbours that are free.
    fn merge(&mut self) {
        for segment in &mut self.segments {
            segment.blocks.dedup_by(|next, block| {
                let both = block.state == State::Free && next.state == State::Free;
                block.size += if both { next.size } else { 0 };
                both
            });
        }
    }

    fn free(&mut self, at: u64) {
        let mut marks = self.marks;
        let block = self.find(at);
        block.state = State::AwaitingFree;
        for (stream, mark) in &mut block.uses {
            marks[*stream].0 += 1;
            *mark = marks[*stream].0;
        }
        let waits = !block.uses.is_empty();
        self.marks = marks;
        if !waits {
            let block = self.find(at);
            (block.state, block.requested) = (State::Free, 0);
            self.merge();
        }
    }

    /// Lets a stream come past all its marks.
    fn finish(&mut self, stream: usize) {
        self.marks[stream].1 = self.marks[stream].0;
    }

    /// Frees what waits for nothing any more.
    fn settle(&mut self) {
        let marks = self.marks;
        for block in self.segments.iter_mut().flat_map(|it| &mut it.blocks) {
            if block.state == State::AwaitingFree {
                block.uses.retain(|&(stream, mark)| marks[stream].1 < mark);
                if block.uses.is_empty() {
                    (block.state, block.requested) = (State::Free, 0);
                }
            }
        }
        self.merge();
    }

    fn release(&mut self) {
        // A stream that no block waits for is not waited for either.
        if self.is_anything_waiting() {
            (0..3).for_each(|stream| self.finish(stream));
        }
        self.settle();
        let is_free = |it: &Segment| it.blocks.len() == 1 && it.blocks[0].state == State::Free;
        self.segments.retain(|segment| !is_free(segment));
    }

    fn is_anything_waiting(&self) -> bool {
        let mut blocks = self.segments.iter().flat_map(|it| &it.blocks);
        blocks.any(|block| block.state == State::AwaitingFree)
    }

    /// What the allocator must show.
    fn numbers(&self) -> [u64; 9] {
        let mut numbers = [0; 9];
        for segment in &self.segments {
            numbers[Metric::Segment as usize] += 1;
            numbers[Metric::ReservedBytes as usize] += segment.size;
            for block in &segment.blocks {
                let metrics: &[(Metric, u64)] = match block.state {
                    State::Free if segment.blocks.len() > 1 => {
                        &[(Metric::InactiveSplit, 1), (Metric::InactiveSplitBytes, block.size)]
                    }
                    State::Free => &[],
                    _ => &[
                        (Metric::Active, 1),
                        (Metric::ActiveBytes, block.size),
                        (Metric::RequestedBytes, block.requested),
                    ],
                };
                metrics.iter().for_each(|&(it, amount)| numbers[it as usize] += amount);
                if block.state == State::Allocated {
                    numbers[Metric::Allocation as usize] += 1;
                    numbers[Metric::AllocatedBytes as usize] += block.size;
                }
            }
        }
        numbers
    }
}

/// The allocator beside its model.
struct Pair {
    allocator: CachingAllocator<Fake>,
    model: Model,
    live: Vec<u64>,
    out_of_memory: u64,
}

impl Pair {
    fn alloc(&mut self, bytes: u64, stream: usize) {
        let given = self.allocator.alloc(bytes, stream, Label::NONE);
        let size = bytes.next_multiple_of(BLOCK_UNIT);
        // The allocator looks first which streams have come past their marks.
        self.model.settle();
        let segment = match (size <= SMALL_SIZE, size < OWN_SEGMENT) {
            (true, _) => SMALL_SEGMENT,
            (false, true) => LARGE_SEGMENT,
            (false, false) => size.next_multiple_of(SEGMENT_UNIT),
        };
        let mut place = self.model.best_fit(size, stream);
        if place.is_none() {
            if self.model.reserved() + segment > CAPACITY {
                self.model.release();
            }
            if self.model.reserved() + segment > CAPACITY {
                assert!(given.is_err(), "{bytes} bytes do not fit");
                self.out_of_memory += 1;
                return;
            }
            let fake = self.allocator.source().state.borrow();
            let newest = fake.segments.last_key_value().expect("a segment");
            let (at, state) = (*newest.0, State::Free);
            drop(fake);
            let block = Block { at, size: segment, requested: 0, state, uses: Vec::new() };
            let (small, blocks) = (size <= SMALL_SIZE, vec![block]);
            self.model.segments.push(Segment { at, size: segment, stream, small, blocks });
            place = Some((self.model.segments.len() - 1, 0));
        }
        let at = self.model.place(place.expect("there is room"), size, bytes);
        assert_eq!(given, Ok(at), "{bytes} bytes for stream {stream}");
        self.live.push(at);
    }

    fn step(&mut self, random: &mut Generator) {
        let stream = random.below(3);
        match random.below(1000) {
            0..480 => {
                let bits = random.below(26);
                // Now and then an exact power of two, where the rules have their limits.
                let bytes =
                    (1_u64 << bits) + random.below(1 << bits) as u64 * random.below(2) as u64;
                self.alloc(bytes, stream);
            }
            480..960 if !self.live.is_empty() => {
                let at = self.live.swap_remove(random.below(self.live.len()));
                self.allocator.free(at).unwrap();
                self.model.free(at);
            }
            960..985 if !self.live.is_empty() => {
                let at = self.live[random.below(self.live.len())];
                self.allocator.record_stream(at, stream);
                let own =
                    self.model.segments.iter().find(|it| (it.at..it.at + it.size).contains(&at));
                let own = own.expect("a segment").stream;
                let block = self.model.find(at);
                if stream != own && block.uses.iter().all(|it| it.0 != stream) {
                    block.uses.push((stream, 0));
                }
            }
            985..998 => {
                self.allocator.source().finish(stream);
                self.model.finish(stream);
            }
            998 => {
                self.allocator.empty_cache().unwrap();
                self.model.release();
            }
            _ => {}
        }
    }

    fn check(&self) {
        let numbers = Metric::ALL.map(|(metric, _)| self.allocator.stats().of(metric).current);
        assert_eq!(numbers, self.model.numbers());
        let blocks = |segment: &Segment| {
            segment.blocks.iter().map(|it| (it.at, it.size, it.requested, it.state)).collect()
        };
        let mut model: Vec<Vec<_>> = self.model.segments.iter().map(blocks).collect();
        model.sort_by_key(|blocks| blocks[0].0);
        let shown = self.allocator.segments();
        let shown: Vec<Vec<_>> = shown
            .iter()
            .map(|it| it.blocks.iter().map(|b| (b.address, b.size, b.requested, b.state)).collect())
            .collect();
        assert_eq!(shown, model);
        let state = self.allocator.source().state.borrow();
        assert_eq!(state.segments.values().sum::<u64>(), self.model.reserved());
        assert_eq!(state.lent.len(), self.live.len(), "the device knows of every tensor");
    }
}

#[test]
fn a_million_calls_leave_what_the_model_holds() {
    let mut failed = 0;
    for seed in 0..10 {
        println!("seed {seed}");
        let mut random = Generator::new(seed);
        let allocator = CachingAllocator::new(Fake::new(CAPACITY));
        let mut pair =
            Pair { allocator, model: Model::default(), live: Vec::new(), out_of_memory: 0 };
        for call in 0..100_000 {
            pair.step(&mut random);
            if call % 500 == 0 {
                pair.check();
            }
        }
        for at in std::mem::take(&mut pair.live) {
            pair.allocator.free(at).unwrap();
            pair.model.free(at);
        }
        pair.check();
        pair.allocator.empty_cache().unwrap();
        pair.model.release();
        pair.check();
        assert_eq!(pair.model.reserved(), 0, "every byte was returned");
        let stats = pair.allocator.stats();
        for (metric, name) in Metric::ALL {
            let stat = stats.of(metric);
            assert_eq!((stat.current, stat.allocated), (0, stat.freed), "{name}");
        }
        assert_eq!(stats.num_ooms, pair.out_of_memory);
        let state = pair.allocator.source().state.borrow();
        assert_eq!(state.recorded, state.released, "no mark is left");
        failed += pair.out_of_memory;
    }
    assert!(failed > 100, "the device must run out now and then, not {failed} times");
}
