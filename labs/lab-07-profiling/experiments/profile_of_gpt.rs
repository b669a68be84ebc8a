//! The profile of a GPT's training step: the table, and on request a trace and a flame graph.

use engine_room::profiler::{FlameTime, GroupBy, SortBy};
use engine_room::sim::Gpu;
use engine_room_labs::{Cell, LabArgs, Output, Table};

use super::network::seconds;
use super::roofline::step;

const BATCH: usize = 8;
const ROWS: usize = 12;

/// Prints the rows that take longest.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let profile = step(output, Gpu::T4, BATCH, args.seed)?;
    let averages = profile.key_averages(GroupBy::Name);
    output.say(&format!(
        "The {ROWS} dearest of {} rows of a GPT's training step on a T4, modelled:\n",
        averages.rows.len()
    ));
    let mut table = Table::new()
        .column("name", "Name", "")
        .column("self_cpu", "Self CPU", "")
        .column("cpu", "CPU total", "")
        .column("self_cuda", "Self CUDA", "")
        .column("cuda", "CUDA total", "")
        .column("calls", "# of Calls", "");
    for row in averages.sorted(SortBy::SelfDeviceTime).into_iter().take(ROWS) {
        let times = [
            row.self_cpu_time_total,
            row.cpu_time_total,
            row.self_device_time_total,
            row.device_time_total,
        ];
        let cells = times.map(|ns| Cell::Seconds(seconds(ns)));
        table.row(
            [row.key.as_str().into()].into_iter().chain(cells).chain([Cell::Count(row.count)]),
        );
    }
    output.table("rows", &table);
    let flame = profile.flame_graph(FlameTime::Device);
    output.figure(&flame.svg("A GPT's training step on a T4 (modelled)"))
}
