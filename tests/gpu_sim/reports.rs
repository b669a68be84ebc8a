//! Counters, tables, lists of kernels, comparisons.

use serde_json::json;

use crate::{Scratch, clean, gpu_sim, run, text};

const COUNTERS: [&str; 10] = [
    "lane_instructions",
    "warp_instructions",
    "global_load_requests",
    "global_load_sectors",
    "global_store_requests",
    "global_store_sectors",
    "shared_bank_conflicts",
    "divergent_branches",
    "flops",
    "dram_bytes",
];

#[test]
fn a_document_has_all_its_keys_in_their_order() {
    let done = run("--kernel hello --arg f32=1 --json");
    let shown = text(&done);
    let keys = ["kernel", "gpu", "outputs", "errors", "stdout", "counters"];
    let mut at = 0;
    for key in keys.iter().chain(&COUNTERS).chain(&["modelled_ns", "host_seconds"]) {
        let found = shown[at..].find(&format!("\"{key}\":"));
        at += found.unwrap_or_else(|| panic!("`{key}` is missing, or out of order: {shown}"));
    }
}

#[test]
fn coalesced_reads_take_four_sectors_a_warp() {
    let words = "--kernel add --grid 2 --block 64 --arg f32[128]=iota --arg f32[128]=ones \
                 --arg f32[128]=zeros";
    let counters = &clean(words)["counters"];
    // Four warps read two vectors: a request each of 32 lanes x 4 bytes, which are 4 sectors.
    assert_eq!(counters["global_load_requests"], 8);
    assert_eq!(counters["global_load_sectors"], 32);
    assert_eq!(counters["global_store_requests"], 4);
    assert_eq!(counters["global_store_sectors"], 16);
    assert_eq!(counters["flops"], 128);
    // Two vectors are read and one is written.
    assert_eq!(counters["dram_bytes"], 3 * 128 * 4);
}

#[test]
fn a_conflict_of_n_ways_counts_n_minus_one() {
    for (columns, conflicts) in [(1, 0), (2, 1), (8, 7), (32, 31), (33, 0)] {
        let words = format!(
            "--kernel turn --block 32 --shared 5000 --arg f32[32]=iota --arg f32[32]=zeros \
             --arg i32={columns}"
        );
        // One request writes the tile and one reads it.
        let counted = &clean(&words)["counters"]["shared_bank_conflicts"];
        assert_eq!(*counted, json!(2 * conflicts), "{columns} columns");
    }
}

#[test]
fn a_time_is_that_of_the_slowest_part() {
    let words = "--kernel add --grid 64 --block 256 --registers 40 --arg f32[16384]=iota \
                 --arg f32[16384]=ones --arg f32[16384]=zeros";
    let document = clean(words);
    let model = &document["model"];
    // 40 registers leave an A100 room for 48 warps, six blocks; 64 blocks are one wave.
    let held = [&model["blocks_per_multiprocessor"], &model["warps_per_multiprocessor"]];
    assert_eq!(held, [&json!(6), &json!(48)]);
    assert_eq!(model["waves"], 1);
    let parts = model["parts"].as_object().expect("parts");
    let longest = parts.values().filter_map(serde_json::Value::as_f64).fold(0.0, f64::max);
    assert_eq!(document["modelled_ns"], longest.ceil() as u64);
    // 192 KiB at 2,039 GB/s.
    let dram = parts["dram"].as_f64().expect("a number");
    assert!((dram - 96.424).abs() < 0.01, "{dram}");
}

#[test]
fn what_the_kernel_prints() {
    let document = clean("--kernel hello --block 3 --arg f32=2.5");
    assert_eq!(document["stdout"], "thread 0: 2.50%\nthread 1: 2.50%\nthread 2: 2.50%\n");
    let shown = text(&run("--kernel hello --block 2 --arg f32=2.5"));
    assert!(
        shown.contains("Printed by the kernel:\nthread 0: 2.50%\nthread 1: 2.50%\n"),
        "{shown}"
    );
}

#[test]
fn the_report_is_a_table_and_a_listing() {
    let done = run("--kernel add --grid 2 --block 32 --arg f32[48]=iota --arg f32[64]=ones \
                    --arg f32[64]=zeros");
    assert_eq!(done.status.code(), Some(1));
    let shown = text(&done);
    assert!(
        shown.starts_with(
            "add on a simulated A100: 2 x 1 x 1 blocks of 32 x 1 x 1 threads: 1 finding"
        )
    );
    assert!(shown.contains("\nout_of_bounds at kernels.cu:"), "{shown}");
    assert!(shown.contains("block (1, 0, 0), thread (16, 0, 0), the first of 16"), "{shown}");
    assert!(shown.contains("| lane_instructions "), "{shown}");
    assert!(shown.contains("z[i] = x[i] + y[i];"), "the listing has the source: {shown}");
    assert!(shown.contains("\nModelled time on the A100: "), "{shown}");
    assert!(shown.contains("| latency "), "{shown}");
    assert!(
        shown.contains(
            "\nBound by latency. Each multiprocessor has room for 32 blocks, 32 of 64 warps, \
             limited by blocks; registers are not known (--registers) and set no limit: 1 wave of blocks."
        ),
        "{shown}"
    );
}

#[test]
fn kernels_are_listed() {
    let done = gpu_sim("ptx kernels.ptx");
    assert_eq!(done.status.code(), Some(0));
    let shown = text(&done);
    let blocks: Vec<&str> = shown.split("\n\n").collect();
    let block = |name: &str| *blocks.iter().find(|block| block.starts_with(name)).expect(name);
    assert!(block("evaluate\n").contains("b8[16] |              0 |           16"), "{shown}");
    assert!(block("large\n").contains("shared memory: 240000 bytes\n"), "{shown}");
    assert!(
        block("turn\n").contains("shared memory: 0 bytes, and what --shared says\n"),
        "{shown}"
    );
}

#[test]
fn kernels_have_the_names_of_the_source() {
    let kernel = &clean("--kernel plain --block 4 --arg i32[4]=zeros")["kernel"];
    assert_eq!(kernel, "_Z5plainPi");
    let float = "--kernel _ZN5inner5twiceIfEEvPT_ --block 2 --arg f32[2]=iota";
    assert_eq!(clean(float)["outputs"][0]["values"], json!([0.0, 2.0]));
}

#[test]
fn two_runs_side_by_side() {
    let turn = |columns: u32| {
        text(&run(&format!(
            "--kernel turn --block 32 --shared 5000 --arg f32[32]=iota --arg f32[32]=zeros \
             --arg i32={columns} --json"
        )))
    };
    let slow = Scratch::new("slow.json", turn(32).as_bytes());
    let fast = Scratch::new("fast.json", turn(33).as_bytes());
    let done = gpu_sim(&format!("compare {} {}", slow.0.display(), fast.0.display()));
    assert_eq!(done.status.code(), Some(0));
    let shown = text(&done);
    let row = shown.lines().find(|line| line.contains("shared_bank_conflicts")).expect("a row");
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    assert_eq!(cells[2..5], ["62", "0", "0x"]);
    for name in ["modelled_ns", "load_store ns", "waves"] {
        assert!(shown.contains(&format!("| {name} ")), "{shown}");
    }
}
