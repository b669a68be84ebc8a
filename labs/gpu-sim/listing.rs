//! What each line of the source did.

use std::collections::BTreeMap;
use std::path::Path;

use engine_room_labs::{Cell, Table};
use engine_room_sim::exec::{Line, Place};

/// Most characters of a line of the source that are shown.
const WIDTH: usize = 60;

/// The sums over the instructions of a line.
#[derive(Default)]
struct Sums {
    warps: u64,
    lanes: u64,
    divergent: u64,
    requests: u64,
    sectors: u64,
    conflicts: u64,
}

/// The lines that were executed, as a table for each source file. `program` is the file that was
/// run: a source lies beside it, or where it says.
pub fn text(lines: &[Line], program: &Path) -> String {
    let mut files: BTreeMap<&str, BTreeMap<u32, Sums>> = BTreeMap::new();
    for line in lines.iter().filter(|line| line.executed.warps > 0) {
        let Some(place) = line.places.first() else { continue };
        let Place { file, line: number } = place;
        let sums = files.entry(file.as_str()).or_default().entry(*number).or_default();
        sums.warps += line.executed.warps;
        sums.lanes += line.executed.lanes;
        sums.divergent += line.executed.divergent;
        sums.requests += line.traffic.global;
        sums.sectors += line.traffic.sectors;
        sums.conflicts += line.traffic.conflicts;
    }
    let table = |(file, lines): (&&str, &BTreeMap<u32, Sums>)| {
        format!("\n{file}\n{}", table(lines, &source(file, program)).text())
    };
    files.iter().map(table).collect()
}

fn table(lines: &BTreeMap<u32, Sums>, source: &[String]) -> Table {
    let mut table = Table::new()
        .column("line", "line", "")
        .column("warps", "warp instr.", "")
        .column("lanes", "lane instr.", "")
        .column("divergent", "divergent", "")
        .column("requests", "requests", "")
        .column("sectors", "sectors", "")
        .column("conflicts", "conflicts", "")
        .column("source", "source", "");
    for (number, sums) in lines {
        let text = source.get((*number as usize).wrapping_sub(1));
        table.row([
            Cell::Text(number.to_string()),
            Cell::Count(sums.warps),
            Cell::Count(sums.lanes),
            count(sums.divergent),
            count(sums.requests),
            count(sums.sectors),
            count(sums.conflicts),
            Cell::Text(text.cloned().unwrap_or_default()),
        ]);
    }
    table
}

/// Zeros are shown as a dash: most lines have most of them.
fn count(count: u64) -> Cell {
    if count == 0 { Cell::Missing } else { Cell::Count(count) }
}

/// The lines of a source file, cut to a width; none if it is not there.
fn source(file: &str, program: &Path) -> Vec<String> {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let beside = program.parent().map(|folder| folder.join(name));
    let places = [Some(file.into()), beside];
    let text = places.into_iter().flatten().find_map(|path| std::fs::read_to_string(path).ok());
    let cut = |line: &str| line.replace('\t', "    ").chars().take(WIDTH).collect();
    text.unwrap_or_default().lines().map(cut).collect()
}
