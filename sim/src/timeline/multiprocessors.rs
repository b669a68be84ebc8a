//! Which multiprocessors are taken when: a step function of time.

use std::collections::BTreeMap;

use super::Nanoseconds;

/// How many multiprocessors kernels have taken, from now on.
#[derive(Debug, Clone, Default)]
pub(super) struct Multiprocessors {
    /// So many are taken from this moment on, until the next one in the map; before the first
    /// moment, and after the last, none are.
    taken: BTreeMap<Nanoseconds, u64>,
}

impl Multiprocessors {
    /// Drops what ended before a moment: no kernel will start there any more.
    pub fn forget_before(&mut self, now: Nanoseconds) {
        let kept = self.taken_at(now);
        self.taken = self.taken.split_off(&now);
        if kept > 0 {
            self.taken.insert(now, kept);
        }
    }

    fn taken_at(&self, moment: Nanoseconds) -> u64 {
        self.taken.range(..=moment).next_back().map_or(0, |(_, &taken)| taken)
    }

    /// Takes `wanted` of `all` for `ns`, from the first moment at or after `ready` from which so
    /// many are free that long; returns that moment.
    pub fn take(&mut self, ready: Nanoseconds, ns: Nanoseconds, wanted: u64, all: u64) -> u64 {
        let start = self.first_fit(ready, ns, all.saturating_sub(wanted));
        let end = start + ns;
        let (at_start, at_end) = (self.taken_at(start), self.taken_at(end));
        self.taken.insert(start, at_start);
        self.taken.insert(end, at_end);
        for (_, taken) in self.taken.range_mut(start..end) {
            *taken += wanted;
        }
        // Where nothing changes no step is needed: kernels one after the other are one step.
        for moment in [start, end] {
            let before = self.taken.range(..moment).next_back().map_or(0, |(_, &taken)| taken);
            if self.taken.get(&moment) == Some(&before) {
                self.taken.remove(&moment);
            }
        }
        start
    }

    /// The first moment at or after `ready` from which at most `most` are taken for `ns`.
    fn first_fit(&self, ready: Nanoseconds, ns: Nanoseconds, most: u64) -> Nanoseconds {
        let mut start = (self.taken_at(ready) <= most).then_some(ready);
        for (&moment, &taken) in self.taken.range(ready.saturating_add(1)..) {
            match start {
                Some(start) if moment - start >= ns => return start,
                Some(_) if taken > most => start = None,
                None if taken <= most => start = Some(moment),
                _ => {}
            }
        }
        // After the last step none are taken, so a start has been found.
        start.unwrap_or(ready)
    }
}
