//! The roofline as text.

use std::fmt;

use crate::profiler::roofline::{HELD, Roofline, RooflineRow, Source};
use crate::profiler::roofs::Roofs;
use crate::profiler::table::{share, time};

impl fmt::Display for Roofs {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: memory {}", self.name, rate(self.memory, "B/s"))?;
        if let Some(l2) = self.l2 {
            write!(f, ", L2 {}", rate(l2, "B/s"))?;
        }
        let flops = rate(self.flops, "FLOP/s");
        write!(f, ", f32 {flops} ({}); they meet at {:.1} FLOP/byte", self.source, self.ridge())
    }
}

const HEADINGS: [&str; 12] = [
    "Name",
    "Device",
    "Calls",
    "Time",
    "Time %",
    "Bytes",
    "FLOPs",
    "FLOP/byte",
    "FLOP/s",
    "Nearest roof",
    "Reached",
    "Bound by",
];

impl Roofline {
    /// The table, a row for each kernel, and below it what its words mean.
    pub fn table(&self) -> String {
        let all = self.rows.iter().map(|row| row.time_ns).sum();
        let mut lines = vec![HEADINGS.map(str::to_string)];
        lines.extend(self.rows.iter().map(|row| cells(row, all)));
        let width = |column: usize| {
            lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0)
        };
        let widths: [usize; HEADINGS.len()] = std::array::from_fn(width);
        let rule = widths.map(|width| "-".repeat(width)).join("  ");
        let mut out = format!("{}\n{rule}\n", self.roofs);
        for (i, line) in lines.iter().enumerate() {
            out += &format!("{}\n", joined(line, &widths));
            if i == 0 || i + 1 == lines.len() {
                out += &format!("{rule}\n");
            }
        }
        out + &self.notes()
    }

    fn notes(&self) -> String {
        let has = |source| self.rows.iter().any(|row| row.source == source);
        let mut out = format!("A roof binds a row that reaches {}% of it.", 100.0 * HELD);
        if !self.roofs.of_host {
            out += " Launches do if the host takes longer to launch a kernel than the kernel runs.";
        }
        out.push('\n');
        if has(Source::Formula) {
            out += "*: by formula, the least that the operation has to move and compute.\n";
        }
        if has(Source::Unknown) {
            out +=
                "?: of some of these calls neither bytes nor FLOPs are known; a view has none.\n";
        }
        if self.rows.iter().any(|row| row.flops > 0 && row.bytes == 0) {
            out += "inf: no byte of memory is known of, so that roof is not above it.\n";
        }
        if self.rows.iter().any(|row| row.nearest.is_some_and(|(_, share)| share > 1.0)) {
            out += "More than 100%: what it needed lay in a cache nearer than that roof.\n";
        }
        out += &match &self.modelled {
            Some(gpu) => format!("All times are modelled, from the published figures of {gpu}.\n"),
            None => "All times are measured.\n".to_string(),
        };
        out
    }
}

impl fmt::Display for Roofline {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.table())
    }
}

fn cells(row: &RooflineRow, all_ns: u64) -> [String; HEADINGS.len()] {
    let mark = match row.source {
        Source::Counted => "",
        Source::Formula => "*",
        Source::Unknown => "?",
    };
    let known = |number: u64, unit: &str| match number {
        0 => format!("--{mark}"),
        number => format!("{}{mark}", rate(number as f64, unit)),
    };
    let intensity = match row.intensity() {
        Some(intensity) => format!("{intensity:.3}"),
        None if row.flops > 0 => "inf".to_string(),
        None => "--".to_string(),
    };
    let (roof, reached) = match row.nearest {
        Some((roof, share)) => (roof.to_string(), format!("{:.1}%", 100.0 * share)),
        None => ("--".to_string(), "--".to_string()),
    };
    [
        row.name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect(),
        row.device.to_string(),
        row.calls.to_string(),
        time(row.time_ns as f64),
        share(row.time_ns, all_ns),
        known(row.bytes, "B"),
        known(row.flops, ""),
        intensity,
        if row.flops > 0 { rate(row.flops_per_s(), "") } else { "--".to_string() },
        roof,
        reached,
        row.bound.to_string(),
    ]
}

/// Names to the left, numbers to the right, no blanks at the end.
fn joined(cells: &[String; HEADINGS.len()], widths: &[usize; HEADINGS.len()]) -> String {
    let is_text = |column: usize| [0, 1, 9, 11].contains(&column);
    let cell = |column: usize| {
        let (cell, width) = (&cells[column], widths[column]);
        if is_text(column) { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
    };
    let line: Vec<String> = (0..cells.len()).map(cell).collect();
    line.join("  ").trim_end().to_string()
}

/// A number with four digits and the prefix that suits it: `1.270 TB/s`.
pub(super) fn rate(number: f64, unit: &str) -> String {
    let prefixes = [(1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "K")];
    match prefixes.iter().find(|(size, _)| number >= *size) {
        Some((size, prefix)) => {
            format!("{:.3} {prefix}{unit}", number / size).trim_end().to_string()
        }
        None => format!("{number:.0} {unit}").trim_end().to_string(),
    }
}
