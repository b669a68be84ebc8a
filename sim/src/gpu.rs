//! The GPUs that can be simulated: what their makers and users have published of them.
//!
//! Every figure has its source beside it; where there is none, the formula and what it rests on.
//! They are round numbers of one machine each. Yours differs: that is why results are *modelled*.

use std::fmt;

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
/// "roughly 12 GB/s" of PCIe x16 Gen3.
static T4: Figures = Figures {
    name: "T4",
    capacity: 16 << 30,
    pcie: 3,
    pinned: 12_000_000_000,
    memory: 320_000_000_000,
    shared_per_block: 64 << 10,
    multiprocessors: 40,
};

/// 80 GB and 2,039 GB/s: NVIDIA A100 data sheet. Pinned: 26.28 GB/s to the device in Azure's AI
/// benchmarking guide (ND A100 v4), and 26.2 both ways at Princeton
/// (github.com/jdh4/della-gpu-A100).
static A100: Figures = Figures {
    name: "A100",
    capacity: 80 << 30,
    pcie: 4,
    pinned: 26_200_000_000,
    memory: 2_039_000_000_000,
    shared_per_block: 163 << 10,
    multiprocessors: 108,
};

/// 80 GB and 3.35 TB/s: NVIDIA H100 data sheet. Pinned: 51 GB/s to the device and 52 back in
/// Azure's AI benchmarking guide (ND H100 v5, nvbandwidth; a copy of it is at
/// github.com/samuel-bohman/AI-benchmarking-guide); the lower one.
static H100: Figures = Figures {
    name: "H100",
    capacity: 80 << 30,
    pcie: 5,
    pinned: 51_000_000_000,
    memory: 3_350_000_000_000,
    shared_per_block: 227 << 10,
    multiprocessors: 132,
};

/// 141 GB and 4.8 TB/s: NVIDIA H200 data sheet. Pinned: 52 GB/s both ways in Azure's AI
/// benchmarking guide (ND H200 v5, nvbandwidth).
static H200: Figures = Figures {
    name: "H200",
    capacity: 141 << 30,
    pcie: 5,
    pinned: 52_000_000_000,
    memory: 4_800_000_000_000,
    shared_per_block: 227 << 10,
    multiprocessors: 132,
};
