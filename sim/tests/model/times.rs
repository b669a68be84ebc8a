//! Modelled times against a reckoning from the published figures, and in the order that a reader
//! expects.

use engine_room_sim::exec::Options;
use engine_room_sim::gpu::{Figures, Gpu, LATENCY};
use engine_room_sim::model::Part;

use crate::rig::{BLOCK, Rig};

const MIB: u64 = 1 << 20;

/// The time must be the one that is reckoned, or up to `above` times that.
fn near(ns: u64, reckoned: f64, above: f64, what: &str) {
    let ratio = ns as f64 / reckoned;
    assert!((1.0..=above).contains(&(ratio + 1e-6)), "{what}: {ns} ns, reckoned {reckoned} ns");
}

#[test]
fn a_long_copy_takes_its_bytes_over_the_bandwidth() {
    for gpu in Gpu::ALL {
        let rig = Rig::new(gpu, &[64 * MIB; 2]);
        let report = rig.line("copy", (16 * MIB) as u32 / BLOCK, &[]);
        let bytes = 128.0 * MIB as f64;
        near(report.modelled_ns, bytes * 1e9 / rig.figures().memory as f64, 1.001, gpu.name());
        assert_eq!(report.model.parts[0].0, Part::Memory);
    }
}

/// Multiply-adds of a thread in `chains_*` in so many rounds, and those that sum up.
fn multiply_adds(rounds: u64) -> f64 {
    (rounds * 16 * 8) as f64
}

/// Nanoseconds that multiprocessors with so many lanes take for a number of operations.
fn of_lanes(figures: &Figures, operations: f64, lanes: u32) -> f64 {
    let lanes = f64::from(figures.multiprocessors * lanes);
    operations * 1e9 / (lanes * figures.clock as f64)
}

#[test]
fn arithmetic_takes_its_operations_over_the_lanes() {
    let rounds = 12;
    for gpu in Gpu::ALL {
        let figures = gpu.figures();
        let blocks = 4 * figures.multiprocessors;
        let rig = Rig::new(gpu, &[u64::from(blocks * BLOCK) * 8]);
        let rates = figures.multiprocessor.rates;
        for (kernel, lanes) in [("chains_f32", rates.single), ("chains_f64", rates.double)] {
            let report = rig.line(kernel, blocks, &[rounds as i32]);
            let operations = f64::from(blocks * BLOCK) * multiply_adds(rounds);
            let reckoned = of_lanes(figures, operations, lanes);
            near(report.modelled_ns, reckoned, 1.05, &format!("{kernel} on {gpu}"));
        }
    }
}

#[test]
fn one_block_more_than_multiprocessors_takes_twice_as_long() {
    let rig = Rig::new(Gpu::A100, &[MIB]);
    let time = |blocks| rig.line("chains_f32", blocks, &[40]).modelled_ns;
    let (few, all, more) = (time(54), time(108), time(109));
    assert!(all.abs_diff(few) <= 1, "{few} ns on a half of the multiprocessors, {all} on all");
    assert!(more.abs_diff(2 * all) <= 2, "{all} ns of 108 blocks, {more} of 109");
    let waves = |blocks| rig.line("chains_f32", blocks, &[1]).model.waves;
    // 2,048 threads of 256 are 8 blocks.
    assert_eq!([waves(1), waves(8 * 108), waves(8 * 108 + 1)], [1, 1, 2]);
}

#[test]
fn loads_that_need_each_other_take_their_latency() {
    for gpu in Gpu::ALL {
        let rig = Rig::new(gpu, &[128, 128]);
        let report = rig.run("walk", [1, 1], [32, 1], &[4000]);
        let clock = rig.figures().clock as f64;
        let reckoned = 4000.0 * LATENCY.l2 as f64 * 1e9 / clock;
        // Between two loads an address is made: a multiplication and an addition.
        near(report.modelled_ns, reckoned, 1.06, gpu.name());
        assert_eq!(report.model.parts[0].0, Part::Latency);
    }
}

#[test]
fn strides_cost_sectors() {
    for gpu in Gpu::ALL {
        let rig = Rig::new(gpu, &[32 * MIB; 2]);
        let times = [1, 2, 4, 8].map(|stride| rig.line("stride", 4096, &[stride]).modelled_ns);
        assert!(times.is_sorted_by(|a, b| a < b), "{gpu}: {times:?}");
        assert!(times[3] > 6 * times[0], "{gpu}: {times:?}");
    }
}

#[test]
fn conflicts_cost_passes() {
    let n = 512;
    for gpu in Gpu::ALL {
        let rig = Rig::new(gpu, &[MIB; 2]);
        let [with, without] = ["turn_conflicts", "turn_padded"].map(|kernel| {
            let report = rig.run(kernel, [n / 32; 2], [32, 8], &[n as i32]);
            let passes = report.model.parts.iter().find(|part| part.0 == Part::Transfers);
            (passes.expect("loads and stores").1, report.modelled_ns)
        });
        // 32 lines are read by columns of 32 numbers: 32 passes and three more to load and store.
        assert!(with.0 > 8.0 * without.0, "{gpu}: {with:?}, {without:?}");
        // A T4's memory is slow enough to hide even that.
        assert!(with.1 > without.1 || gpu == Gpu::T4, "{gpu}: {with:?}, {without:?}");
    }
}

#[test]
fn tiles_beat_the_naive_product_and_registers_beat_tiles() {
    let n = 512;
    for gpu in Gpu::ALL {
        let rig = Rig::new(gpu, &[MIB; 3]);
        let time = |kernel, tile: u32, threads: u32| {
            rig.run(kernel, [n / tile; 2], [threads; 2], &[n as i32]).modelled_ns as f64
        };
        let naive = time("matmul_naive", 16, 16);
        let (tiled, registers) = (time("matmul_tiled", 16, 16), time("matmul_registers", 32, 8));
        println!("{gpu}: naive {naive} ns, tiled {tiled} ns, registers {registers} ns");
        assert!(tiled < naive && registers <= 0.35 * naive, "{gpu}");
        assert!(registers < 0.7 * tiled, "{gpu}");
    }
}

#[test]
fn registers_that_leave_room_for_half_the_warps_cost_time() {
    let threads = u64::from(2 * 108 * 1024_u32);
    let rig = Rig::new(Gpu::A100, &[4 * threads; 2]);
    let walk = |registers| {
        let options = Options { registers, ..Options::default() };
        let report = rig.run_with("walk", [2 * 108, 1], [1024, 1], &[30], &options);
        assert_eq!(report.model.occupancy.registers_known, registers.is_some());
        let latency = report.model.parts.iter().find(|part| part.0 == Part::Latency);
        (report.model.occupancy.blocks, report.model.waves, latency.expect("latency").1)
    };
    let (unknown, few, many) = (walk(None), walk(Some(32)), walk(Some(64)));
    assert_eq!(unknown, few);
    assert_eq!((few.0, few.1, many.0, many.1), (2, 1, 1, 2));
    assert_eq!(many.2, 2.0 * few.2);
}
