//! The statistics of the allocator, under PyTorch's names.

use std::collections::BTreeMap;

/// What is counted for each pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Tensors that have memory.
    Allocation,
    /// Allocations of the driver.
    Segment,
    /// Blocks in use, also those that only another stream still uses.
    Active,
    /// Free blocks that share a segment with others, and so cannot be given back.
    InactiveSplit,
    /// Bytes of blocks that tensors have.
    AllocatedBytes,
    /// Bytes of segments.
    ReservedBytes,
    /// Bytes of active blocks.
    ActiveBytes,
    /// Bytes of free blocks that cannot be given back.
    InactiveSplitBytes,
    /// Bytes that tensors asked for, before rounding; of active blocks.
    RequestedBytes,
}

impl Metric {
    /// Every metric, with PyTorch's name for it.
    pub const ALL: [(Metric, &'static str); 9] = [
        (Metric::Allocation, "allocation"),
        (Metric::Segment, "segment"),
        (Metric::Active, "active"),
        (Metric::InactiveSplit, "inactive_split"),
        (Metric::AllocatedBytes, "allocated_bytes"),
        (Metric::ReservedBytes, "reserved_bytes"),
        (Metric::ActiveBytes, "active_bytes"),
        (Metric::InactiveSplitBytes, "inactive_split_bytes"),
        (Metric::RequestedBytes, "requested_bytes"),
    ];
}

/// A number that goes up and down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stat {
    /// As it is now.
    pub current: u64,
    /// The highest it was since the peaks were reset.
    pub peak: u64,
    /// All that was ever added.
    pub allocated: u64,
    /// All that was ever taken off.
    pub freed: u64,
}

impl Stat {
    pub(super) fn add(&mut self, amount: u64) {
        self.current += amount;
        self.allocated += amount;
        self.peak = self.peak.max(self.current);
    }

    pub(super) fn sub(&mut self, amount: u64) {
        self.current -= amount;
        self.freed += amount;
    }

    fn entries(&self) -> [(&'static str, u64); 4] {
        [
            ("current", self.current),
            ("peak", self.peak),
            ("allocated", self.allocated),
            ("freed", self.freed),
        ]
    }
}

/// Which blocks a number is about.
const POOLS: [&str; 3] = ["all", "small_pool", "large_pool"];

/// All numbers of one allocator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    by_metric: [[Stat; POOLS.len()]; Metric::ALL.len()],
    /// Blocks of tensors that are too large to be split.
    pub oversize_allocations: Stat,
    /// Segments that are too large to be split.
    pub oversize_segments: Stat,
    /// How often the whole cache was given back to serve a request.
    pub num_alloc_retries: u64,
    /// How often that did not help.
    pub num_ooms: u64,
    /// How often the allocator waited for all streams.
    pub num_sync_all_streams: u64,
    /// Calls of the driver's `alloc` that succeeded.
    pub num_device_alloc: u64,
    /// Calls of the driver's `free`.
    pub num_device_free: u64,
}

impl Stats {
    /// A number over both pools.
    pub fn of(&self, metric: Metric) -> Stat {
        self.by_metric[metric as usize][0]
    }

    pub(super) fn add(&mut self, metric: Metric, small: bool, amount: u64) {
        let [all, of_small, of_large] = &mut self.by_metric[metric as usize];
        all.add(amount);
        if small { of_small } else { of_large }.add(amount);
    }

    pub(super) fn sub(&mut self, metric: Metric, small: bool, amount: u64) {
        let [all, of_small, of_large] = &mut self.by_metric[metric as usize];
        all.sub(amount);
        if small { of_small } else { of_large }.sub(amount);
    }

    /// Adds what is positive and takes off what is negative, in one step.
    pub(super) fn change(&mut self, metric: Metric, small: bool, amount: i64) {
        match amount {
            0 => {}
            1.. => self.add(metric, small, amount as u64),
            _ => self.sub(metric, small, amount.unsigned_abs()),
        }
    }

    pub(super) fn reset_peaks(&mut self) {
        let stats = self.by_metric.as_flattened_mut().iter_mut();
        for stat in stats.chain([&mut self.oversize_allocations, &mut self.oversize_segments]) {
            stat.peak = stat.current;
        }
    }

    /// Every number under PyTorch's name for it, such as `allocated_bytes.all.current`.
    pub(in crate::memory) fn named(&self) -> BTreeMap<String, u64> {
        let mut named = BTreeMap::new();
        for ((_, metric), pools) in Metric::ALL.iter().zip(&self.by_metric) {
            for (pool, stat) in POOLS.iter().zip(pools) {
                let entries = stat.entries().into_iter();
                named.extend(entries.map(|(key, n)| (format!("{metric}.{pool}.{key}"), n)));
            }
        }
        let oversize = [
            ("oversize_allocations", &self.oversize_allocations),
            ("oversize_segments", &self.oversize_segments),
        ];
        for (name, stat) in oversize {
            named.extend(stat.entries().map(|(key, n)| (format!("{name}.{key}"), n)));
        }
        let counts = [
            ("num_alloc_retries", self.num_alloc_retries),
            ("num_ooms", self.num_ooms),
            ("num_sync_all_streams", self.num_sync_all_streams),
            ("num_device_alloc", self.num_device_alloc),
            ("num_device_free", self.num_device_free),
        ];
        named.extend(counts.map(|(name, n)| (name.to_string(), n)));
        named
    }
}
