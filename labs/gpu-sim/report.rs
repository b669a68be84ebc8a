//! A run for a reader: what is wrong, what came out, what was counted.

use std::fmt::Write;

use engine_room_labs::{Cell, Table};
use engine_room_sim::exec::Finding;
use engine_room_sim::model::{Model, Occupancy};

use crate::argument::Buffer;
use crate::run::Run;
use crate::{json, listing};

/// Most elements of a buffer that are shown.
const SHOWN: usize = 256;
/// Elements in a line.
const IN_A_LINE: usize = 8;

/// Prints a run; of the buffers, those of the arguments in `shown`.
pub fn print(run: &Run, shown: &[usize]) {
    let mut text = heading(run);
    for finding in &run.report.findings {
        text += &paragraph(finding);
    }
    if !run.report.stdout.is_empty() {
        let _ = write!(text, "\nPrinted by the kernel:\n{}", run.report.stdout);
        text += if text.ends_with('\n') { "" } else { "\n" };
    }
    for k in shown {
        for (_, buffer) in run.buffers.iter().filter(|(number, _)| number == k) {
            text += &elements(*k, buffer);
        }
    }
    let mut table = Table::new().column("counter", "counter", "").column("count", "count", "");
    for (name, count) in json::named(&run.report.counters) {
        table.row([Cell::from(name), Cell::Count(count)]);
    }
    let lines = listing::text(&run.report.lines, run.program);
    let modelled = Cell::Seconds(run.report.modelled_ns as f64 * 1e-9).text();
    let host = Cell::Seconds(run.host_seconds).text();
    let gpu = run.gpu.name();
    let _ = write!(text, "\n{}{lines}", table.text());
    text += &parts(&run.report.model);
    let _ = writeln!(text, "\nModelled time on the {gpu}: {modelled}. Measured here: {host}.");
    engine_room_labs::print(&text);
}

/// What the modelled time comes from: how long each part of the GPU would be busy, and how full it
/// is.
fn parts(model: &Model) -> String {
    let Some((slowest, longest)) = model.parts.first() else { return String::new() };
    let mut table = Table::new()
        .column("part", "part", "")
        .column("busy", "busy (modelled)", "")
        .column("share", "of the slowest", "");
    for (part, ns) in &model.parts {
        let share = Cell::Share(ns / longest);
        table.row([Cell::from(part.name()), Cell::Seconds(ns * 1e-9), share]);
    }
    let Occupancy { blocks, warps, most_warps, limit, registers_known } = model.occupancy;
    let waves = match model.waves {
        1 => "1 wave".to_string(),
        count => format!("{count} waves"),
    };
    let registers = match registers_known {
        true => "",
        false => "; registers are not known (--registers) and set no limit",
    };
    format!(
        "\n{}\nBound by {}. Each multiprocessor has room for {blocks} blocks, {warps} of \
         {most_warps} warps, limited by {limit}{registers}: {waves} of blocks.\n",
        table.text(),
        slowest.name(),
    )
}

fn heading(run: &Run) -> String {
    let extent = |[x, y, z]: [u32; 3]| format!("{x} x {y} x {z}");
    let findings = match run.report.findings.len() {
        0 => "nothing wrong".to_string(),
        1 => "1 finding".to_string(),
        count => format!("{count} findings"),
    };
    format!(
        "{} on a simulated {}: {} blocks of {} threads: {findings}\n",
        run.kernel.function.name,
        run.gpu.name(),
        extent(run.launch.grid),
        extent(run.launch.block),
    )
}

fn paragraph(finding: &Finding) -> String {
    let vector = |[x, y, z]: [u32; 3]| format!("({x}, {y}, {z})");
    let place = match finding.places.first() {
        Some(place) => format!(" at {}", json::place(place)),
        None => String::new(),
    };
    let threads = match finding.threads {
        0 | 1 => String::new(),
        count => format!(", the first of {count}"),
    };
    let (block, thread) = (vector(finding.block), vector(finding.thread));
    format!(
        "\n{}{place}\n    block {block}, thread {thread}{threads}\n    {}\n",
        finding.kind,
        json::message(finding)
    )
}

/// The elements of a buffer, eight in a line after the number of the first.
fn elements(k: usize, buffer: &Buffer) -> String {
    let name = buffer.dtype.name();
    let mut text = format!("\nArgument {k}, {name}[{}]:\n", buffer.count);
    let bytes = buffer.bytes.as_deref().unwrap_or_default();
    let values: Vec<String> =
        bytes.chunks(buffer.dtype.bytes()).take(SHOWN).map(|x| buffer.dtype.text(x)).collect();
    for (line, values) in values.chunks(IN_A_LINE).enumerate() {
        let _ = writeln!(text, "{:>8}: {}", line * IN_A_LINE, values.join(" "));
    }
    if buffer.count > SHOWN {
        let _ = writeln!(text, "          and {} more (--out {k}=PATH)", buffer.count - SHOWN);
    }
    text
}
