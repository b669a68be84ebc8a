//! What a streaming multiprocessor has: room for blocks and warps, and lanes of each kind.

/// A multiprocessor of one generation. How much it has room for is from the CUDA C++ Programming
/// Guide, "Technical Specifications per Compute Capability"; how it is handed out, from NVIDIA's
/// occupancy calculator (`cuda_occupancy.h` of the toolkit).
#[derive(Debug, PartialEq, Eq)]
pub struct Multiprocessor {
    /// Threads that it has room for.
    pub threads: u32,
    /// Blocks that it has room for.
    pub blocks: u32,
    /// Registers of 32 bits.
    pub registers: u32,
    /// A warp gets a multiple of so many of them.
    pub register_unit: u32,
    /// Bytes of shared memory, those that blocks cannot use included.
    pub shared: u32,
    /// Bytes of it that the system takes for each block.
    pub shared_reserved: u32,
    /// A block gets a multiple of so many.
    pub shared_unit: u32,
    /// Schedulers, each of which issues one instruction of one of its warps in a clock (as above,
    /// "Compute Capability" chapters).
    pub schedulers: u32,
    /// Bytes of shared memory that move in a clock: 32 banks of 4 bytes.
    pub shared_bytes_per_clock: u32,
    /// How many lanes finish an instruction in a clock.
    pub rates: Rates,
}

/// How many lanes of a multiprocessor finish an instruction of each class in a clock: the CUDA C++
/// Programming Guide, "Arithmetic Instructions", table "Throughput of Native Arithmetic
/// Instructions".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rates {
    /// f32: add, multiply, multiply-add.
    pub single: u32,
    /// f16 and bf16, of which a pair counts as one: half of what the table has for single ones.
    pub half: u32,
    /// f64: add, multiply, multiply-add.
    pub double: u32,
    /// Integers of 32 bits, comparisons, logic, shifts; those of 64 bits take two turns.
    pub integer: u32,
    /// Reciprocals, roots, powers, logarithms, sines; population counts and the like.
    pub special: u32,
    /// Conversions between types.
    pub convert: u32,
    /// Exchanges between the lanes of a warp.
    pub exchange: u32,
}

/// Compute capability 7.5.
pub(super) static TURING: Multiprocessor = Multiprocessor {
    threads: 1024,
    blocks: 16,
    registers: 65_536,
    register_unit: 256,
    shared: 64 << 10,
    shared_reserved: 0,
    shared_unit: 256,
    schedulers: 4,
    shared_bytes_per_clock: 128,
    rates: Rates {
        single: 64,
        half: 64,
        double: 2,
        integer: 64,
        special: 16,
        convert: 16,
        exchange: 32,
    },
};

/// Compute capability 8.0.
pub(super) static AMPERE: Multiprocessor = Multiprocessor {
    threads: 2048,
    blocks: 32,
    registers: 65_536,
    register_unit: 256,
    shared: 164 << 10,
    shared_reserved: 1 << 10,
    shared_unit: 128,
    schedulers: 4,
    shared_bytes_per_clock: 128,
    rates: Rates {
        single: 64,
        half: 128,
        double: 32,
        integer: 64,
        special: 16,
        convert: 16,
        exchange: 32,
    },
};

/// Compute capability 9.0.
pub(super) static HOPPER: Multiprocessor = Multiprocessor {
    threads: 2048,
    blocks: 32,
    registers: 65_536,
    register_unit: 256,
    shared: 228 << 10,
    shared_reserved: 1 << 10,
    shared_unit: 128,
    schedulers: 4,
    shared_bytes_per_clock: 128,
    rates: Rates {
        single: 128,
        half: 128,
        double: 64,
        integer: 64,
        special: 16,
        convert: 64,
        exchange: 32,
    },
};
