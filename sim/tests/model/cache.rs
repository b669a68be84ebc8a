//! The cache alone, against lists.

use engine_room_sim::gpu::L2_WAYS;
use engine_room_sim::l2::{Kind, Moved, Run, Sets};

use crate::random::Random;

/// A line with which of its sectors are there and which are to be written back.
type Line = (u64, [bool; 4], [bool; 4]);

/// As the cache is described: the lines of each set in a list, the one used last at its end.
struct Lists {
    sets: Vec<Vec<Line>>,
    moved: Moved,
}

impl Lists {
    fn new(sets: u64) -> Lists {
        Lists { sets: vec![Vec::new(); sets as usize], moved: Moved::default() }
    }

    fn touch(&mut self, sector: u64, kind: Kind) {
        let (line, part) = (sector / 4, sector as usize % 4);
        let count = self.sets.len() as u64;
        let set = &mut self.sets[(line % count) as usize];
        let found = set.iter().position(|entry| entry.0 == line);
        let mut entry = found.map_or((line, [false; 4], [false; 4]), |at| set.remove(at));
        if kind != Kind::Store && !entry.1[part] {
            self.moved.read += 1;
        }
        entry.1[part] = true;
        entry.2[part] |= kind != Kind::Load;
        set.push(entry);
        if set.len() > L2_WAYS {
            let gone = set.remove(0);
            self.moved.written += gone.2.iter().filter(|dirty| **dirty).count() as u64;
        }
    }

    fn end(mut self) -> Moved {
        let left = self.sets.iter().flatten().flat_map(|entry| entry.2);
        self.moved.written += left.filter(|dirty| *dirty).count() as u64;
        self.moved
    }
}

#[test]
fn the_cache_does_what_lists_do() {
    for seed in 0..20 {
        let mut random = Random(seed);
        let sets = Sets::count(20 << 10);
        assert_eq!(sets, 9, "20 KiB are 10 sets of 16 lines of 128 bytes; an odd number is fewer");
        let (mut cache, mut lists) = (Sets::new(20 << 10), Lists::new(sets));
        for _ in 0..5000 {
            let kind = [Kind::Load, Kind::Store, Kind::Atomic][random.below(3)];
            let (first, count) = (random.below(1500) as u64, 1 + random.below(32) as u64);
            cache.touch(Run::new(kind, first, count));
            (first..first + count).for_each(|sector| lists.touch(sector, kind));
        }
        assert_eq!(cache.moved(), lists.end(), "seed {seed}");
    }
}

#[test]
fn lines_at_the_distance_of_a_power_of_two_spread_over_all_sets() {
    // 4 MiB hold 32,752 lines in an odd number of sets.
    for distance in [1, 4, 32, 1024, 65_536] {
        let mut cache = Sets::new(4 << 20);
        for _ in 0..2 {
            for line in 0..32_000 {
                cache.touch(Run::new(Kind::Load, line * distance * 4, 1));
            }
        }
        assert_eq!(cache.moved(), Moved { read: 32_000, written: 0 }, "every {distance}th line");
    }
}
