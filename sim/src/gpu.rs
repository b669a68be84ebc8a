//! The GPUs that can be simulated: what their makers and users have published of them.
//!
//! Every figure has its source beside it; where there is none, the formula and what it rests on.
//! They are round numbers of one machine each. Yours differs: that is why results are *modelled*.

mod multiprocessor;

use std::fmt;

pub use multiprocessor::{Multiprocessor, Rates};

/// A GPU by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Gpu {
    /// NVIDIA T4, the one of free notebooks (compute capability 7.5).
    #[default]
    T4,
    /// NVIDIA A100 SXM4, 80 GB (8.0).
    A100,
    /// NVIDIA H100 SXM5, 80 GB (9.0).
    H100,
    /// NVIDIA H200 SXM5, 141 GB (9.0).
    H200,
}

impl Gpu {
    /// Every GPU.
    pub const ALL: [Gpu; 4] = [Gpu::T4, Gpu::A100, Gpu::H100, Gpu::H200];

    /// The name as in tables: `A100`.
    pub fn name(self) -> &'static str {
        self.figures().name
    }

    /// What is published of it.
    pub fn figures(self) -> &'static Figures {
        match self {
            Gpu::T4 => &T4,
            Gpu::A100 => &A100,
            Gpu::H100 => &H100,
            Gpu::H200 => &H200,
        }
    }
}

impl fmt::Display for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What is known of a GPU. Bandwidths are in bytes per second, times in nanoseconds.
#[derive(Debug, PartialEq, Eq)]
pub struct Figures {
    /// The name in tables.
    pub name: &'static str,
    /// Bytes of memory: the data sheet's GB read as GiB, since that is what a driver shows, less a
    /// reserve (deviceQuery: 15.8e9 bytes on a T4 of "16 GB", 85.2e9 on an A100 of "80 GB").
    pub capacity: u64,
    /// Generation of PCI Express, always with 16 lanes. Data sheets.
    pub pcie: u32,
    /// One way between *pinned* host memory and the device, large copies.
    pub pinned: u64,
    /// Reading and writing the device's memory. Data sheets.
    pub memory: u64,
    /// Bytes of shared memory that one block may ask for: the CUDA C++ Programming Guide, table
    /// "Technical Specifications per Compute Capability".
    pub shared_per_block: u32,
    /// Streaming multiprocessors: NVIDIA's data sheets and architecture white papers.
    pub multiprocessors: u32,
    /// What each of them has.
    pub multiprocessor: &'static Multiprocessor,
    /// Clocks a second: the boost clock. It is the one that the data sheet's peak of f32 operations
    /// is counted with: two (a fused multiply-add) a lane and clock.
    pub clock: u64,
    /// Bytes of the L2 cache: data sheets and white papers.
    pub l2_bytes: u64,
    /// Reading and writing the L2 cache, all multiprocessors together.
    pub l2: u64,
}

/// Bytes of a sector: what a cache asks memory for (Nsight Compute documentation, "Memory Tables").
pub const SECTOR: u64 = 32;

/// Sectors of a line of the L2 cache, which has 128 bytes (as above).
pub const LINE_SECTORS: u64 = 4;

/// Lines that may share a set of the L2 cache: measured on a V100 by Jia et al., "Dissecting the
/// NVIDIA Volta GPU Architecture via Microbenchmarking", arXiv 1804.06826; taken for all GPUs.
pub const L2_WAYS: usize = 16;

/// Bytes a clock that one multiprocessor can get from the L2 cache: two sectors. NVIDIA's tools
/// show this width and nothing in print does; it only matters if few multiprocessors have work.
pub const L2_PORT: u64 = 64;

/// From an instruction to the first one that can use its result, in clocks: an arithmetic one, a
/// load from shared memory, from L2, and from the GPU's memory. Round figures for Volta, Ampere and
/// Hopper alike in table 3 of doi.org/10.1016/j.ultsonch.2023.106546; taken for all GPUs.
/// Measured ones differ by up to a third.
pub const LATENCY: Latency = Latency { arithmetic: 4, shared: 20, l2: 200, memory: 400 };

/// Clocks from an instruction to the first one that can use its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Latency {
    /// Of arithmetic.
    pub arithmetic: u64,
    /// Of a load from shared memory.
    pub shared: u64,
    /// Of a load that L2 has.
    pub l2: u64,
    /// Of a load that has to go to the GPU's memory.
    pub memory: u64,
}

/// What one call to copy keeps the host busy: 5 to 7 us for `cudaMemcpyAsync`, measured by Wu et
/// al., "DualPath", arXiv 2602.21548, section 5.2; taken for all GPUs.
pub const COPY_CALL: u64 = 6_000;

/// From the start of a copy to its first byte. A small blocking copy takes about 10 us in all
/// (M. Boyer, "Memory Transfer Overhead", University of Virginia; a GTX 280), of which the call
/// takes [`COPY_CALL`].
pub const COPY_LATENCY: u64 = 4_000;

/// What one kernel launch keeps the host busy: about 3 us for an empty kernel on recent hardware
/// (NVIDIA developer forum 233645); the 5 to 20 us of a framework's launch (Holistic Trace
/// Analysis, documentation) include more than the driver.
pub const LAUNCH: u64 = 3_000;

/// From the end of the call that launches a kernel to its first instruction, if nothing else is in
/// the way. An empty kernel takes 6.6 us if the host waits for each, and 2.2 us if it does not
/// (reference values of github.com/reframe-hpc/reframe, `kernel_latency.py`; a P100 at CSCS): the
/// difference, in which the host's return from waiting is hidden; taken for all GPUs.
pub const LAUNCH_LATENCY: u64 = 4_400;

/// What asking whether an event is done keeps the host busy. Nothing is published; assumed, so
/// that a loop that asks until it is done comes to an end.
pub const QUERY: u64 = 1_000;

/// How fast the host copies between pageable memory and the staging buffer, in bytes per second.
/// A pageable copy goes through both, one after the other: 1/pageable = 1/staging + 1/pinned.
/// Solved for the DGX A100 of github.com/gengwg/gpu (`bandwidthTest`: pageable 10.0 GB/s, pinned
/// 25.7) and taken for all. NVIDIA's "How to Optimize Data Transfers in CUDA C/C++" has 2.3
/// beside 5.8 GB/s on a laptop and 5.4 beside 6.2 on a desktop: it depends on the host.
pub const STAGING: u64 = 16_400_000_000;

/// The staging buffer. The CUDA C++ Programming Guide says that a copy of 64 KB or less from
/// pageable memory returns before it has reached the device; so that much is staged at a time.
pub const STAGING_BUFFER: u64 = 64 << 10;

/// 16 GB and 320 GB/s: NVIDIA T4 data sheet. Pinned: the CUDA C++ Best Practices Guide expects
/// "roughly 12 GB/s" of PCIe x16 Gen3. Clock: 8.1 TFLOPS of the data sheet. L2: 4 MB (Turing white
/// paper, TU104), read at 1,270 GB/s in Jia et al., "Dissecting the NVidia Turing T4 GPU via
/// Microbenchmarking", arXiv 1903.07486.
static T4: Figures = Figures {
    name: "T4",
    capacity: 16 << 30,
    pcie: 3,
    pinned: 12_000_000_000,
    memory: 320_000_000_000,
    shared_per_block: 64 << 10,
    multiprocessors: 40,
    multiprocessor: &multiprocessor::TURING,
    clock: 1_590_000_000,
    l2_bytes: 4 << 20,
    l2: 1_270_000_000_000,
};

/// 80 GB and 2,039 GB/s: NVIDIA A100 data sheet. Pinned: 26.28 GB/s to the device in Azure's AI
/// benchmarking guide (ND A100 v4), and 26.2 both ways at Princeton
/// (github.com/jdh4/della-gpu-A100). Clock: 19.5 TFLOPS. L2: 40 MB and 5,120 bytes a clock (A100
/// white paper), at this clock 7,219 GB/s, as in the source of [`LATENCY`].
static A100: Figures = Figures {
    name: "A100",
    capacity: 80 << 30,
    pcie: 4,
    pinned: 26_200_000_000,
    memory: 2_039_000_000_000,
    shared_per_block: 163 << 10,
    multiprocessors: 108,
    multiprocessor: &multiprocessor::AMPERE,
    clock: 1_410_000_000,
    l2_bytes: 40 << 20,
    l2: 7_219_000_000_000,
};

/// 80 GB and 3.35 TB/s: NVIDIA H100 data sheet. Pinned: 51 GB/s to the device and 52 back in
/// Azure's AI benchmarking guide (ND H100 v5, nvbandwidth; a copy of it is at
/// github.com/samuel-bohman/AI-benchmarking-guide); the lower one. Clock: 67 TFLOPS. L2: 50 MB
/// (H100 white paper) and 8,986 GB/s (the source of [`LATENCY`]).
static H100: Figures = Figures {
    name: "H100",
    capacity: 80 << 30,
    pcie: 5,
    pinned: 51_000_000_000,
    memory: 3_350_000_000_000,
    shared_per_block: 227 << 10,
    multiprocessors: 132,
    multiprocessor: &multiprocessor::HOPPER,
    clock: 1_980_000_000,
    l2_bytes: 50 << 20,
    l2: 8_986_000_000_000,
};

/// 141 GB and 4.8 TB/s: NVIDIA H200 data sheet. Pinned: 52 GB/s both ways in Azure's AI
/// benchmarking guide (ND H200 v5, nvbandwidth). The chip is that of the H100.
static H200: Figures = Figures {
    name: "H200",
    capacity: 141 << 30,
    pcie: 5,
    pinned: 52_000_000_000,
    memory: 4_800_000_000_000,
    shared_per_block: 227 << 10,
    multiprocessors: 132,
    multiprocessor: &multiprocessor::HOPPER,
    clock: 1_980_000_000,
    l2_bytes: 50 << 20,
    l2: 8_986_000_000_000,
};
