//! `memory_stats` and `memory_summary`: the allocator's numbers by name, and as a table.
//!
//! The table is PyTorch's, with its rounding (2.9.1, `torch/cuda/memory.py`).

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::device::Device;
use crate::memory::device::allocator;

/// The rows of the table: the metric, the words for it, and whether it counts bytes.
const ROWS: [(&str, &str, bool); 9] = [
    ("allocated_bytes", "Allocated memory", true),
    ("active_bytes", "Active memory", true),
    ("requested_bytes", "Requested memory", true),
    ("reserved_bytes", "GPU reserved memory", true),
    ("inactive_split_bytes", "Non-releasable memory", true),
    ("allocation", "Allocations", false),
    ("active", "Active allocs", false),
    ("segment", "GPU reserved segments", false),
    ("inactive_split", "Non-releasable allocs", false),
];
const OVERSIZE: [(&str, &str); 2] = [
    ("oversize_allocations", "Oversize allocations"),
    ("oversize_segments", "Oversize GPU segments"),
];
const COLUMNS: [&str; 4] = ["current", "peak", "allocated", "freed"];
const WIDTH: usize = 75;

/// The statistics of a device's allocator under PyTorch's names, such as
/// `allocated_bytes.all.peak`, in bytes or counts.
///
/// # Panics
/// With a `Misuse` for the CPU, whose memory has no such allocator.
#[track_caller]
pub fn memory_stats(device: Device) -> BTreeMap<String, u64> {
    let allocator = allocator(device);
    let mut stats = allocator.stats().named();
    stats.insert("max_split_size".to_string(), allocator.settings().max_split_size);
    stats
}

/// The same as a table, for people.
///
/// # Panics
/// As [`memory_stats`].
#[track_caller]
pub fn memory_summary(device: Device) -> String {
    let stats = memory_stats(device);
    let mut table = Table(String::new());
    let (ooms, retries) = (stats["num_ooms"], stats["num_alloc_retries"]);
    table.rule('=');
    table.line(&format!("{:17}Memory summary of device {device}", ""));
    table.rule('-');
    table
        .line(&format!("{:11}Out of memory: {ooms:<12} | {:7}alloc retries: {retries:<8}", "", ""));
    table.rule('=');
    table.line("        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  ");
    for (metric, name, bytes) in ROWS {
        table.rule('-');
        let all = cells(&stats, &format!("{metric}.all"));
        for (pool, name) in [
            ("all", name),
            ("large_pool", "      from large pool"),
            ("small_pool", "      from small pool"),
        ] {
            let these = cells(&stats, &format!("{metric}.{pool}"));
            table.row(name, these, all, if bytes { in_bytes } else { in_counts });
        }
    }
    for (metric, name) in OVERSIZE {
        table.rule('-');
        let these = cells(&stats, metric);
        table.row(name, these, these, in_counts);
    }
    table.rule('=');
    table.0
}

fn cells(stats: &BTreeMap<String, u64>, of: &str) -> [u64; 4] {
    COLUMNS.map(|column| stats[&format!("{of}.{column}")])
}

struct Table(String);

impl Table {
    fn line(&mut self, text: &str) {
        writeln!(self.0, "|{text:WIDTH$}|").expect("a String");
    }

    fn rule(&mut self, of: char) {
        self.line(&of.to_string().repeat(WIDTH));
    }

    /// A row in the units that suit the numbers of both pools.
    fn row(&mut self, name: &str, of: [u64; 4], all: [u64; 4], shown: fn(u64, u64) -> String) {
        let [a, b, c, d] = std::array::from_fn(|i| shown(of[i], all[i]));
        self.line(&format!(" {name:<21} | {a} | {b} | {c} | {d} "));
    }
}

fn in_bytes(bytes: u64, like: u64) -> String {
    let units = ["B  ", "KiB", "MiB", "GiB", "TiB", "PiB"];
    // Each unit up to 768 KiB of it, as PyTorch has it.
    let unit = (0..5).find(|&unit| (like >> (10 * unit)) < 768 * 1024).unwrap_or(5);
    format!("{:6} {}", bytes >> (10 * unit), units[unit])
}

fn in_counts(count: u64, like: u64) -> String {
    let units = [" ", "K", "M"];
    let unit = (0..2).find(|&unit| like / 1000_u64.pow(unit) < 750_000).unwrap_or(2);
    format!("{:7} {} ", count / 1000_u64.pow(unit), units[unit as usize])
}
