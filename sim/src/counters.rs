//! What a launch counts: instructions, memory requests and sectors, conflicts, divergence.

use std::ops::AddAssign;

use crate::gpu::SECTOR;

/// What one launch did. Counts are of PTX instructions: `ptxas` unrolls, merges and deletes, so
/// they compare two kernels and are no counts of a chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Instructions, each counted once for every lane that executed it.
    pub lane_instructions: u64,
    /// Instructions, each counted once for a warp, even if a predicate switched all lanes off.
    pub warp_instructions: u64,
    /// Instructions of a warp that read global memory.
    pub global_load_requests: u64,
    /// Sectors of 32 bytes that these requests touched, counted once a request.
    pub global_load_sectors: u64,
    /// As many as they would touch if the bytes that each one asks for lay side by side.
    pub global_load_least: u64,
    /// Instructions of a warp that wrote global memory, atomics included.
    pub global_store_requests: u64,
    /// Sectors of 32 bytes that these requests touched, counted once a request.
    pub global_store_sectors: u64,
    /// As many as they would touch if the bytes that each one asks for lay side by side.
    pub global_store_least: u64,
    /// Instructions of a warp that read or wrote shared memory.
    pub shared_requests: u64,
    /// Passes over the banks beyond the first of each request: an n-way conflict counts n - 1.
    pub shared_bank_conflicts: u64,
    /// Branches of a warp after which its lanes went different ways.
    pub divergent_branches: u64,
    /// Floating-point operations of lanes: an addition is one, a fused multiply-add is two.
    pub flops: u64,
    /// Bytes between the *modelled* L2 cache and the GPU's memory; see [`crate::l2`].
    pub dram_bytes: u64,
}

impl Counters {
    /// Sectors of all requests to global memory: what L2 is asked for.
    pub fn global_sectors(&self) -> u64 {
        self.global_load_sectors + self.global_store_sectors
    }
}

impl AddAssign for Counters {
    fn add_assign(&mut self, other: Counters) {
        self.lane_instructions += other.lane_instructions;
        self.warp_instructions += other.warp_instructions;
        self.global_load_requests += other.global_load_requests;
        self.global_load_sectors += other.global_load_sectors;
        self.global_load_least += other.global_load_least;
        self.global_store_requests += other.global_store_requests;
        self.global_store_sectors += other.global_store_sectors;
        self.global_store_least += other.global_store_least;
        self.shared_requests += other.shared_requests;
        self.shared_bank_conflicts += other.shared_bank_conflicts;
        self.divergent_branches += other.divergent_branches;
        self.flops += other.flops;
        self.dram_bytes += other.dram_bytes;
    }
}

/// How often one instruction was executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Executed {
    /// By how many warps.
    pub warps: u64,
    /// By how many lanes.
    pub lanes: u64,
    /// As a branch: after how many of these the lanes went different ways.
    pub divergent: u64,
}

/// What one instruction moved between lanes and memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Requests to global memory.
    pub global: u64,
    /// Sectors of 32 bytes of these.
    pub sectors: u64,
    /// As many as these would touch if the bytes that each one asks for lay side by side.
    pub least: u64,
    /// Requests to shared memory.
    pub shared: u64,
    /// Passes over the banks beyond the first of each.
    pub conflicts: u64,
}

impl Traffic {
    /// Counts a request to global memory that touches so many sectors, and could do with `least`.
    #[inline(always)]
    pub fn count_global(&mut self, sectors: u64, least: u64) {
        self.global += 1;
        self.sectors += sectors;
        self.least += least;
    }

    /// Counts a request to shared memory with so many conflicts.
    #[inline(always)]
    pub fn count_shared(&mut self, conflicts: u64) {
        self.shared += 1;
        self.conflicts += conflicts;
    }
}

/// The sectors that a request of `bytes` bytes a lane would touch if these lay side by side. Lanes
/// with one address ask for the same bytes.
pub fn least_sectors(mut addresses: [u64; 32], bytes: u32) -> u64 {
    addresses.sort_unstable();
    let different = addresses.chunk_by(|a, b| a == b).count() as u64;
    (different * u64::from(bytes)).div_ceil(SECTOR)
}

/// Passes over the banks beyond the first, of a request of `bytes` bytes a lane by the lanes in
/// the mask. 32 banks of 4 bytes serve one word each in a pass, to any number of lanes (CUDA C++
/// Programming Guide, "Shared Memory" of compute capability 5.x, which 7.x and later follow);
/// requests of 8 and 16 bytes a lane are served by half and quarter warps.
pub fn conflicts(addresses: &[u64; 32], mask: u32, bytes: u32) -> u64 {
    let bounds = addresses.iter().fold((u64::MAX, 0), |(a, b), &at| (at.min(a), at.max(b)));
    let (first, last) = (bounds.0 >> 2, (bounds.1 + u64::from(bytes) - 1) >> 2);
    if last - first < 32 {
        return 0;
    }
    let words = bytes.div_ceil(4).max(1) as usize;
    let lanes = 32 / words.min(4);
    let mut extra = 0;
    for group in (0..32).step_by(lanes) {
        let of_group = (group..group + lanes).filter(|lane| mask >> lane & 1 != 0);
        let mut wanted = [0u64; 128];
        let mut count = 0;
        for lane in of_group {
            for word in 0..words {
                wanted[count] = (addresses[lane] >> 2) + word as u64;
                count += 1;
            }
        }
        extra += passes(&mut wanted[..count]).saturating_sub(1);
    }
    extra
}

/// How many different words the bank has to serve that has the most of them.
fn passes(words: &mut [u64]) -> u64 {
    words.sort_unstable();
    let mut banks = [0u64; 32];
    let mut last = None;
    for &word in words.iter() {
        if last != Some(word) {
            banks[(word % 32) as usize] += 1;
        }
        last = Some(word);
    }
    banks.into_iter().max().unwrap_or(0)
}

impl AddAssign for Executed {
    fn add_assign(&mut self, other: Executed) {
        self.warps += other.warps;
        self.lanes += other.lanes;
        self.divergent += other.divergent;
    }
}

impl AddAssign for Traffic {
    fn add_assign(&mut self, other: Traffic) {
        self.global += other.global;
        self.sectors += other.sectors;
        self.least += other.least;
        self.shared += other.shared;
        self.conflicts += other.conflicts;
    }
}
