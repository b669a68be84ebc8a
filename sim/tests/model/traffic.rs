//! Bytes between the L2 cache and the GPU's memory, counted by hand. A T4 has 4 MiB of L2.

use engine_room_sim::exec::Options;
use engine_room_sim::gpu::Gpu;

use crate::rig::{BLOCK, Rig};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Runs a kernel of 64 blocks when all that is live fits into the cache, and when it does not but
/// what the kernel touches does: the traffic must be the same.
fn expect(kernel: &str, buffers: &[u64], numbers: &[i32], bytes: u64) {
    let mut rig = Rig::new(Gpu::T4, buffers);
    assert_eq!(rig.line(kernel, 64, numbers).counters.dram_bytes, bytes, "{kernel} {numbers:?}");
    rig.crowd(64 * MIB);
    let crowded = rig.line(kernel, 64, numbers).counters.dram_bytes;
    assert_eq!(crowded, bytes, "{kernel} {numbers:?}, in sets");
}

#[test]
fn a_copy_reads_and_writes_each_sector_once() {
    expect("copy", &[64 * KIB; 2], &[], 2 * 64 * KIB);
}

#[test]
fn a_stride_moves_whole_sectors() {
    // 16,384 numbers: two of a sector, one of a sector, and one of every fourth sector.
    expect("stride", &[128 * KIB; 2], &[2], 2 * 128 * KIB);
    expect("stride", &[512 * KIB; 2], &[8], 2 * 512 * KIB);
    expect("stride", &[2 * MIB - 4 * KIB; 1].repeat(2), &[31], 2 * 16_384 * 32);
}

#[test]
fn a_sum_reads_all_and_writes_little() {
    expect("reduce", &[64 * KIB, 256], &[], 64 * KIB + 256);
}

#[test]
fn what_is_changed_in_place_is_read_and_written() {
    expect("bump", &[64 * KIB], &[], 2 * 64 * KIB);
}

#[test]
fn what_is_stored_first_is_not_read() {
    expect("pass_on", &[64 * KIB], &[], 64 * KIB);
}

#[test]
fn atomic_operations_work_in_the_cache() {
    // 16,384 additions to the eight numbers of one sector: read once, written back once.
    expect("count", &[32], &[], 2 * 32);
}

#[test]
fn what_fits_is_read_once_however_often_it_is_used() {
    let count = (MIB / 4) as i32;
    expect("again", &[MIB, 64 * KIB], &[count / 4, 2], MIB / 4 + 64 * KIB);
}

#[test]
fn what_does_not_fit_is_read_each_time() {
    let rig = Rig::new(Gpu::T4, &[8 * MIB, KIB]);
    for rounds in [1, 2, 3] {
        let report = rig.line("again", 1, &[(2 * MIB) as i32, rounds]);
        // 8 MiB again and again: each line makes way before it is needed the next time.
        let bytes = 8 * MIB * rounds as u64 + KIB;
        assert_eq!(report.counters.dram_bytes, bytes, "{rounds} rounds");
    }
    let fits = Rig::new(Gpu::A100, &[8 * MIB, KIB]);
    let report = fits.line("again", 1, &[(2 * MIB) as i32, 3]);
    assert_eq!(report.counters.dram_bytes, 8 * MIB + KIB, "an A100 has 40 MiB of L2");
}

#[test]
fn blocks_of_a_wave_share_what_they_read_at_the_same_time() {
    let rig = Rig::new(Gpu::T4, &[8 * MIB, 4 * KIB]);
    // Four blocks walk side by side; one reads and the others find it.
    let report = rig.line("again", 4, &[(2 * MIB) as i32, 1]);
    assert_eq!(report.counters.dram_bytes, 8 * MIB + 4 * KIB);
}

#[test]
fn what_makes_way_is_written_back_once() {
    let rig = Rig::new(Gpu::T4, &[16 * MIB]);
    let report = rig.line("bump", (4 * MIB) as u32 / BLOCK, &[]);
    assert_eq!(report.counters.dram_bytes, 2 * 16 * MIB);
}

#[test]
fn host_threads_and_seeds_change_nothing() {
    /// A kernel, its buffers' bytes, grid, block, numbers.
    type Case = (&'static str, &'static [u64], [u32; 2], [u32; 2], &'static [i32]);
    let cases: [Case; 4] = [
        ("again", &[6 * MIB, 128 * KIB], [128, 1], [256, 1], &[100_000, 2]),
        ("pass_on", &[8 * MIB], [1024, 1], [256, 1], &[]),
        ("matmul_tiled", &[MIB; 3], [32, 32], [16, 16], &[512]),
        ("turn_padded", &[4 * MIB; 2], [32, 32], [32, 8], &[1024]),
    ];
    for (kernel, buffers, grid, block, numbers) in cases {
        let mut rig = Rig::new(Gpu::T4, buffers);
        for crowd in [0, 64 * MIB] {
            rig.crowd(crowd);
            let counted = |threads, seed| {
                let options = Options { threads, seed, ..Options::default() };
                let report = rig.run_with(kernel, grid, block, numbers, &options);
                (report.counters, report.modelled_ns)
            };
            let first = counted(1, 0);
            for (threads, seed) in [(2, 0), (4, 0), (1, 1), (2, 2), (4, 3)] {
                let again = counted(threads, seed);
                assert_eq!(again, first, "{kernel}: {threads} host threads, seed {seed}");
            }
        }
    }
}
