//! How many blocks a multiprocessor holds, against the rules done by hand.

use engine_room_sim::gpu::Gpu;
use engine_room_sim::model::{Limit, Needs, Occupancy};

/// GPU, threads, bytes of shared memory, registers; blocks, warps, what sets the limit.
type Row = (Gpu, u32, u32, Option<u32>, u32, u32, Limit);

const ROWS: [Row; 13] = [
    (Gpu::T4, 256, 0, None, 4, 32, Limit::Threads),
    (Gpu::T4, 32, 0, None, 16, 16, Limit::Blocks),
    (Gpu::T4, 96, 0, None, 10, 30, Limit::Threads),
    (Gpu::T4, 128, 12 << 10, None, 5, 20, Limit::Shared),
    // 33 registers of 32 lanes are 1,056, as units of 256 1,280: 12 warps of each quarter, 48 in
    // all, of which a block takes 32.
    (Gpu::T4, 1024, 0, Some(33), 1, 32, Limit::Threads),
    (Gpu::A100, 1024, 0, Some(33), 1, 32, Limit::Registers),
    // 1,280 again: 48 warps, of which a block takes 8.
    (Gpu::A100, 256, 0, Some(40), 6, 48, Limit::Registers),
    (Gpu::A100, 256, 0, Some(128), 2, 16, Limit::Registers),
    (Gpu::A100, 256, 0, Some(32), 8, 64, Limit::Threads),
    (Gpu::A100, 64, 0, None, 32, 64, Limit::Threads),
    // 48 KiB and 1 KiB of the system's go three times into 164.
    (Gpu::A100, 128, 48 << 10, None, 3, 12, Limit::Shared),
    (Gpu::H100, 512, 227 << 10, None, 1, 16, Limit::Shared),
    // Half a warp takes a whole one.
    (Gpu::H200, 48, 0, None, 32, 64, Limit::Threads),
];

#[test]
fn blocks_of_a_multiprocessor() {
    for (gpu, threads, shared, registers, blocks, warps, limit) in ROWS {
        let each = gpu.figures().multiprocessor;
        let found = Occupancy::of(each, Needs { threads, shared, registers });
        let found = (found.blocks, found.warps, found.limit);
        assert_eq!(found, (blocks, warps, limit), "{gpu}, {threads} threads, {registers:?}");
    }
}

#[test]
fn clocks_give_the_peak_of_the_data_sheet() {
    let peaks = [(Gpu::T4, 8.1), (Gpu::A100, 19.5), (Gpu::H100, 67.0), (Gpu::H200, 67.0)];
    for (gpu, tflops) in peaks {
        let figures = gpu.figures();
        let lanes = figures.multiprocessors * figures.multiprocessor.rates.single;
        let peak = 2.0 * f64::from(lanes) * figures.clock as f64 / 1e12;
        assert!((peak / tflops - 1.0).abs() < 0.01, "{gpu}: {peak} instead of {tflops}");
    }
}
